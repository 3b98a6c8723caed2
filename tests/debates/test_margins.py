"""How sure a model was of its label, from the endpoint to the order in which people are asked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from apps.debates.models import Run, Turn
from apps.debates.selectors import DebateFilter, comparable_debates
from apps.debates.services import run_slice
from apps.debates.services.routing import change_routing_rule
from apps.labels.models import ItemState
from apps.projects.models import Item, Project
from labelhub.core.debate.routing import Rule
from tests.factories.accounts import UserFactory
from tests.factories.debates import QUICK, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer
from tests.fakes.token_choices import Piece, answer_in_tokens

pytestmark = pytest.mark.django_db(transaction=True)

#: Text → the probability of "good" where the label stands; None: the endpoint tells none there.
SURENESS: Mapping[str, float | None] = {
    "quite sure": 0.9, "hardly": 0.55, "no telling": None, "certain": 0.99, "somewhat": 0.7,
}  # fmt: skip
BY_MARGIN = ["hardly", "somewhat", "no telling", "quite sure", "certain"]


def say_good(body: dict[str, Any]) -> tuple[int, Any]:
    """Answers "good" to every text, in the form asked for, as surely as the text says."""
    asked = body["messages"][-1]["content"]
    share = next(share for text, share in SURENESS.items() if f"\n{text}\n" in asked)
    top = {} if share is None else {"good": share, "Bad": 1 - share}
    label: Piece = ("good", top) if top else "good"
    before = 'Because.\n{"label": "' if "response_format" in body else "Because.\nFinal Decision: "
    after = '"}' if "response_format" in body else ""
    pieces: list[Piece] = [before, label, after] if after else [before, label]
    status, answer, _ = answer_in_tokens(body, pieces)
    return status, answer


def played(server: FakeServer, name: str, rule: Rule | None = None, **settings: Any) -> Run:
    server.answer_with(say_good)
    model = ModelSpecFactory.create(provider__base_url=server.base_url)
    project = project_with_items(0)
    change_routing_rule(project=project, actor=None, rule=rule or Rule(audit=0.0))
    for text in SURENESS:
        queued_items(project, 1, text=text)
    run = started_run(project, name, model=model, settings=settings)
    run_slice(run.pk, pace=replace(QUICK, width=5))
    run.refresh_from_db()
    assert (run.status, run.message) == (Run.Status.DONE, "5 of 5 labelled.")
    return run


def texts(run: Run, **filters: Any) -> list[str]:
    debates = comparable_debates(run, UserFactory.create(is_superuser=True))
    return [debate.item.text for debate in DebateFilter(filters, debates).qs]


def in_queue(project: Project) -> list[str]:
    waiting = ItemState.objects.awaiting_review().filter(project=project)
    return [Item.objects.get(pk=pk).text for pk in waiting.values_list("item", flat=True)]


@pytest.mark.parametrize("protocol", ["single", "cot"])
def test_people_are_asked_first_what_the_model_was_least_sure_of(
    model_server: FakeServer, protocol: str
) -> None:
    run = played(model_server, protocol)
    margins = {
        debate.item.text: (debate.signals["margin"], debate.uncertainty)
        for debate in run.debates.select_related("item")
    }
    assert margins == {
        "hardly": (pytest.approx(0.1), pytest.approx(0.9)),
        "somewhat": (pytest.approx(0.4), pytest.approx(0.6)),
        "no telling": (None, None),
        "quite sure": (pytest.approx(0.8), pytest.approx(0.2)),
        "certain": (pytest.approx(0.98), pytest.approx(0.02)),
    }
    untold = run.debates.get(item__text="no telling")
    assert untold.signals["margin_unknown"] == "no_probabilities"
    assert in_queue(run.project) == BY_MARGIN
    assert texts(run, sort="-uncertainty") == BY_MARGIN
    assert texts(run, sort="uncertainty") == BY_MARGIN[::-1]


def test_a_cascade_goes_on_where_the_margin_is_small_or_unknown(model_server: FakeServer) -> None:
    run = played(model_server, "cascade", first="single", then="ecj", margin=0.5)
    again = run.debates.filter(signals__stage="then").select_related("item")
    assert {debate.item.text for debate in again} == {"hardly", "somewhat", "no telling"}
    assert Turn.objects.count() == 5 + 3 * 3
