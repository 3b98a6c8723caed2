"""The command that labels a project."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.debates.models import Debate, Run
from labelhub.core.llm.errors import WrongKey
from tests.factories.debates import project_with_items
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

    monkeypatch.setattr("apps.debates.services.slices.run_debate", broken)
    project = project_with_items(2)
    result = call(project.slug, "--protocol", "single", "--wait")
    assert (result["status"], result["failed"]) == ("done", 2)
