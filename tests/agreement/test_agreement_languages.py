"""The agreement page in other languages: what is stored, and what programs read, stays English."""

import pytest
from django.utils.translation import override

from apps.agreement.models import StoredReport
from apps.agreement.report.services import agreement_report
from apps.agreement.report.truths import doubts, interval_methods
from apps.common.methods import TEMPLATES, method_words, patterns
from labelhub.core.agreement import (
    arms,
    estimation,
    figures,
    risk_control,
    significance,
    with_others,
)
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.reports import (
    kind_agreement,
    kind_tests,
    pair_agreement,
    reasons,
    replacement,
)
from labelhub.core.agreement.reports import texts as texts_report
from labelhub.core.learning import quality
from tests.agreement.page_help import moods, page
from tests.cases import all_cases

SEED = {"seed": 7, "draws": 1000, "unit": "users", "labels": 50, "pairs": 900, "interval": "Wilson"}
WRITTEN_BY_CORE = [
    BOOTSTRAP,
    arms.FLIPPED,
    risk_control.POWERED,
    risk_control.LABELS,
    risk_control.FEW_WORDS,
    significance.MEDIAN,
    with_others.PERCENT,
    with_others.KAPPA,
    quality.WILSON,
    quality.BOOTSTRAP,
    quality.STUDENT,
    figures.CLUSTERED,
    figures.BY_AUTHOR,
    estimation.LINEARISED,
    estimation.CLUSTERED,
    BOOTSTRAP + estimation.TOO_LARGE,
    BOOTSTRAP + estimation.MOVED,
    pair_agreement.LARGE_SAMPLE,
    kind_agreement.SHROUT_FLEISS,
    texts_report.AT_MOST,
    texts_report.SAMPLED,
    significance.EXACT,
    significance.FLIPPED + significance.EXACTLY,
    f"{kind_tests.COCHRAN} by {significance.SHUFFLED}{significance.DRAWN}; {kind_tests.TIES}",
    estimation.FEW_WORDS,
    estimation.FEW_ITEMS,
    estimation.FEW_CLUSTERS,
    replacement.FEW_TESTED_WORDS,
    reasons.CLUSTERS_IGNORED,
]


def is_known(part: str) -> bool:
    """Whether a part of a method or doubt is among what can be translated."""
    code, _, words = part.partition(": ")
    text, _, note = (part if " " in code else words or part).partition(" (")
    if f"({note}" not in TEMPLATES:
        text = part if " " in code else words or part
    return text == "Wilson" or any(pattern.fullmatch(text) for _, pattern in patterns())


@all_cases("written", WRITTEN_BY_CORE)
def test_what_the_core_says_of_a_method_can_be_translated(written: str) -> None:
    method = written.format(**SEED)
    assert method_words(method) == method
    assert [part for part in method.split("; ") if not is_known(part)] == []


@pytest.mark.django_db
def test_a_stored_report_is_english_whoever_asked_for_it() -> None:
    project = moods()
    english = dict(agreement_report(project))
    StoredReport.objects.all().delete()
    with override("de"):
        assert dict(agreement_report(project)) == english


@pytest.mark.django_db
def test_every_method_of_a_report_can_be_translated() -> None:
    report = agreement_report(moods())
    parts = "; ".join([*interval_methods(report), *doubts(report)]).split("; ")
    assert [part for part in parts if not is_known(part)] == []


@pytest.mark.django_db
def test_data_of_a_picture_are_english() -> None:
    project = moods()
    with override("de"):
        rows = page(project, "figures/accuracy.csv").content.decode()
    assert rows.splitlines()[0].startswith("source,kind,measure,value,low,high,n,method")
    assert "Crowd,crowd,single labels," in rows
