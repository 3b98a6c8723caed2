"""The operator's pages of projects."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Membership, Project
from apps.projects.selectors import role_in
from apps.projects.signals import reviewer_left
from tests.factories.accounts import UserFactory
from tests.factories.projects import (
    GuidelineFactory,
    ImportBatchFactory,
    ItemFactory,
    MembershipFactory,
    ProjectFactory,
)

pytestmark = pytest.mark.django_db
PAGES = ["project", "membership", "labelschema", "guideline", "item", "importbatch"]


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


def fill(count: int) -> None:
    """Rows for every list, each in a project of its own."""
    for factory in (ItemFactory, ImportBatchFactory, GuidelineFactory, MembershipFactory):
        factory.create_batch(count)


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_a_list_takes_the_same_queries_for_few_and_many_rows(
    operator: Client, django_assert_num_queries: Any, page: str
) -> None:
    url = f"/admin/projects/{page}/"
    fill(2)
    with django_assert_num_queries(9, exact=False) as few:
        assert operator.get(url).status_code == 200
    fill(4)
    with django_assert_num_queries(len(few)):
        operator.get(url)


@pytest.mark.parametrize("page", PAGES)
def test_every_list_can_be_searched(operator: Client, page: str) -> None:
    fill(1)
    assert operator.get(f"/admin/projects/{page}/", {"q": "e"}).status_code == 200


def test_items_can_be_read_and_not_changed(operator: Client) -> None:
    item = ItemFactory.create()
    url = f"/admin/projects/item/{item.pk}/change/"
    assert item.text in operator.get(url).content.decode()
    assert operator.post(url, {"text": "other"}).status_code == 403
    assert operator.get("/admin/projects/item/add/").status_code == 403
    item.refresh_from_db()
    assert item.text != "other"


MEMBERSHIPS = "/admin/projects/membership/"


def boss_of(project: Project) -> Membership:
    """The place of a new manager."""
    return MembershipFactory.create(project=project, role=Role.MANAGER)


def test_a_place_is_changed_by_the_service(operator: Client) -> None:
    """Which also takes back what the person held, see tests/reviews/test_leaving.py."""
    place = MembershipFactory.create()
    heard: list[Any] = []
    reviewer_left.connect(lambda user, **_: heard.append(user), weak=False, dispatch_uid="heard")
    try:
        url = f"{MEMBERSHIPS}{place.pk}/change/"
        operator.post(url, {"role": "viewer", "kind": "expert", "user": 0, "project": 0})
        place.refresh_from_db()
        assert (place.role, place.kind) == (Role.VIEWER, ReviewerKind.EXPERT)
        operator.post(f"{MEMBERSHIPS}{place.pk}/delete/", {"post": "yes"})
        assert not Membership.objects.exists()
    finally:
        reviewer_left.disconnect(dispatch_uid="heard")
    assert heard == [place.user, place.user]


def test_somebody_is_given_a_place(operator: Client) -> None:
    project, user = ProjectFactory.create(), UserFactory.create()
    sent = {"project": project.pk, "user": user.pk, "role": "manager", "kind": "crowd"}
    assert operator.post(f"{MEMBERSHIPS}add/", sent).status_code == 302
    assert role_in(user, project) is Role.MANAGER


def test_the_last_manager_of_a_project_stays_whatever_is_tried(operator: Client) -> None:
    boss = boss_of(ProjectFactory.create())
    lowered = operator.post(f"{MEMBERSHIPS}{boss.pk}/change/", {"role": "viewer", "kind": "crowd"})
    assert "needs a manager" in lowered.content.decode()
    sure = {"post": "yes"}
    assert operator.post(f"{MEMBERSHIPS}{boss.pk}/delete/", sure).status_code == 403
    operator.post(f"/admin/accounts/user/{boss.user_id}/delete/", sure)
    chosen = {"action": "delete_selected", "_selected_action": [boss.pk], **sure}
    operator.post(MEMBERSHIPS, chosen)
    team = {"memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 1, "name": "x"}
    team |= {"memberships-0-id": boss.pk, "memberships-0-DELETE": "on"}
    operator.post(f"/admin/projects/project/{boss.project_id}/change/", team)
    boss.refresh_from_db()
    assert boss.role == Role.MANAGER


def test_all_managers_at_once_cannot_be_deleted_either(operator: Client) -> None:
    project = ProjectFactory.create()
    places = [boss_of(project), boss_of(project)]
    chosen = [place.pk for place in places]
    sure = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    refused = operator.post(MEMBERSHIPS, sure)
    assert "needs a manager" in refused.content.decode()
    assert project.memberships.count() == 2
    operator.post(MEMBERSHIPS, sure | {"_selected_action": chosen[:1]})
    assert project.memberships.get() == places[1]
