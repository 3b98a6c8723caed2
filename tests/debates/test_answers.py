"""Equal calls: answered once, whoever asks first; replicates and samples are never equal."""

from typing import Any

import pytest

from apps.debates.models import Run, Turn
from apps.debates.services import run_slice
from apps.debates.services.driving.call_executor import _reuse_key
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call
from tests.factories.debates import QUICK, Script, plan_for, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.llm.asking_helpers import make_call, make_spec

pytestmark = pytest.mark.django_db(transaction=True)


def drive(run: Run, script: Script) -> Run:
    run_slice(run.pk, pace=QUICK, open_models=script.open)
    run.refresh_from_db()
    return run


def test_the_same_text_is_asked_about_once() -> None:
    project = project_with_items(0)
    queued_items(project, 6, text="Word for word the same.")
    run = started_run(project, model=ModelSpecFactory.create())
    script = Script(seconds=0.05)
    drive(run, script)
    assert (len(script.calls), run.status) == (1, Run.Status.DONE)
    turns = Turn.objects.filter(debate__run=run)
    assert turns.count() == 6
    assert sorted(turns.values_list("reused", "cost_nanousd")) == [
        (False, 27_000),
        *[(True, 0)] * 5,
    ]
    assert run.cost_nanousd == 27_000
    assert run.debates.filter(status="done").count() == 6


def test_a_later_run_takes_the_answers_of_an_earlier_one() -> None:
    project, model = project_with_items(3), ModelSpecFactory.create()
    drive(started_run(project, model=model), Script())
    again, script = started_run(project, model=model), Script("Final Decision: bad")
    drive(again, script)
    assert script.calls == []
    assert (again.status, again.cost_nanousd, again.turns_count) == (Run.Status.DONE, 0, 3)
    assert set(again.debates.values_list("value", flat=True)) == {"good"}


def test_answers_are_not_taken_where_that_is_not_wanted() -> None:
    project, model = project_with_items(3), ModelSpecFactory.create()
    drive(started_run(project, model=model), Script())
    script = Script()
    drive(started_run(project, model=model, reuse_answers=False), script)
    assert len(script.calls) == 3


def test_another_model_of_the_same_name_has_answers_of_its_own() -> None:
    project = project_with_items(2)
    drive(started_run(project, model=ModelSpecFactory.create(name="same")), Script())
    script = Script()
    drive(started_run(project, model=ModelSpecFactory.create(name="same")), script)
    assert len(script.calls) == 2


def test_an_answer_of_another_project_is_not_taken() -> None:
    model = ModelSpecFactory.create()
    for _ in range(2):
        project = project_with_items(0)
        queued_items(project, 1, text="The same in both projects.")
        script = Script()
        drive(started_run(project, model=model), script)
        assert len(script.calls) == 1


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({"extra_body": {"top_k": 1}}, {"extra_body": {"top_k": 2}}),
        ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
        ({"max_output_tokens": 10}, {"max_output_tokens": 20}),
    ],
)
def test_what_is_set_about_a_model_is_part_of_the_call(
    first: dict[str, Any], other: dict[str, Any]
) -> None:
    call = make_call(temperature=0)
    assert len({_reuse_key(make_spec(**changes), call, 1) for changes in (first, other)}) == 2


def test_whoever_waits_for_a_call_that_fails_fails_with_it() -> None:
    project = project_with_items(0)
    queued_items(project, 3, text="Word for word the same.")
    run = started_run(project, model=ModelSpecFactory.create())

    def refuse(_: Call) -> ModelError:
        paid = {"usage": {"tokens_in": 100, "tokens_out": 20}}
        return ModelError("No usable answer.", data=paid)

    script = Script(refuse, seconds=0.05)
    drive(run, script)
    assert len(script.calls) == 1
    assert run.debates.filter(status="failed").count() == 3
    assert run.cost_nanousd == 27_000  # what it cost was paid once
    assert plan_for("single").reuse_answers
