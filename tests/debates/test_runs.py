"""Starting and steering runs."""

import pytest

from apps.debates.models import Debate, Run
from apps.debates.services import (
    RunPlan,
    cancel_run,
    pause_run,
    preview,
    resume_run,
    set_budget,
    start_run,
    unfinished_runs,
)
from apps.projects.services import set_schema
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.schema import parse_schema, schema_from_names
from tests.factories.debates import plan_for, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def test_a_run_keeps_schema_prompts_and_models_as_they_were() -> None:
    project = project_with_items(3)
    run = started_run(project, "ecj")
    set_schema(
        project=project, schema=schema_from_names("single", ["good", "bad", "odd"]), actor=None
    )

    assert run.schema.version == 1
    assert [role.role for role in run.roles.all()] == ["extractor", "critic", "judge"]
    assert all(role.prompt.body.startswith("---") for role in run.roles.select_related("prompt"))
    assert list(run.debates.values_list("status", flat=True)) == ["waiting"] * 3
    other = started_run(project, "ecj")
    assert other.spec_hash != run.spec_hash
    assert other.spec_hash == started_run(project, "ecj", limit=1).spec_hash
    painted = [{"name": "good", "color": "pink"}, "bad", "odd"]
    recolored = parse_schema({"task": "single", "labels": painted})
    assert set_schema(project=project, schema=recolored, actor=None).version == 2
    assert other.spec_hash == started_run(project, "ecj").spec_hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protocol": "oracle"}, "'oracle' is unknown; it must be one of single, cot"),
        ({"models": {}}, "the role 'annotator' of 'single' has none"),
        ({"replicates": 0}, "replicates: must be between 1 and 20"),
        ({"limit": 0}, "limit: must be at least 1"),
        ({"item_ids": [0]}, "No item matches"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_in_words(
    change: dict[str, object], words: str
) -> None:
    project = project_with_items(1)
    whole = {"protocol": "single", "models": plan_for().models} | change
    with pytest.raises(InvalidInput, match=words):
        start_run(project=project, actor=None, plan=RunPlan(**whole))  # type: ignore[arg-type]
    assert not Run.objects.exists()


def test_starting_a_large_run_takes_a_handful_of_statements(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    project = project_with_items(1)
    queued_items(project, 500)
    plan = plan_for("ecj")
    with django_assert_max_num_queries(30):
        run = start_run(project=project, actor=None, plan=plan)
    assert run.debates.count() == 501


def test_pausing_resuming_and_cancelling_follow_one_another() -> None:
    run = started_run(project_with_items(1))
    pause_run(run=run)
    assert run.status == Run.Status.PAUSED
    with pytest.raises(Conflict, match="is paused and cannot be paused"):
        pause_run(run=run)
    resume_run(run=run)
    assert run.status == Run.Status.QUEUED
    cancel_run(run=run)
    assert run.status == Run.Status.CANCELLED
    with pytest.raises(Conflict, match="is cancelled and cannot be resumed"):
        resume_run(run=run)


def test_a_resume_that_is_refused_leaves_failed_debates_alone() -> None:
    run = started_run(project_with_items(1))
    cancel_run(run=run)
    Debate.objects.update(status=Debate.Status.FAILED)
    with pytest.raises(Conflict):
        resume_run(run=run)
    assert Debate.objects.get().status == Debate.Status.FAILED


def test_the_preview_counts_calls_and_prices_them() -> None:
    project = project_with_items(30)
    estimate = preview(project=project, plan=plan_for("ecj", ModelSpecFactory.create()))
    assert (estimate.items, estimate.calls, estimate.samples) == (30, 90, 20)
    assert estimate.tokens_in > 30 * 3 * 100
    assert estimate.cost_nanousd
    assert estimate.worst_nanousd
    assert estimate.cost_nanousd < estimate.worst_nanousd
    assert not estimate.offline


def test_a_budget_below_the_worst_case_is_taken_and_kept() -> None:
    """It is for the run to stop in time, and for the person to say how much they would pay."""
    run = started_run(project_with_items(50), model=ModelSpecFactory.create(), budget_nanousd=1000)
    assert run.budget_nanousd == 1000


def test_the_budget_of_a_run_can_be_raised_but_not_below_what_is_spent() -> None:
    run = started_run(project_with_items(1), model=ModelSpecFactory.create(), budget_nanousd=1000)
    Run.objects.update(cost_nanousd=900)
    run.refresh_from_db()
    set_budget(run=run, budget_nanousd=5000)
    assert Run.objects.get().budget_nanousd == 5000
    with pytest.raises(InvalidInput, match="is spent already"):
        set_budget(run=run, budget_nanousd=100)
    cancel_run(run=run)
    with pytest.raises(Conflict):
        set_budget(run=run, budget_nanousd=None)


def test_a_paused_run_goes_on_when_its_time_has_come() -> None:
    run = started_run(project_with_items(1))
    Run.objects.update(status=Run.Status.PAUSED, pause_code="quota", resume_at=run.created_at)
    assert unfinished_runs() == [run.pk]
    run.refresh_from_db()
    assert (run.status, run.pause_code, run.resume_at) == (Run.Status.QUEUED, "", None)


def test_the_worst_case_reckons_with_the_cap_that_is_asked_for() -> None:
    project, model = project_with_items(1), ModelSpecFactory.create()
    plain = preview(project=project, plan=plan_for("single", model))
    params = {"annotator": {"max_tokens": 100 * model.max_output_tokens}}
    long = preview(project=project, plan=plan_for("single", model, params=params))
    assert plain.worst_nanousd is not None
    assert long.worst_nanousd is not None
    assert long.worst_nanousd > 10 * plain.worst_nanousd


def test_who_resumes_a_run_begins_attempts_anew() -> None:
    """Four of five were made at an endpoint that has been mended since."""
    run, other = started_run(project_with_items(2)), started_run(project_with_items(1))
    tries = {"annotator": [{"http_status": 0, "seconds": 120.0, "note": "timed out"}] * 4}
    Debate.objects.update(failed_tries=tries)
    pause_run(run=run)
    resume_run(run=run)
    assert [debate.failed_tries for debate in run.debates.all()] == [{}, {}]
    assert other.debates.get().failed_tries == tries


def test_a_project_without_items_has_nothing_to_run() -> None:
    with pytest.raises(InvalidInput, match="has no items yet"):
        started_run(ProjectFactory.create())
