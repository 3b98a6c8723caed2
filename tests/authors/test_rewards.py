"""Rewards: each answer earns once, within caps, for people the host knows, paid after a while."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.authors.errors import TooLate
from apps.authors.models import Author, Payout, Question, Reward, Site
from apps.authors.services.answers import undo
from apps.authors.services.rewards import balance, pay_out
from apps.authors.services.trust import set_ruling
from labelhub.core.errors import Conflict
from tests.factories.authors import answered_by, author_of, site_with_features
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def paying(**fields: Any) -> Site:
    return site_with_features(**({"reward_cents": 5} | fields))


def answer(author: Author, number: str) -> None:
    answered_by(author, f"I need a warm lamp for my tent, number {number}.")
    Author.objects.filter(pk=author.pk).update(proven=True)


def test_an_answer_earns_what_the_site_gives() -> None:
    author = author_of(paying(), "customer")
    answer(author, "1")
    reward = Reward.objects.get()
    assert (reward.cents, reward.currency) == (5, "USD")
    assert reward.due_at - reward.credited_at == timedelta(days=7)
    assert balance(author) == (5, 5)


@pytest.mark.parametrize(
    ("proven", "ruling", "paid"),
    [(False, None, False), (True, None, True), (False, True, True), (True, False, False)],
)
def test_nobody_is_paid_of_whom_too_little_is_known_unless_a_manager_trusts_them(
    proven: bool, ruling: bool | None, paid: bool
) -> None:
    site = paying(reward_hold_days=0)
    author = author_of(site, "customer")
    answer(author, "1")
    Author.objects.update(proven=proven, ruling=ruling)
    Reward.objects.update(due_at=timezone.now())
    assert Reward.objects.due(timezone.now()).exists() is paid
    assert balance(author) == (5, 0 if paid else 5)


def test_who_is_nobody_in_particular_earns_nothing() -> None:
    answer(author_of(paying()), "1")
    assert not Reward.objects.exists()


def test_nothing_is_earned_above_the_caps() -> None:
    author = author_of(paying(reward_daily_cents=12), "customer")
    for number in range(4):
        answer(author, str(number))
    assert [reward.cents for reward in Reward.objects.all()] == [5, 5, 2]
    Reward.objects.update(credited_at=timezone.now() - timedelta(days=2))
    author.site.reward_total_cents = 14
    author.site.save()
    answer(author, "next day")
    assert balance(author)[0] == 14


def test_what_is_taken_back_earns_nothing() -> None:
    author = author_of(paying(), "customer")
    answer(author, "1")
    undo(author, Question.objects.get().uid)
    assert balance(author) == (0, 0)
    assert Reward.objects.get().void_for == "taken back"


def test_who_is_excluded_loses_what_was_not_paid_and_gets_it_back() -> None:
    author = author_of(paying(), "customer")
    answer(author, "1")
    set_ruling(author, trusted=False, reason="Sold answers.")
    assert balance(author) == (0, 0)
    set_ruling(author, trusted=True)
    assert balance(author) == (5, 5)


def test_only_what_was_held_long_enough_is_paid() -> None:
    site = paying()
    author = author_of(site, "customer")
    answer(author, "1")
    with pytest.raises(Conflict, match="No reward is due"):
        pay_out(site, None)
    Reward.objects.update(due_at=timezone.now())
    answer(author, "2")
    payout = pay_out(site, None)
    assert (payout.cents, payout.rewards) == (5, 1)
    assert balance(author) == (10, 5)


def test_what_is_paid_cannot_be_taken_back_and_stays_paid() -> None:
    site = paying(reward_hold_days=0)
    author = author_of(site, "customer")
    answer(author, "1")
    with pytest.raises(Conflict, match="No reward is due"):  # it can still be undone
        pay_out(site, None)
    Reward.objects.update(due_at=timezone.now())
    pay_out(site, None)
    with pytest.raises(TooLate, match="paid"):
        undo(author, Question.objects.get().uid)
    set_ruling(author, trusted=False, reason="Too late.")
    assert Reward.objects.get().void_at is None
    assert balance(author)[0] == 5


def test_what_was_earned_in_another_currency_does_not_come_back_in_this_one() -> None:
    site = paying()
    author = author_of(site, "customer")
    answer(author, "1")
    set_ruling(author, trusted=False, reason="?")
    site.currency = "EUR"
    site.save()
    set_ruling(author, trusted=True)
    assert balance(author)[0] == 0


@pytest.mark.django_db(transaction=True)
def test_two_payouts_at_once_pay_once() -> None:
    site = paying()
    author = author_of(site, "customer")
    answer(author, "1")
    Reward.objects.update(due_at=timezone.now())

    def refused(_: int) -> bool:
        try:
            pay_out(site, None)
        except Conflict:
            return True
        return False

    assert sorted(at_once(refused, 3)) == [False, True, True]
    assert Payout.objects.get().cents == 5
