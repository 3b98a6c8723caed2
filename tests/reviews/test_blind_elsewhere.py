"""Audits are blind on every page and address that tells of debates, until they are answered."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate
from apps.projects.models import Item, Project
from tests.debates.routing_world import debated
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, queued_items, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return new_project(review_scope="doubtful")


@pytest.fixture
def audited(project: Project) -> Item:
    (item,) = queued_items(project, 1)
    debated(item, "good", reasons=["audit"])
    return item


def seen_by(user: User, item: Item) -> dict[str, int | bool]:
    """What each address shows of the item's debate: its status, or whether it names it."""
    debate = Debate.objects.get(item=item)
    slug, run = item.project.slug, debate.run_id
    browser, api = Client(), APIClient()
    browser.force_login(user)
    api.force_authenticate(user)
    link = f"/p/{slug}/debates/{debate.pk}/"
    return {
        "debate": browser.get(link).status_code,
        "calls": browser.get(f"{link}calls/").status_code,
        "list": link in browser.get(f"/p/{slug}/runs/{run}/debates/").content.decode(),
        "run": link in browser.get(f"/p/{slug}/runs/{run}/").content.decode(),
        "item": link in browser.get(f"/p/{slug}/items/{item.pk}/").content.decode(),
        "rest": api.get(f"/api/v1/debates/{debate.pk}/").status_code,
        "rest list": bool(api.get(f"/api/v1/runs/{run}/debates/").data["count"]),
    }


HIDDEN = {
    "debate": 404, "calls": 404, "list": False, "run": False, "item": False, "rest": 404,
    "rest list": False,
}  # fmt: skip
SHOWN = {
    "debate": 200, "calls": 200, "list": True, "run": True, "item": True, "rest": 200,
    "rest list": True,
}  # fmt: skip


def test_a_reviewer_finds_the_debate_nowhere_before_answering(
    project: Project, audited: Item
) -> None:
    person = reviewer(project)
    assert seen_by(person, audited) == HIDDEN
    answer(claim(project, person), person, "bad")
    assert seen_by(person, audited) == SHOWN


def test_a_manager_reads_it(project: Project, audited: Item) -> None:
    assert seen_by(member(project, Role.MANAGER), audited) == SHOWN
