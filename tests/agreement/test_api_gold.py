"""REST: gold."""

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.labels.services import record_label, withdraw_label
from apps.projects.models import Project
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


@pytest.fixture
def client(project: Project) -> APIClient:
    """A client that acts for a viewer."""
    client = APIClient()
    client.force_authenticate(member(project, Role.VIEWER))
    return client


def address(project: Project) -> str:
    """Where the gold is."""
    return f"/api/v1/projects/{project.slug}/gold/"


def test_gold_says_what_was_decided_by_whom_and_on_what(
    project: Project, client: APIClient
) -> None:
    item, somebody = open_item(project), person(project)
    label = record_label(draft(item, somebody, "good"))

    body = client.get(address(project)).json()

    assert set(body) == {"count", "next", "previous", "results"}
    (row,) = body["results"]
    assert row["item"] == item.pk
    assert row["external_id"] == item.external_id
    assert (row["value"], row["basis"]) == ("good", "review")
    assert row["decided_by"] == somebody.name
    assert row["evidence"] == [str(label.uid)]


def test_gold_that_was_withdrawn_is_gone(project: Project, client: APIClient) -> None:
    label = record_label(draft(open_item(project), person(project), "good"))
    withdraw_label(label=label)

    assert client.get(address(project)).json()["count"] == 0
