"""/sites/<id>/rewards/: what is owed, and the file the host pays by."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.authors.models import Author, Payout, Reward, Site
from apps.authors.selectors.authors import rewards_owed
from tests.authors.pages.reading import page, words
from tests.factories.authors import answered_by, author_of, site_with_features

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return site_with_features(name="Corner shop", reward_cents=5)


def earn(author: Author, *, days_ago: int = 8) -> Reward:
    """One answer, so many days ago."""
    number = Reward.objects.count()
    answered_by(author, f"I am looking for tent number {number}.")
    reward = Reward.objects.latest("pk")
    Reward.objects.filter(pk=reward.pk).update(due_at=timezone.now() + timedelta(days=7 - days_ago))
    Author.objects.update(proven=True)
    return reward


def rows(response: object) -> list[list[str]]:
    content: bytes = response.content  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(content.decode())))


def test_a_payout_is_a_file_of_whom_to_pay_how_much(manager: Client, site: Site) -> None:
    for name in ("customer-2", "customer-1", "customer-1"):
        earn(author_of(site, name))
    manager.post(page(site, "rewards/pay/"))
    payout = Payout.objects.get()
    assert (payout.cents, payout.rewards) == (15, 3)
    response = manager.get(page(site, f"payouts/{payout.pk}/"))
    assert "attachment" in response["Content-Disposition"]
    header, first, second = rows(response)
    assert header == ["author", "pseudonym", "amount", "currency", "answers"]
    assert [first[0], *first[2:]] == ["customer-1", "0.10", "USD", "2"]
    assert [second[0], *second[2:]] == ["customer-2", "0.05", "USD", "1"]


def test_what_is_void_is_neither_held_nor_due(site: Site) -> None:
    earn(author_of(site, "customer"))
    Reward.objects.update(void_at=timezone.now())
    found = {item["state"]: item["cents"] for item in rewards_owed(site, timezone.now())}
    assert found == {"held": 0, "due": 0, "paid": 0, "void": 5}


def test_held_due_and_paid_are_told_apart(manager: Client, site: Site) -> None:
    author = author_of(site, "customer")
    earn(author)
    earn(author, days_ago=0)
    shown = words(manager.get(page(site, "rewards/")))
    assert "Held 0.05 USD 1 answer, 1 author Due 0.05 USD 1 answer, 1 author Paid 0.00" in shown
    german = words(manager.get(page(site, "rewards/"), headers={"Accept-Language": "de"}))
    assert "0,05 USD" in german
