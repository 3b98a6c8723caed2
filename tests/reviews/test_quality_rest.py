"""People's work over REST."""

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.reviews.quality import requeue
from apps.reviews.quality.requeue import run_requeue
from tests.factories.accounts import api_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.quality import checked, known, worked
from tests.factories.reviews import reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(project: Project) -> APIClient:
    return api_of(member(project, Role.MANAGER))


def at(project: Project, rest: str = "") -> str:
    return f"/api/v1/projects/{project.slug}/quality/{rest}"


def test_oneself_without_what_is_known(project: Project, person: User) -> None:
    items = queued_items(project, 2)
    known(items)
    checked(items, person, [True, False])
    api = api_of(person)

    report = api.get(at(project, f"{person.pk}/")).json()

    assert report["person"]["accuracy"]["value"] is None
    assert report["stretches"][0]["accuracy"]["value"] is None
    assert api.get(at(project)).status_code == 403
    assert api.get(at(project, f"{reviewer(project).pk}/")).status_code == 403
    assert api.post(at(project, f"{person.pk}/resume/"), {"reason": "x"}).status_code == 403


def test_putting_labels_back(
    api: APIClient, project: Project, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = at(project, f"{person.pk}/requeue/")
    assert api.get(address).status_code == 404
    worked(queued_items(project, 2), person)
    monkeypatch.setattr(requeue, "AT_ONCE", 1)

    begun = api.post(address, {"reason": "Did not read.", "only_wrong": False}, format="json")
    run_requeue(begun.json()["id"])

    assert (begun.status_code, begun.json()["total"]) == (202, 2)
    assert (api.get(address).json()["status"], api.get(address).json()["done"]) == ("done", 2)
    assert api.post(address, {"reason": "Again."}, format="json").status_code == 422
