"""REST: sites/{public_key}/echo/experiments/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.echo.models import Echo, Experiment
from tests.authors.api.calling import refused, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import site_with_features
from tests.factories.echo import echo_of

pytestmark = pytest.mark.django_db
EXPERIMENTS = "/api/v1/sites/{public_key}/echo/experiments/"
ONE = f"{EXPERIMENTS}{{echo_experiment_id}}/"
NEW: dict[str, Any] = {
    "name": "Does Echo sell?",
    "arms": [
        {"name": "echo", "share": 0.5, "policy": "echo"},
        {"name": "nothing", "share": 0.5, "policy": "nothing"},
    ],
    "control": "nothing",
}


def created(echo: Echo, manager: APIClient, **changes: Any) -> str:
    made = manager.post(url(echo.site, "echo/experiments/"), NEW | changes)
    assert made.status_code == 201, made.content
    return url(echo.site, f"echo/experiments/{made.json()['id']}/")


def test_from_the_design_to_the_end(echo: Echo, manager: APIClient, viewer: APIClient) -> None:
    made = manager.post(url(echo.site, "echo/experiments/"), NEW)
    assert_matches_schema(made, "POST", EXPERIMENTS)
    body = made.json()
    assert (body["status"], body["planned_days"]) == ("planned", 28)
    assert body["arms"] == NEW["arms"]
    path = url(echo.site, f"echo/experiments/{body['id']}/")
    refused(manager.post(f"{path}end/"), 409, "conflict")
    for step, status in (("start", "running"), ("end", "ended")):
        response = manager.post(f"{path}{step}/")
        assert_matches_schema(response, "POST", f"{ONE}{step}/")
        assert response.json()["status"] == status
        refused(manager.post(f"{path}{step}/"), 409, "conflict")
    shown = viewer.get(path)
    assert_matches_schema(shown, "GET", ONE)
    listed = viewer.get(url(echo.site, "echo/experiments/"))
    assert_matches_schema(listed, "GET", EXPERIMENTS)
    assert [row["status"] for row in listed.json()["results"]] == ["ended"]


@all_cases(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": None}, "name"),
        ({"arms": []}, "arms"),
        ({"arms": NEW["arms"][:1]}, "arms"),
        ({"arms": [NEW["arms"][0], NEW["arms"][1] | {"share": 0.4}]}, "arms"),
        ({"arms": [NEW["arms"][0], NEW["arms"][1] | {"share": "nan"}]}, "arms.1.share"),
        ({"arms": [NEW["arms"][0], NEW["arms"][1] | {"policy": "Sell!"}]}, "policy"),
        ({"control": "echoes"}, "control"),
        ({"windows": [{"start": "2026-11-20T00:00:00Z"}]}, "windows"),
        ({"planned_days": 0}, "planned_days"),
        ({"planned_days": 366}, "planned_days"),
    ],
)
def test_a_design_that_cannot_be_used(
    echo: Echo, manager: APIClient, change: dict[str, Any], field: str | None
) -> None:
    response = manager.post(url(echo.site, "echo/experiments/"), NEW | change)
    assert response.status_code in (400, 422), response.content
    fields = [fault["field"] for fault in response.json()["errors"]]
    assert fields == [field]
    assert not Experiment.objects.exists()


def test_experiments_of_other_sites_are_out_of_reach(echo: Echo, manager: APIClient) -> None:
    other = echo_of(site_with_features(echo.site.project))
    number = created(echo, manager).split("/")[-2]
    refused(manager.post(url(other.site, f"echo/experiments/{number}/start/")), 404, "not_found")
    refused(manager.get(url(other.site, "echo/experiments/999999/")), 404, "not_found")
