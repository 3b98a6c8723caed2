"""Runs by REST."""

from typing import Any

import pytest
from pytest_django import Settings

from apps.accounts.roles import Role
from apps.debates.models import Run
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from tests.factories.debates import finished_debate, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import member_api

pytestmark = pytest.mark.django_db


def test_a_run_is_started_and_looked_up() -> None:
    project = project_with_items(3)
    model = ModelSpecFactory.create()
    client = member_api(project)
    body = {"protocol": "ecj", "model": "offline", "models": {"judge": model.name}, "limit": 2}
    response = client.post(f"/api/v1/projects/{project.slug}/runs/", body)

    assert response.status_code == 201, response.data
    run = Run.objects.get()
    roles = {role["role"]: role["model"] for role in response.data["roles"]}
    assert roles == {"extractor": "offline", "critic": "offline", "judge": model.name}
    seen = client.get(f"/api/v1/runs/{run.pk}/").data
    assert seen["status"] == "queued"
    assert seen["progress"]["total"] == seen["progress"]["waiting"] == 2
    assert seen["cost_usd"] == 0
    assert client.get(f"/api/v1/projects/{project.slug}/runs/").data["count"] == 1


@pytest.fixture
def seeded(settings: Settings) -> Settings:
    """An endpoint in the environment, with the key that an operator pays for."""
    settings.LABELHUB_LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.LABELHUB_LLM_MODEL = "cheap, dear"
    return settings


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"model": "o1-pro-max"}, "model"),
        ({"models": {"annotator": "o1-pro-max"}}, "models.annotator"),
    ],
)
def test_over_http_only_models_that_are_set_up_may_be_named(
    seeded: Settings, named: dict[str, Any], field: str
) -> None:
    project = project_with_items(1)
    body = {"protocol": "single", **named}
    response = member_api(project).post(f"/api/v1/projects/{project.slug}/runs/", body)
    assert (response.status_code, response.data["code"]) == (400, "invalid")
    (fault,) = response.data["errors"]
    assert fault["field"] == field
    assert "Known: offline, cheap, dear." in fault["message"]
    assert list(ModelSpec.objects.values_list("name", flat=True)) == ["offline"]
    assert not Run.objects.exists()


def test_a_run_that_ran_out_of_money_goes_on_with_more() -> None:
    project = project_with_items(1)
    run = started_run(project)
    Run.objects.update(status="paused", pause_code="budget", budget_nanousd=1, cost_nanousd=2_000)
    client, address = member_api(project), f"/api/v1/runs/{run.pk}/resume/"
    refused = client.post(address, {"budget": "0.000001"})
    assert (refused.status_code, refused.data["code"]) == (422, "invalid")
    assert client.post(address, {"budget": "lots"}).status_code == 400
    assert member_api(project, Role.VIEWER).post(address, {"budget": "9"}).status_code == 403
    assert Run.objects.get().budget_nanousd == 1
    assert client.post(address, {"budget": "2.5"}).data["budget_usd"] == 2.5
    assert Run.objects.get().status == "queued"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"temperature": "hot"}, "annotator.temperature must be a number from 0 to 2"),
        ({"temperature": 99}, "annotator.temperature must be a number from 0 to 2"),
        ({"temperature": True}, "annotator.temperature"),
        ({"seed": 1.5}, "annotator.seed must be a whole number"),
        ({"stop": []}, "annotator.stop must be a text or a list of up to 4"),
        ({"reasoning_effort": "huge"}, "one of none, minimal, low, medium, high, xhigh"),
        ({"messages": []}, "annotator.messages cannot be set; it must be one of temperature"),
    ],
)
def test_parameters_that_no_endpoint_knows_are_refused(params: dict[str, Any], words: str) -> None:
    project = project_with_items(1)
    body = {"protocol": "single", "model": "offline", "params": {"annotator": params}}
    response = member_api(project).post(f"/api/v1/projects/{project.slug}/runs/", body)
    assert (response.status_code, response.data["code"]) == (422, "invalid")
    assert words in str(response.data)


def test_debates_are_listed_by_status_and_read_with_their_turns(
    django_assert_num_queries: Any,
) -> None:
    project = project_with_items(3)
    run = started_run(project, "ecj")
    debate = finished_debate(run, dict.fromkeys(("extractor", "critic", "judge"), "good"))
    client = member_api(project, Role.VIEWER)

    with django_assert_num_queries(3):  # run, count, page
        listed = client.get(f"/api/v1/runs/{run.pk}/debates/").data
    assert listed["count"] == 3
    done = client.get(f"/api/v1/runs/{run.pk}/debates/?status=done").data["results"]
    assert [(row["id"], row["value"]) for row in done] == [(debate.pk, "good")]
    assert client.get(f"/api/v1/runs/{run.pk}/debates/?status=odd").status_code == 400

    with django_assert_num_queries(2):  # debate, turns
        read = client.get(f"/api/v1/debates/{debate.pk}/").data
    assert [turn["role"] for turn in read["turns"]] == ["extractor", "critic", "judge"]
    assert read["turns"][0]["model"] == ensure_builtin().name


def test_a_run_is_paused_resumed_and_cancelled() -> None:
    project = project_with_items(1)
    run = started_run(project)
    client = member_api(project)
    for step, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        assert client.post(f"/api/v1/runs/{run.pk}/{step}/").data["status"] == status
    again = client.post(f"/api/v1/runs/{run.pk}/resume/")
    assert (again.status_code, again.data["code"]) == (409, "conflict")
