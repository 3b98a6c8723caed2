"""What the agreement page and the words of its command tell, number by number."""

import re
from io import StringIO

import pytest
from django.core.management import call_command

from apps.agreement.report.services import agreement_report
from apps.agreement.report.tables import compared_kinds, confidence_rows, p_words, points
from apps.labels.services import import_labels
from apps.projects.models import Project
from tests.agreement.page_help import TRUE, moods, page, wrong_every
from tests.agreement.report_help import six_moods
from tests.cases import all_cases
from tests.factories.labels import draft
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    return moods()


def seen(project: Project, address: str = "", **query: str) -> str:
    """The page as one line of words, without its markup."""
    html = page(project, address, **query).content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def said(project: Project, *options: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("agreement", project.slug, *options, stdout=out)
    return out.getvalue()


def test_who_is_right_more_often_than_whom_is_a_table(project: Project) -> None:
    report = agreement_report(project)
    pairs = {
        frozenset((pair["a"], pair["b"])): pair for pair in report["comparisons"]["author"]["pairs"]
    }
    comparison = pairs[frozenset(("llm", "expert"))]
    only = {comparison["a"]: comparison["only_a"], comparison["b"]: comparison["only_b"]}

    found = compared_kinds(report)[0]
    row = next(pair for pair in found.pairs if {pair.better, pair.worse} == {"llm", "expert"})
    assert (row.better, row.only_better, row.only_worse) == ("expert", only["expert"], only["llm"])
    assert row.words == "Expert more often than LLM"
    assert row.difference.startswith("+")
    words = seen(project, "details/tests/")
    for part in ("Differences in accuracy", row.words, row.difference, "Significant"):
        assert part in words
    for method in (report["comparisons"]["author"]["method"], comparison["method"]):
        assert method.replace("'", "&#x27;") in words
    assert f"Q {report['comparisons']['author']['cochran_q']:.2f}" in words


def test_a_kind_that_decided_gold_itself_is_not_independent_in_comparisons() -> None:
    made = six_moods()
    report = dict(agreement_report(made))
    expert = {**report["against_gold"]["expert"], "own_decisions": 6}
    report["against_gold"] = {**report["against_gold"], "expert": expert}

    by_gold = next(compared for compared in compared_kinds(report) if compared.truth.by == "gold")
    own = {frozenset((pair.better, pair.worse)): list(pair.own) for pair in by_gold.pairs}
    assert own[frozenset(("crowd", "expert"))] == ["expert"]
    assert own[frozenset(("crowd", "llm"))] == []


@all_cases(
    ("p", "words"),
    [(None, "–"), (0.0004, "< 0.001"), (0.0479, "0.048"), (0.0496, "0.050"), (0.347, "0.35")],
)
def test_p_values_keep_what_decides(p: float | None, words: str) -> None:
    assert p_words(p) == words


def test_a_difference_is_in_points_whichever_way_it_is_told() -> None:
    difference = {"value": -0.13, "low": -0.26, "high": -0.004}

    assert points(difference) == "−13 (−26 to 0)"
    assert points(difference, turned=True) == "+13 (0 to +26)"
    assert points({"value": 0.1, "low": None, "high": None}) == "+10"
    assert points({"value": None}) == "–"


def test_how_sure_a_machine_is_stands_beside_how_often_it_is_right() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    items, annotators = ledger(made, {"llm:m": [None] * 40, "author:w": TRUE})
    values = wrong_every(4)
    import_labels(
        made,
        [
            draft(item, annotators["llm:m"], value, confidence=0.9 if number < 20 else 0.7)
            for number, (item, value) in enumerate(zip(items, values, strict=True))
        ],
    )

    (found,) = confidence_rows(agreement_report(made))
    # Right on 30 of 40; 15 of 20 in each half: |0.9 − 0.75| and |0.7 − 0.75|, each for a half.
    assert [found[name] for name in ("n", "sure", "right", "error")] == [
        40, "80\xa0%", "75\xa0%", "10",
    ]  # fmt: skip
    # (15·0.01 + 5·0.81 + 15·0.09 + 5·0.49) / 40
    assert found["brier"] == "0.20"
    words = seen(made, "details/tests/")
    assert "Are the machines as accurate as they are confident?" in words
    assert "expected calibration error" in words
    assert "ECE 10 points, Brier 0.20, n 40" in said(made)
