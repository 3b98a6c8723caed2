"""People's work over REST."""

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.reviews.services import requeueing
from apps.reviews.services.requeueing import run_requeue
from tests.factories.projects import member
from tests.factories.quality import checked, known, worked
from tests.factories.reviews import new_project, queued_items, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return new_project()


@pytest.fixture
def person(project: Project) -> User:
    return reviewer(project)


@pytest.fixture
def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(member(project, Role.MANAGER))
    return client


def at(project: Project, rest: str = "") -> str:
    return f"/api/v1/projects/{project.slug}/quality/{rest}"


def test_everybody(api: APIClient, project: Project, person: User) -> None:
    items = queued_items(project, 2)
    known(items)
    checked(items, person, [True, False])

    told = api.get(at(project)).json()

    (row,) = told["people"]
    assert (row["user"], row["labels"], row["status"]) == (person.pk, 2, "active")
    assert (row["accuracy"]["value"], row["accuracy"]["n"]) == (0.5, 2)
    assert row["agreement"]["value"] is None
    assert told["known_items"] == 2


def test_one_person(api: APIClient, project: Project, person: User) -> None:
    worked(queued_items(project, 2), person)

    told = api.get(at(project, f"{person.pk}/"), {"by": "week"}).json()

    assert (told["by"], told["stretches"][0]["labels"]) == ("week", 2)
    assert told["person"]["username"] == person.username


def test_oneself_without_what_is_known(project: Project, person: User) -> None:
    items = queued_items(project, 2)
    known(items)
    checked(items, person, [True, False])
    api = APIClient()
    api.force_authenticate(person)

    told = api.get(at(project, f"{person.pk}/")).json()

    assert told["person"]["accuracy"]["value"] is None
    assert told["stretches"][0]["accuracy"]["value"] is None
    assert api.get(at(project)).status_code == 403
    assert api.get(at(project, f"{reviewer(project).pk}/")).status_code == 403
    assert api.post(at(project, f"{person.pk}/resume/"), {"reason": "x"}).status_code == 403


def test_pause_and_resume(api: APIClient, project: Project, person: User) -> None:
    paused = api.post(at(project, f"{person.pk}/pause/"), {"reason": "Too fast."})
    again = api.post(at(project, f"{person.pk}/pause/"), {"reason": "Too fast."})
    resumed = api.post(at(project, f"{person.pk}/resume/"), {"reason": "We talked."})

    assert (paused.status_code, paused.json()) == (
        200,
        {"status": "paused", "reason": "Too fast."},
    )
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert resumed.json()["status"] == "active"


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x" * 2001}, {"reason": ["x"]}])
@pytest.mark.parametrize("what", ["pause", "resume", "requeue"])
def test_a_reason_is_asked_for(
    api: APIClient, project: Project, person: User, what: str, body: dict[str, object]
) -> None:
    refused = api.post(at(project, f"{person.pk}/{what}/"), body, format="json")

    assert refused.status_code in {400, 422}
    assert "reason" in refused.content.decode()


def test_putting_labels_back(
    api: APIClient, project: Project, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = at(project, f"{person.pk}/requeue/")
    assert api.get(address).status_code == 404
    worked(queued_items(project, 2), person)
    monkeypatch.setattr(requeueing, "AT_ONCE", 1)

    begun = api.post(address, {"reason": "Did not read.", "only_wrong": False}, format="json")
    run_requeue(begun.json()["id"])

    assert (begun.status_code, begun.json()["total"]) == (202, 2)
    assert (api.get(address).json()["status"], api.get(address).json()["done"]) == ("done", 2)
    assert api.post(address, {"reason": "Again."}, format="json").status_code == 422


def test_a_moment_that_is_none_is_refused(api: APIClient, project: Project, person: User) -> None:
    refused = api.post(
        at(project, f"{person.pk}/requeue/"), {"reason": "x", "since": "soon"}, format="json"
    )

    assert refused.status_code in {400, 422}
    assert "since" in refused.content.decode()


def test_strangers_are_not_found(api: APIClient, project: Project) -> None:
    stranger = reviewer(new_project())

    assert api.get(at(project, f"{stranger.pk}/")).status_code == 404
    answer = api.post(at(project, f"{stranger.pk}/pause/"), {"reason": "x"})
    assert answer.status_code == 404
