"""The command that labels a project."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.debates.models import Debate, Run
from apps.debates.services import resume_run
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.llm.errors import WrongKey
from tests.factories.accounts import UserFactory
from tests.factories.debates import project_with_items
from tests.factories.labels import draft, person, queued_items
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test database is there already."""
    monkeypatch.setattr("apps.common.commands.prepare_database", lambda: None)


def call(*args: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("preannotate", *args, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_with_wait_it_returns_when_all_is_labelled() -> None:
    project = project_with_items(4)
    result = call(project.slug, "--protocol", "ecj", "--limit", "3", "--wait")

    assert result["status"] == "done"
    assert (result["items"], result["labelled"], result["turns"]) == (3, 3, 9)
    assert (result["cost_usd"], result["offline"]) == (0, True)
    assert result["run"] == Run.objects.get().pk
    assert result["message"] == "3 of 3 labelled."


def test_a_dry_run_says_what_it_would_take_and_writes_nothing() -> None:
    project = project_with_items(2)
    model = ModelSpecFactory.create()
    result = call(project.slug, "--protocol", "ecj", "--model", model.name, "--dry-run")
    assert (result["items"], result["calls"]) == (2, 6)
    assert 0 < result["cost_usd"] < result["worst_usd"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nothing", "--protocol", "ecj"], "no project 'nothing'"),
        (["SLUG", "--protocol", "oracle"], "'oracle' is unknown"),
        (["SLUG", "--protocol", "ecj", "--model", "king=offline"], "no role 'king'"),
        (["SLUG", "--protocol", "ecj", "--model", "nobody"], "No model 'nobody'"),
        (["SLUG", "--protocol", "ecj", "--budget", "lots"], "'lots' is not an amount"),
        (["SLUG", "--protocol", "ecj", "--budget", "1e400"], "'1e400' is not an amount"),
        (["SLUG", "--protocol", "ecj", "--budget", "nan"], "'nan' is not an amount"),
        (["SLUG", "--protocol", "ecj", "--limit", "0"], "limit: must be at least 1"),
    ],
)
def test_bad_input_ends_in_one_clear_line(args: list[str], words: str) -> None:
    project = project_with_items(1)
    given = [project.slug if arg == "SLUG" else arg for arg in args]
    with pytest.raises(CommandError, match=words):
        call(*given)


def test_a_run_that_pauses_ends_the_command_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LABELHUB_LLM_TEST_KEY", raising=False)
    project = project_with_items(1)
    model = ModelSpecFactory.create(provider__api_key_env="LABELHUB_LLM_TEST_KEY")
    with pytest.raises(CommandError, match="is paused: No key for provider"):
        call(project.slug, "--protocol", "single", "--model", model.name, "--wait")
    assert Run.objects.get().pause_code == WrongKey.code


def interrupted(project: Project, *args: str) -> Run:
    """What a killed command leaves behind: nobody drives its run, whose first debate failed."""
    call(project.slug, "--protocol", "single", *args)
    run = Run.objects.get()
    Debate.objects.filter(run=run, item=project.items.all()[0]).update(status=Debate.Status.FAILED)
    Run.objects.update(status=Run.Status.RUNNING)
    return run


def paused(project: Project, code: str, *args: str) -> Run:
    run = interrupted(project, *args)
    Run.objects.update(status=Run.Status.PAUSED, pause_code=code, message="Why.")
    return run


def again(project: Project, *args: str) -> dict[str, Any]:
    return call(project.slug, "--protocol", "single", "--wait", *args)


def test_called_again_it_goes_on_with_the_run_that_was_interrupted() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    result = again(project)
    assert (result["run"], result["status"], result["continued"]) == (run.pk, "done", True)
    assert Run.objects.count() == 1


def test_a_paused_run_of_the_same_plan_is_resumed_and_its_failures_are_tried_again() -> None:
    project = project_with_items(3)
    run = paused(project, "too_many_failures")
    result = again(project)
    assert (result["run"], result["labelled"], result["failed"]) == (run.pk, 3, 0)


def test_what_somebody_paused_by_hand_stays_paused() -> None:
    project = project_with_items(3)
    run = paused(project, "user")
    with pytest.raises(CommandError, match=f"Run {run.pk} of the same plan was paused by a person"):
        again(project)
    assert list(Run.objects.values_list("status", flat=True)) == ["paused"]


def test_a_worker_that_is_quicker_to_resume_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_with_items(3)
    run = paused(project, "quota_exhausted")

    def late(*, run: Run) -> Run:
        Run.objects.update(status=Run.Status.QUEUED)
        return resume_run(run=run)

    monkeypatch.setattr("apps.debates.services.runs.resume_run", late)
    assert again(project)["run"] == run.pk


def test_the_first_so_many_without_a_label_are_the_same_though_some_have_one_by_now() -> None:
    project = project_with_items(4)
    args = ("--only-unlabelled", "--limit", "2")
    run = interrupted(project, *args)
    for item in project.items.all()[:2]:
        record_label(draft(item, person(project), "good"))
    result = again(project, *args)
    assert (result["run"], result["items"]) == (run.pk, 2)


def test_a_budget_may_be_raised_and_is_then_that_of_the_run() -> None:
    project = project_with_items(3)
    run = paused(project, "budget", "--budget", "1")
    assert again(project, "--budget", "2.5")["run"] == run.pk
    run.refresh_from_db()
    assert run.budget_nanousd == 2_500_000_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    "other",
    [["--new"], ["--limit", "2"], ["--only-unlabelled"], ["--replicates", "2"], ["--fresh"]],
)
def test_another_plan_or_an_explicit_wish_starts_another_run(other: list[str]) -> None:
    project = project_with_items(3)
    run = interrupted(project)
    result = again(project, *other)
    assert (result["run"] == run.pk, result["continued"]) == (False, False)


def test_other_items_by_now_start_another_run() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    queued_items(project, 1)
    assert again(project)["run"] != run.pk


def test_what_somebody_started_on_the_web_is_theirs() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    Run.objects.update(created_by=UserFactory.create())
    assert again(project)["run"] != run.pk
