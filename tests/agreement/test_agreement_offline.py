"""The offline text matcher is no LLM: beside one it counts as a model, and makes no LLM cheap."""

from collections import defaultdict

import pytest

from apps.agreement.report.services import agreement_report
from apps.debates.models import Run
from apps.labels.services import annotator_for
from apps.projects.models import Project
from tests.agreement.report_help import B, G
from tests.factories.debates import finished_debate, started_run
from tests.factories.labels import queued_items
from tests.factories.ledger import ledger
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import MOODS, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    annotator_for(made, kind="llm", name="matcher", offline=True)
    return made


def test_alone_it_stands_where_llms_stand_and_is_named(project: Project) -> None:
    ledger(project, {"llm:matcher": [G, B], "crowd:ann": [G, G]})

    report = agreement_report(project)

    assert report["sources"]["llm"]["labels"] == 2
    assert report["offline"] == {"llm": ["matcher"]}


def test_beside_an_llm_what_it_says_is_not_said_by_llms(project: Project) -> None:
    ledger(project, {"llm:matcher": [B, B], "llm:gpt": [G, G], "crowd:ann": [G, G]})

    report = agreement_report(project)

    assert report["sources"]["llm"]["labels"] == report["sources"]["model"]["labels"] == 2
    assert report["offline"] == {"model": ["matcher"]}
    shared = {(pair["a"], pair["b"]): pair["percent"]["value"] for pair in report["between"]}
    assert shared["llm", "crowd"] == 1
    assert shared["crowd", "model"] == 0


def test_its_labels_do_not_make_those_of_llms_cheap(project: Project) -> None:
    queued_items(project, 1)
    for model, paid in ((None, 0), (ModelSpecFactory.create(), 2_000_000_000)):
        run = started_run(project, model=model)
        finished_debate(run, defaultdict(lambda: G))
        Run.objects.filter(pk=run.pk).update(cost_nanousd=paid)

    cost = agreement_report(project)["cost"]["llm"]["per_label"]

    assert (cost["value"], cost["n"]) == (2.0, 1)
