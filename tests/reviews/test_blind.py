"""Audits are blind: nothing of the debate reaches whoever is to answer, before they have."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.models import VIEW_UNKNOWN, ItemState, Label
from apps.projects.models import Item, Project
from apps.reviews.models import Purpose, Slot
from tests.debates.routing_world import debated
from tests.factories.accounts import api_of, browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, reviewer, token

pytestmark = pytest.mark.django_db
PROJECT = {"review_scope": "doubtful"}
SAID = "Because the debate said so."


@pytest.fixture
def audited(project: Project) -> Item:
    """An item that a debate called good, chosen for the audit."""
    (item,) = queued_items(project, 1)
    debated(item, "good", reasons=["audit"])
    return item


def page(project: Project, rest: str) -> str:
    return f"/p/{project.slug}/review/{rest}"


def rest(project: Project, path: str) -> str:
    return f"/api/v1/projects/{project.slug}/{path}"


def test_the_page_shows_an_audited_item_as_one_that_nobody_debated(
    project: Project, browser: Client, audited: Item
) -> None:
    html = browser.get(page(project, "")).content.decode()
    assert audited.text in html
    for trace in ("Suggested by", "data-suggested", "suggested</span>", "<mark", "audit", SAID):
        assert trace not in html.partition("<main")[2]
    assert 'name="shown" value="0"' in html
    assert "data-debate=" not in html
    assert "Reject" not in html


def test_the_debate_is_not_to_be_had_before_the_answer(
    project: Project, browser: Client, person: User, audited: Item
) -> None:
    address = page(project, f"items/{audited.pk}/debate/")
    before = browser.get(address).content.decode()
    assert "You see the debate after you have labelled this item" in before
    assert "Full debate" not in before

    answer(claim(project, person), person, "bad")

    assert "Full debate" in browser.get(address).content.decode()


def test_a_manager_who_reviews_is_blind_as_well(project: Project, audited: Item) -> None:
    client = browser_of(member(project, Role.MANAGER))
    assert "Suggested by" not in client.get(page(project, "")).content.decode()
    html = client.get(page(project, f"items/{audited.pk}/debate/")).content.decode()
    assert "You see the debate after you have labelled this item" in html


def test_what_a_manager_let_lapse_is_hidden_from_them_no_longer(
    project: Project, audited: Item
) -> None:
    api = api_of(member(project, Role.MANAGER))
    token = api.post(rest(project, "next/")).json()["lease"]["token"]
    assert api.get(rest(project, "labels/")).json()["results"] == []
    Slot.objects.update(lease_until=timezone.now())
    assert len(api.get(rest(project, "labels/")).json()["results"]) == 1

    given = {"item": audited.pk, "value": "good", "lease": token}
    assert api.post(rest(project, "labels/"), given, format="json").status_code == 201
    assert VIEW_UNKNOWN in Label.objects.by_people().get().provenance, "they may have seen it"


@pytest.mark.parametrize("purpose", [Purpose.CHECK, Purpose.QUALIFY])
def test_what_a_manager_is_measured_by_stays_hidden_however_long_it_takes(
    project: Project, audited: Item, purpose: Purpose
) -> None:
    api = api_of(member(project, Role.MANAGER))
    api.post(rest(project, "next/"))
    Slot.objects.update(purpose=purpose, lease_until=timezone.now())
    assert api.get(rest(project, "labels/")).json()["results"] == []


def test_the_debate_of_another_projects_audit_is_not_shown_either(
    project: Project, audited: Item
) -> None:
    other = new_project()
    client = browser_of(reviewer(other))
    html = client.get(page(other, f"items/{audited.pk}/debate/")).content.decode()
    assert "not debated" in html


def test_an_undone_answer_leaves_the_item_blind(
    project: Project, browser: Client, person: User, audited: Item
) -> None:
    answer(claim(project, person), person, "bad")
    undone = browser.post(page(project, "undo/"), headers={"accept": "application/json"}).json()
    assert undone["undone"]
    assert "Suggested by" not in undone["html"]


def shown(api: APIClient, project: Project, item: Item) -> list[dict[str, Any]]:
    """The item by every way in which REST tells where it stands."""
    (listed,) = api.get(rest(project, "items/")).json()["results"]
    return [listed, api.get(f"/api/v1/items/{item.pk}/").json()]


def test_lists_tell_a_reviewer_nothing_before_the_answer(
    project: Project, api: APIClient, person: User, audited: Item
) -> None:
    for body in shown(api, project, audited):
        assert (body["reasons"], body["suggestion"], body["stage"]) == ([], None, "new")
    assert api.get(rest(project, "labels/")).json()["results"] == []

    answer(claim(project, person), person, "bad")

    for body in shown(api, project, audited):
        assert body["reasons"] == ["audit"]
        assert body["suggestion"]["value"] == "good"
    kinds = [
        row["annotator"]["kind"] for row in api.get(rest(project, "labels/")).json()["results"]
    ]
    assert kinds == ["llm", "crowd"]


@pytest.mark.parametrize("role", [Role.MANAGER, Role.VIEWER])
def test_those_who_do_not_review_see_the_lists_whole(
    project: Project, audited: Item, role: Role
) -> None:
    api = api_of(member(project, role))
    for body in shown(api, project, audited):
        assert (body["reasons"], body["suggestion"]["value"]) == (["audit"], "good")
    assert len(api.get(rest(project, "labels/")).json()["results"]) == 1


def test_an_audit_that_began_with_a_suggestion_on_screen_says_so(
    project: Project, browser: Client, person: User
) -> None:
    """A page that was opened before the item was audited: the answer is kept for what it is."""
    (item,) = queued_items(project, 1)
    debated(item, "good", reasons=["tie"])
    slot = claim(project, person)
    seen = Label.objects.get(item=item)
    ItemState.objects.filter(item=item).update(reasons=["audit"])
    sent = {"item": item.pk, "lease": token(slot), "value": "good", "shown": seen.pk}
    browser.post(page(project, "submit/"), sent)
    label = Label.objects.get(item=item, annotator__user=person)
    assert (label.action, label.proposed_from_id) == ("accepted", seen.pk)
