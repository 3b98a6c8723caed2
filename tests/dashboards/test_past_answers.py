"""What somebody answered so far: listed, the latest first, and to be taken back at any time."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.dashboards.work import PastAnswer, past_answers
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from apps.reviews.adjudication.services import Ruling, adjudicate
from apps.reviews.models import Decision, Draft, Slot
from apps.reviews.queue.submission import skip_item
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, expert, new_project, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return new_project()


def label(project: Project, user: User, *values: str) -> list[Decision]:
    """One answer each, to items of their own."""
    queued_items(project, len(values))
    return [answer(claim(project, user), user, value).decision for value in values]


def listed(project: Project, user: User) -> list[PastAnswer]:
    return list(past_answers(project, user).answers)


def take_back(client: Client, project: Project, decision: Decision) -> Any:
    address = f"/p/{project.slug}/review/take-back/"
    return client.post(address, {"decision": decision.pk}, follow=True)


def test_the_latest_answer_stands_first_in_the_words_of_the_labels(project: Project) -> None:
    person = reviewer(project)
    label(project, person, "good", "bad")
    queued_items(project, 1)
    slot = claim(project, person)
    skip_item(project=project, user=person, item_id=slot.item_id, lease_token=slot.lease_token)

    assert [answer.words for answer in listed(project, person)] == ["Skipped", "bad", "good"]
    assert all(answer.stands for answer in listed(project, person))


def test_many_answers_take_one_query(project: Project, django_assert_num_queries: Any) -> None:
    person = reviewer(project)
    label(project, person, *["good"] * 7)

    with django_assert_num_queries(1):
        found = past_answers(project, person)
        assert all(answer.decision.item.text for answer in found.answers)


def test_an_answer_of_long_ago_is_taken_back_and_its_item_comes_first(project: Project) -> None:
    person = reviewer(project)
    old, *_ = label(project, person, "good", "bad", "good")
    queued_items(project, 3)
    client = browser_of(person)
    client.get(f"/p/{project.slug}/review/")  # a tab that holds another item

    page = take_back(client, project, old)

    assert f'data-item="{old.item_id}"' in page.content.decode()
    assert "Undone." in page.content.decode()
    assert Label.objects.current().filter(item=old.item_id).count() == 0
    assert Draft.objects.get(user=person).fields["value"] == ["good"]
    assert Label.objects.current().count() == 2  # the others stand


def test_nobody_chooses_items_by_the_address_that_they_have_not_begun(project: Project) -> None:
    items = queued_items(project, 4)

    page = browser_of(reviewer(project)).get(f"/p/{project.slug}/review/?item={items[3].pk}")

    assert f'data-item="{items[3].pk}"' not in page.content.decode()


def test_an_answer_to_what_was_settled_meanwhile_stands(project: Project) -> None:
    """Taken back it would be lost: the item waits for nobody, so nobody is asked anew."""
    person, other = reviewer(project), reviewer(project)
    Project.objects.filter(pk=project.pk).update(overlap=2)
    (item,) = queued_items(project, 1)
    ItemState.objects.filter(item=item).update(required_labels=2)
    project.refresh_from_db()
    mine = answer(claim(project, person), person, "good").decision
    answer(claim(project, other), other, "bad")
    judge = expert(project)
    adjudicate(project=project, user=judge, item_id=item.pk, ruling=Ruling(value="bad"))

    page = take_back(browser_of(person), project, mine)

    assert "your answer stays as it is" in page.content.decode()
    assert page.redirect_chain[-1][0] == f"/p/{project.slug}/mine/"
    assert Label.objects.current().filter(item=item, annotator__user=person).exists()
    assert Decision.objects.get(pk=mine.pk).undone_at is None
    assert not Slot.objects.filter(holder=person, label__isnull=True).exists()
    assert not Draft.objects.exists()


def test_nobody_takes_back_what_another_answered(project: Project) -> None:
    (decision,) = label(project, reviewer(project), "good")

    page = take_back(browser_of(reviewer(project)), project, decision)

    assert "was already undone" in page.content.decode()
    assert Label.objects.current().get() == decision.label
