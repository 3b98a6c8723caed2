"""Searching, saved filters and bulk jobs over REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.common.jobs import waiting_jobs
from apps.labels.models import Label
from apps.projects.models import Project
from apps.reviews.search.saved_filters import KIND
from tests.factories.accounts import api_of
from tests.factories.bulk import run_job
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import suggest

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(project: Project) -> APIClient:
    return api_of(member(project, Role.MANAGER))


def url(project: Project, rest: str) -> str:
    return f"/api/v1/projects/{project.slug}/{rest}"


def test_items_are_narrowed_by_every_field(project: Project, api: APIClient) -> None:
    first, second = queued_items(project, 2)
    suggest(first, "good", reasons=["tie"])

    def ids(**asked: Any) -> list[int]:
        found = api.get(url(project, "items/"), asked).json()
        return [item["id"] for item in found["results"]]

    assert ids(reason="tie") == [first.pk]
    assert ids(suggested="good", kind="llm", queued="true") == [first.pk]
    assert ids(stage="new", q="number") == [second.pk]
    assert ids(items=f"{first.pk},{second.pk}") == [first.pk, second.pk]
    refused = api.get(url(project, "items/"), {"stage": "x", "created_to": "soon"})
    assert refused.status_code == 422
    assert [fault["field"] for fault in refused.json()["errors"]] == ["stage", "created_to"]


def test_filters_are_saved_read_and_forgotten(project: Project, api: APIClient) -> None:
    sent = {"name": "Tied", "query": {"reason": "tie", "uncertainty_min": 0.5}, "first": True}
    made = api.post(url(project, "filters/"), sent, format="json")
    assert made.status_code == 201
    assert made.json()["first"] is True
    assert waiting_jobs(KIND) == [project.pk]

    address = url(project, f"filters/{made.json()['id']}/")
    assert api.get(address).json()["query"] == sent["query"]
    assert api.get(url(project, "filters/")).json()["count"] == 1
    wrong = api.post(url(project, "filters/"), {"name": "x", "query": {"colour": 1}}, format="json")
    assert wrong.json()["errors"][0]["field"] == "query.colour"
    api.post(url(project, "filters/"), {**sent, "first": False}, format="json")
    assert api.get(address).json()["first"] is False
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404


def test_a_job_is_tried_started_and_undone(project: Project, api: APIClient) -> None:
    items = queued_items(project, 3)
    suggest(items[0], "good")
    body = {"action": "accept", "items": [items[0].pk, items[1].pk], "dry_run": True}

    tried = api.post(url(project, "bulk/"), body, format="json")
    assert tried.status_code == 200
    seen = tried.json()
    assert (seen["total"], seen["changing"], seen["passed"]) == (2, 1, {"silent": 1})
    assert seen["examples"] == [items[0].pk]
    frozen = {"upto": seen["upto"], "asked_at": seen["asked_at"]}
    started = api.post(url(project, "bulk/"), {**body, **frozen, "dry_run": False}, format="json")
    assert started.status_code == 202
    job = started.json()["id"]
    assert waiting_jobs("reviews.bulk") == [job]

    run_job(job)
    shown = api.get(url(project, f"bulk/{job}/")).json()
    assert (shown["status"], shown["done"], shown["counts"]) == ("done", 1, {"silent": 1})
    assert api.get(url(project, "bulk/")).json()["count"] == 1
    assert api.post(url(project, f"bulk/{job}/undo/")).status_code == 202
    assert api.post(url(project, f"bulk/{job}/undo/")).status_code == 409
    run_job(job)
    assert not Label.objects.current().by_people().exists()
