"""The command that labels a project."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.debates.models import Debate, Run
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.llm.errors import WrongKey
from tests.factories.debates import project_with_items
from tests.factories.labels import draft, person
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


def test_without_wait_the_run_is_recorded_for_a_worker() -> None:
    project = project_with_items(2)
    result = call(project.slug, "--protocol", "single")
    assert (result["status"], result["labelled"]) == ("queued", 0)
    assert Debate.objects.count() == 2


def test_roles_are_given_by_name_and_the_rest_by_a_bare_name() -> None:
    project = project_with_items(1)
    judge, rest = ModelSpecFactory.create(), ModelSpecFactory.create()
    call(project.slug, "--protocol", "ecj", "--model", f"judge={judge.name}", "--model", rest.name)
    roles = dict(Run.objects.get().roles.values_list("role", "model__name"))
    assert roles == {"extractor": rest.name, "critic": rest.name, "judge": judge.name}


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
        (["SLUG", "--protocol", "oracle"], "'oracle' is not known"),
        (["SLUG", "--protocol", "ecj", "--model", "king=offline"], "no role 'king'"),
        (["SLUG", "--protocol", "ecj", "--model", "nobody"], "No model 'nobody'"),
        (["SLUG", "--protocol", "ecj", "--budget", "lots"], "'lots' is not an amount"),
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


def test_a_fault_of_ours_fails_the_item_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("apps.debates.services.driving.slices.run_debate", broken)
    project = project_with_items(2)
    result = call(project.slug, "--protocol", "single", "--wait")
    assert (result["status"], result["failed"]) == ("done", 2)


def interrupted(project: Project, *args: str) -> Run:
    """What a command leaves behind that was killed half way: half is labelled, none is held."""
    call(project.slug, "--protocol", "single", *args)
    run = Run.objects.get()
    Debate.objects.filter(run=run, item=project.items.first()).update(status=Debate.Status.FAILED)
    Run.objects.update(status=Run.Status.RUNNING)
    return run


def test_called_again_it_goes_on_with_the_run_that_was_interrupted() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    result = call(project.slug, "--protocol", "single", "--wait")
    assert (result["run"], result["status"]) == (run.pk, "done")
    assert Run.objects.count() == 1


def test_a_paused_run_of_the_same_plan_is_resumed_and_its_failures_are_tried_again() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    Run.objects.update(status=Run.Status.PAUSED, message="Too many failures.")
    result = call(project.slug, "--protocol", "single", "--wait")
    assert (result["run"], result["labelled"], result["failed"]) == (run.pk, 3, 0)


def test_only_those_without_a_label_may_be_fewer_by_now() -> None:
    project = project_with_items(3)
    run = interrupted(project)
    item = project.items.all()[0]
    record_label(draft(item, person(project), "good"))
    result = call(project.slug, "--protocol", "single", "--only-unlabelled", "--wait")
    assert result["run"] == run.pk


@pytest.mark.parametrize(
    "other",
    [["--new"], ["--budget", "1"], ["--limit", "2"], ["--replicates", "2"], ["--fresh"]],
)
def test_another_plan_or_an_explicit_wish_starts_another_run(other: list[str]) -> None:
    project = project_with_items(3)
    run = interrupted(project)
    result = call(project.slug, "--protocol", "single", "--wait", *other)
    assert result["run"] != run.pk


def test_a_finished_run_is_not_gone_on_with() -> None:
    project = project_with_items(1)
    runs = {call(project.slug, "--protocol", "single", "--wait")["run"] for _ in range(2)}
    assert len(runs) == 2
