"""Precedents in a run: found among what people verified, their reasons asked for once."""

from decimal import Decimal

import pytest

from apps.debates.models import Run, Turn
from apps.debates.services import run_slice
from apps.labels.models import Gold
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.llm.types import Call
from tests.factories.debates import QUICK, Script, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.fakes.fast_endpoint import FastEndpoint

pytestmark = pytest.mark.django_db(transaction=True)


def verified(project: Project, text: str, label: str) -> None:
    (item,) = queued_items(project, 1, text=text)
    schema = current_schema(project)
    Gold.objects.create(item=item, schema=schema, value=label, basis=Gold.Basis.IMPORTED)


def answer(call: Call) -> str:
    if call.role == "reporter":
        return f"REASON OF {call.inputs['example'][:9]}"
    return "First choice: good\nSecond choice: bad\nFinal Decision: good"


@pytest.fixture
def tried() -> tuple[Run, Script]:
    project = project_with_items(0)
    verified(project, "The soup was warm and good.", "good")
    verified(project, "The bread was hard and bad.", "bad")
    for number in range(4):
        queued_items(project, 1, text=f"The soup number {number} was fine.")
    run = started_run(
        project,
        "courtroom",
        model=ModelSpecFactory.create(),
        settings={"precedents": 1},
        item_ids=list(project.items.filter(golds=None).values_list("pk", flat=True)),
    )
    script = Script(answer, seconds=0.01)
    run_slice(run.pk, pace=QUICK, open_models=script.open)
    run.refresh_from_db()
    return run, script


def test_each_judge_reads_the_nearest_example_of_each_label_with_its_reason(
    tried: tuple[Run, Script],
) -> None:
    run, script = tried
    assert (run.status, run.message) == (Run.Status.DONE, "4 of 4 labelled.")
    judges = [call for call in script.calls if call.role == "judge"]
    assert len(judges) == 4 * 3
    for call in judges:
        words = call.messages[1].content
        assert words.index("The soup was warm") < words.index("The bread was hard")
        assert "REASON OF The soup" in words


@pytest.mark.thorough
def test_a_reason_is_asked_for_once_however_many_items_use_it(tried: tuple[Run, Script]) -> None:
    run, script = tried
    assert sum(call.role == "reporter" for call in script.calls) == 2
    turns = Turn.objects.filter(debate__run=run, role="reporter")
    assert (turns.count(), turns.filter(reused=True, cost_nanousd=0).count()) == (8, 6)


@pytest.mark.thorough
def test_vectors_are_booked_also_where_no_call_was_ever_made() -> None:
    """The budget holds the vectors and nothing else: the run pauses before its first turn."""
    project = project_with_items(40)
    for number in range(20):
        verified(project, f"The soup number {number} was good.", "good")
    with FastEndpoint() as endpoint:
        model = ModelSpecFactory.create(provider__base_url=endpoint.base_url)
        ModelSpecFactory.create(provider=model.provider, purpose="embedding", price_in=Decimal(1))
        run = started_run(
            project,
            "courtroom",
            model=model,
            settings={"precedents": 1},
            budget_nanousd=20_000_000,
            params={"clerk": {"max_tokens": 1_000_000}},
        )
        run_slice(run.pk, pace=QUICK)
        seen = endpoint.stats()
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "budget")
    assert not Turn.objects.exists()
    assert seen["embeddings"] >= 20
    assert run.cost_nanousd == run.other_cost_nanousd > 1000 * seen["embeddings"]


@pytest.mark.thorough
def test_a_later_run_takes_the_reasons_even_where_it_takes_nothing_else(
    tried: tuple[Run, Script],
) -> None:
    run, _ = tried
    script = Script(answer)
    again = started_run(
        run.project,
        "courtroom",
        model=run.roles.first().model,  # type: ignore[union-attr]  # it has roles
        settings={"precedents": 1},
        limit=3,
        reuse_answers=False,
    )
    run_slice(again.pk, pace=QUICK, open_models=script.open)
    assert {call.role for call in script.calls} == {"clerk", "prosecutor", "defence", "judge"}
