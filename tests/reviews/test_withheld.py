"""What others said of an item is withheld from who is yet to answer it, by every door."""

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.dashboards.work import desk_of
from apps.labels.models import ItemState
from apps.projects.models import Item, Project
from apps.reviews.models import ReviewSettings
from apps.reviews.queue.item_context import review_task
from apps.reviews.queue.undo import undo_last
from tests.debates.routing_world import debated
from tests.factories.accounts import api_of, browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest
from tests.reviews.test_adjudication import in_conflict, rule
from tests.reviews.test_comments import say
from tests.reviews.test_known import with_gold

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


def ledger(user: User, item: Item, **narrowed: str) -> list[tuple[str, object]]:
    """Kind and value of the item's labels as REST lists them to ``user``."""
    address = reverse("api_label", args=[item.project.slug])
    rows = api_of(user).get(address, {"item": str(item.pk), **narrowed}).json()["results"]
    return [(row["annotator"]["kind"], row["value"]) for row in rows]


def item_page(user: User, item: Item) -> str:
    client = browser_of(user)
    address = reverse("item_detail", args=[item.project.slug, item.pk])
    return client.get(address).content.decode()


def test_who_is_about_to_answer_blind_is_told_nothing_even_as_a_manager() -> None:
    project = new_project(blind_share=1)
    held, other = queued_items(project, 2)
    for item in (held, other):
        suggest(item, "good")
    boss = member(project, Role.MANAGER)
    slot = claim(project, boss)
    shown = {item: (bool(ledger(boss, item)), "ecj" in item_page(boss, item)) for item in
             (held, other)}  # fmt: skip
    assert shown == {held: (False, False), other: (True, True)}
    assert api_of(boss).get(f"/api/v1/items/{held.pk}/").json()["suggestion"] is None

    answer(slot, boss, "bad")

    assert ledger(boss, held)[0] == ("llm", "good")
    assert "ecj" in item_page(boss, held)


def half_said(project: Project) -> Item:
    """An item that one of two people has labelled."""
    (item,) = queued_items(project, 1)
    first = reviewer(project)
    answer(claim(project, first), first, "bad", comment="Plainly awful.")
    return item


def test_what_others_said_is_read_after_the_own_answer(project: Project) -> None:
    item, person = half_said(project), reviewer(project)

    assert ledger(person, item) == []
    assert "Plainly awful" not in item_page(person, item)

    answer(claim(project, person), person, "good")

    assert ledger(person, item) == [("crowd", "bad"), ("crowd", "good")]
    assert "Plainly awful" in item_page(person, item)


@pytest.mark.parametrize("role", [Role.MANAGER, Role.VIEWER])
def test_who_is_not_asked_reads_the_ledger(project: Project, role: Role) -> None:
    item = half_said(project)
    who = member(project, role)

    assert ledger(who, item) == [("crowd", "bad")]
    assert "Plainly awful" in item_page(who, item)


def test_what_a_project_shows_beside_the_item_rest_shows_too(project: Project) -> None:
    ReviewSettings.objects.create(project=project, show_opinions=True)
    item = half_said(project)

    assert ledger(reviewer(project), item) == [("crowd", "bad")]


def test_experts_read_what_waits_for_them_and_crowd_does_not(project: Project) -> None:
    item = in_conflict(project)

    assert len(ledger(expert(project), item)) == 2
    assert ledger(reviewer(project), item) == []


def test_a_known_answer_is_not_to_be_had_from_the_label_behind_it(project: Project) -> None:
    item = in_conflict(project)
    rule(item, expert(project), "bad")
    project.check_share = 0.5
    project.save()

    assert ledger(reviewer(project), item) == []


def test_ones_own_withdrawn_labels_stay_ones_own(project: Project) -> None:
    item, person = half_said(project), reviewer(project)
    answer(claim(project, person), person, "good")
    undo_last(project=project, user=person)

    assert ledger(person, item) == [("crowd", "good"), ("crowd", None)]


def test_a_known_item_stands_over_rest_as_one_that_waits() -> None:
    project = new_project(check_share=1.0, overlap=2)
    known = in_conflict(project)
    rule(known, expert(project), "bad")
    (plain,) = queued_items(project, 1)
    for item in (known, plain):
        suggest(item, "good", reasons=["tie"])
    assert not ItemState.objects.get(item=known).queued
    api, items = api_of(reviewer(project)), reverse("api_items", args=[project.slug])

    rows = [api.get(f"/api/v1/items/{item.pk}/").json() for item in (known, plain)]
    waiting = api.get(items, {"queued": "true"}).json()["results"]

    names = ("stage", "queued", "reasons", "labels_by_people", "gold")
    shown, other = ([row[name] for name in names] for row in rows)
    assert shown == other
    assert {row["suggestion"]["value"] for row in rows} == {"good"}
    assert {row["id"] for row in waiting} == {known.pk, plain.pk}
    assert api.get(items, {"queued": "false"}).json()["results"] == []


def test_the_pages_of_a_known_item_and_of_another_look_alike() -> None:
    project = new_project(check_share=1.0)
    (known,) = with_gold(project, 1)
    (plain,) = queued_items(project, 1)
    debated(plain, "good", reasons=["tie"])
    debated(known, "good", reasons=["tie"])
    person = reviewer(project)

    for item in (known, plain):
        page = item_page(person, item)
        assert "after you have labelled this item" in page
        assert "Pre-annotated" not in page
        assert f"/p/{project.slug}/debates/" not in page


def test_no_reviewer_is_led_to_a_debate_that_may_be_kept_from_them() -> None:
    project = new_project(check_share=1.0)
    (known,) = with_gold(project, 1)
    debated(known, "good", reasons=["tie"])
    person = reviewer(project)
    client = browser_of(person)
    address = reverse("review_debate", args=[project.slug, known.pk])

    before = client.get(address).content.decode()
    answer(claim(project, person), person, "good")
    after = client.get(address).content.decode()

    assert "was not debated" not in before
    assert ("Full debate" in before, "Full debate" in after) == (False, True)


def test_opinions_shown_beside_an_item_do_not_tell_a_known_answer(project: Project) -> None:
    ReviewSettings.objects.create(project=project, show_opinions=True)
    item = in_conflict(project)
    rule(item, expert(project), "bad")
    project.check_share = 1.0
    project.save()
    person = reviewer(project)
    slot = claim(project, person)

    assert (slot.item_id, slot.purpose) == (item.pk, "check")
    assert review_task(project, slot=slot).opinions == []


def test_an_audit_is_blind_for_opinions_too(project: Project) -> None:
    ReviewSettings.objects.create(project=project, show_opinions=True)
    (item,) = queued_items(project, 1)
    debated(item, "good", reasons=["audit"])
    first, second = reviewer(project), reviewer(project)
    answer(claim(project, first), first, "bad")

    assert review_task(project, slot=claim(project, second)).opinions == []


def test_a_desk_shows_no_comment_before_it_may_be_read(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    say(item, reviewer(project), f"@{person.username} it is irony")

    before = desk_of(project, person).mentions
    answer(claim(project, person), person, "good")
    after = desk_of(project, person).mentions

    assert [len(before), len(after)] == [0, 1]


@pytest.mark.parametrize("action", ["adjudication_decide", "adjudication_return"])
def test_a_mistake_opens_no_item_that_waits_for_nobody(project: Project, action: str) -> None:
    item = half_said(project)
    client = browser_of(expert(project))

    response = client.post(reverse(action, args=[project.slug, item.pk]), {})

    assert response.status_code == 302
    assert "Plainly awful" not in response.content.decode()
