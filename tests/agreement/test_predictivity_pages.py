"""Predictivity on its page, over REST and on the command line."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.accounts.roles import Role
from apps.agreement.models import Study
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from tests.agreement.predictivity_help import (
    authors_project,
    decides,
    driven,
    last_shown,
    signed_in,
    started,
)
from tests.factories.debates import Script
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ASPECTS, ProjectFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sent_studies")]


def at(project: Project, name: str = "predictivity") -> str:
    return reverse(name, args=[project.slug])


def seen(project: Project, role: Role = Role.MANAGER) -> str:
    return signed_in(project, role).get(at(project)).content.decode()


def form_of(**fields: Any) -> dict[str, Any]:
    usual = {"sources": ["author", "crowd"], "examples": ["0", "1"], "limit": "", "budget": ""}
    return {"model": str(ensure_builtin().pk)} | usual | fields


# The page


def test_the_empty_page_says_what_is_missing() -> None:
    page = seen(ProjectFactory.create())
    assert "Nothing to predict yet" in page
    assert "Answers of authors" in page
    lonely = seen(authors_project(users=2, answers=1, others={}))
    assert "Authors with at least two answers in one conversation" in lonely
    assert "2 have answered" in lonely
    assert "Labels of the same items by an LLM, the crowd or experts" in lonely


def test_a_project_that_asks_for_sets_is_told_why_there_is_nothing() -> None:
    assert "a set of labels" in seen(ProjectFactory.create(definition=ASPECTS))


def test_a_manager_sees_what_a_study_takes_before_it_starts() -> None:
    project = authors_project()
    client, model = signed_in(project), ModelSpecFactory.create()
    shown = client.get(at(project, "predictivity_preview"), form_of(model=str(model.pk)))
    words = shown.content.decode()
    assert "about $" in words
    assert ", at most $" in words
    assert Study.objects.count() == 0
    without_scripts = client.post(at(project), form_of(show="yes")).content.decode()
    assert "Calls to make" in without_scripts
    assert Study.objects.count() == 0


def test_a_study_is_started_once_however_often_the_form_is_sent(sent_studies: list[int]) -> None:
    project = authors_project()
    client = signed_in(project)
    answers = [client.post(at(project), form_of()) for _ in range(2)]
    study = Study.objects.get()
    address = f"{at(project)}?study={study.pk}"
    assert [each.headers["Location"] for each in answers] == [address, address]
    assert (study.sources, study.examples) == (["author", "crowd"], [0, 1])
    assert sent_studies == [study.pk, study.pk]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sources": []}, "This field is required."),
        ({"sources": ["expert"]}, "Select a valid choice"),
        ({"examples": ["9"]}, "Select a valid choice"),
        ({"limit": "0"}, "greater than or equal to 1"),
        ({"model": "77777"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_started_is_said_in_place(change: dict[str, Any], words: str) -> None:
    project = authors_project()
    answer = signed_in(project).post(at(project), form_of(**change))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Study.objects.count() == 0


@pytest.mark.thorough
def test_progress_is_asked_for_until_the_study_stops() -> None:
    project = authors_project()
    study = started(project)
    client = signed_in(project, Role.VIEWER)
    page = client.get(at(project)).content.decode()
    assert f'hx-get="{at(project, "predictivity_progress")}?study={study.pk}"' in page
    part = client.get(at(project, "predictivity_progress"), {"study": study.pk})
    assert "0 of 108" in part.content.decode()
    driven(study, Script("Final Decision: calm"))
    done = client.get(at(project, "predictivity_progress"), {"study": study.pk})
    assert done.headers["HX-Refresh"] == "true"


@pytest.mark.thorough
def test_the_page_answers_with_one_sentence_one_picture_and_one_table() -> None:
    project = authors_project(users=6)
    driven(started(project), decides(last_shown))
    page = seen(project, Role.VIEWER)
    assert "Shown the authors&#x27; own labels, the model is right in" in page
    assert page.count('<svg class="plot"') == 1
    assert "plot-line--author" in page
    assert re.findall(r'by-examples\.(\w+)\?study=\d+" download', page) == ["svg", "png", "csv"]
    assert "6 authors, 24 predictions" in page
    assert "Guessing, 33%" in page
    assert "fewer than 20 authors" in page
    assert "Start the study" not in page


def test_the_newest_study_is_shown_and_leads_the_list_of_all() -> None:
    project = authors_project()
    old, new = started(project), started(project, examples=(1,))
    page = seen(project)
    assert f"?study={new.pk}" in page.split("All studies")[0]
    listed = page.split("All studies")[1]
    assert listed.index(f"Study {new.pk}<") < listed.index(f"Study {old.pk}<")
    assert f'?study={new.pk}" aria-current="true"' in listed


def test_the_offline_model_is_marked_wherever_it_shows() -> None:
    project = authors_project(others={"crowd": "calm"})
    started(project, ensure_builtin())
    page = seen(project)
    assert "Predicted by offline, not an LLM" in page
    assert "It matches words and is not an LLM" in page


@pytest.mark.thorough
def test_a_study_is_paused_resumed_and_cancelled_on_its_page(sent_studies: list[int]) -> None:
    project = authors_project()
    study, client = started(project), signed_in(project)

    def steer(do: str) -> str:
        answer = client.post(at(project, "predictivity_steer"), {"study": study.pk, "do": do})
        assert answer.status_code == 302
        study.refresh_from_db()
        return study.status

    assert steer("pause") == "paused"
    assert "Paused by hand." in client.get(at(project)).content.decode()
    assert steer("resume") == "queued"
    assert sent_studies == [study.pk]
    assert steer("cancel") == "cancelled"
    assert steer("resume") == "cancelled"
    assert "cannot be resumed" in client.get(at(project)).content.decode()


@pytest.mark.thorough
@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_only_managers_start_and_steer(role: Role, sent_studies: list[int]) -> None:
    project = authors_project()
    study, client = started(project), signed_in(project, role)
    steer = {"study": study.pk, "do": "cancel"}
    assert client.post(at(project), form_of()).status_code == 403
    assert client.post(at(project, "predictivity_steer"), steer).status_code == 403
    assert client.get(at(project, "predictivity_preview"), form_of()).status_code == 403
    api = client.post(at(project, "api_predictivity"), {}, content_type="application/json")
    assert api.status_code == 403
    assert sent_studies == []
    assert client.get(at(project)).status_code == 200


def test_a_study_of_another_project_is_not_found() -> None:
    project, other = authors_project(), authors_project()
    study, client = started(other), signed_in(project)
    steer = {"study": study.pk, "do": "cancel"}
    assert client.get(at(project), {"study": study.pk}).status_code == 404
    assert client.post(at(project, "predictivity_steer"), steer).status_code == 404
    api = client.get(at(project, "api_predictivity"), {"study": study.pk})
    assert api.status_code == 404
    assert client.get(at(project), {"study": "1e9"}).status_code == 422


# REST


def test_rest_starts_tells_and_steers(sent_studies: list[int]) -> None:
    project = authors_project()
    client, address = signed_in(project), at(project, "api_predictivity")
    assert client.get(address).json() == {"study": None}
    asked = {"sources": ["author", "llm"], "examples": [1], "model": "offline"}
    made = client.post(address, asked, content_type="application/json")
    assert made.status_code == 201
    body = made.json()
    assert (body["tasks"], body["status"], body["offline"]) == (24, "queued", True)
    assert sent_studies == [body["study"]]
    paused = client.post(at(project, "api_predictivity_pause"), {}, content_type="application/json")
    assert paused.json()["status"] == "paused"
    driven(Study.objects.get(), Script("Final Decision: calm"))
    resumed = client.post(
        at(project, "api_predictivity_resume"), {}, content_type="application/json"
    )
    assert resumed.json()["status"] == "queued"
    driven(Study.objects.get(), Script("Final Decision: calm"))
    told = client.get(address).json()
    assert told["status"] == "done"
    assert {(each["source"], each["examples"]) for each in told["accuracies"]} == {
        ("llm", None), ("llm", 1), ("author", None), ("author", 1),
    }  # fmt: skip
    assert told["accuracies"][0]["accuracy"]["n"] == 12
    assert told["differences"][0]["difference"]["value"] == 0


def test_rest_refuses_an_unknown_model_by_field() -> None:
    project = authors_project()
    answer = signed_in(project).post(
        at(project, "api_predictivity"), {"model": "nobody"}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert "nobody" in answer.content.decode()


# The command


def called(*arguments: str) -> str:
    out = StringIO()
    call_command("predictivity", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_drives_a_study_to_its_end_and_prints_its_figures() -> None:
    project = authors_project()
    asked = (project.slug, "--model", "offline", "--examples", "0,1", "--sources", "author,crowd")
    told = json.loads(called(*asked, "--wait", "--json"))
    assert (told["status"], told["predictions"]) == ("done", 12 + 24)
    assert told["note"] == "predicted by the offline text matcher: not an LLM"
    words = called(*asked, "--wait")
    assert "of the same plan is finished: nothing is left to ask" in words
    assert "0 calls to make" in words
    assert Study.objects.count() == 1


def test_the_command_says_what_a_study_would_take() -> None:
    project, model = authors_project(), ModelSpecFactory.create()
    told = json.loads(called(project.slug, "--model", model.name, "--dry-run", "--json"))
    assert told["dry_run"] is True
    assert told["calls"] == 12 + 12 * 4 * 2
    assert 0 < told["cost_usd"] < told["worst_usd"]
    assert Study.objects.count() == 0


def test_the_command_takes_a_limit_and_a_budget() -> None:
    project = authors_project()
    asked = (project.slug, "--model", "offline", "--examples", "1", "--sources", "author")
    told = json.loads(called(*asked, "--limit", "2", "--budget", "1", "--wait", "--json"))
    assert (told["items"], told["limit"], told["budget_usd"]) == (2, 2, 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--examples", "1,two"], "examples: '1,two' are no numbers"),
        (["--examples", "7"], "examples: numbers from 0 to 5"),
        (["--sources", "author,nobody"], "sources: 'nobody' is none of"),
        (["--sources", "expert"], "no answered item has a label by expert"),
        (["--budget", "much"], "budget: 'much' is not an amount"),
        (["--limit", "0"], "limit: must be at least 1"),
        (["--model", "nobody"], "No model 'nobody'"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], words: str) -> None:
    project = authors_project(users=1)
    with pytest.raises(CommandError, match=words):
        called(project.slug, *arguments)
    assert Study.objects.count() == 0


# The budget of a study that goes on


def test_over_rest_only_an_explicit_null_removes_the_budget() -> None:
    project = authors_project()
    client, address = signed_in(project), at(project, "api_predictivity")
    asked = {"sources": ["author", "llm"], "examples": [1], "model": "offline"}
    told = []
    for budget in ({"budget": "5"}, {}, {"budget": None}):
        made = client.post(address, asked | budget, content_type="application/json")
        told.append(made.json()["budget_usd"])
    assert told == [5.0, 5.0, None]
    assert Study.objects.count() == 1


def test_on_the_page_an_empty_field_keeps_the_budget_and_a_tick_removes_it() -> None:
    project = authors_project()
    client, told = signed_in(project), []
    for fields in ({"budget": "5"}, {}, {"unlimited": "on"}):
        client.post(at(project), form_of(**fields))
        told.append(Study.objects.get().budget_nanousd)
    assert told == [5 * 10**9, 5 * 10**9, None]
    both = client.post(at(project), form_of(budget="5", unlimited="on"))
    assert both.status_code == 422
    assert "not both" in both.content.decode()


def test_the_command_keeps_the_budget_unless_told_that_there_is_none() -> None:
    project = authors_project()
    asked = (project.slug, "--model", "offline", "--examples", "1", "--sources", "author")
    more: list[list[str]] = [["--budget", "1"], [], ["--budget", "none"]]
    told = [json.loads(called(*asked, *each, "--json"))["budget_usd"] for each in more]
    assert told == [1.0, 1.0, None]
