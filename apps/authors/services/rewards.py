"""Rewards: each answer earns once, within limits, and is paid after some days."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Answer, Author, Payout, Reward, Site
from apps.authors.querysets import is_due
from apps.authors.selectors.authors import payout_lines
from apps.authors.services.limits import day_cents_before, total_cents_before
from apps.authors.services.locking import lock_site, retry_on_deadlock
from apps.common.audit import Action, record
from apps.common.spreadsheets import csv_text
from labelhub.core.errors import Conflict

#: An answer can no longer be undone after this time.
SETTLED_AFTER = timedelta(seconds=10)


def credit(answer: Answer) -> Reward | None:
    """Credit the reward of an answer; None if it earns nothing.

    Anonymous authors earn nothing (they cannot be paid, and rewards attract fraud), nor do answers
    that only the widget timed or that came too late, nor rewards above the limits. Runs in the
    transaction that stores the answer, so that it is credited once or not at all.
    """
    author, site = answer.author, answer.question.site
    timed = answer.timing == Answer.Timing.SERVER and not answer.late
    if not (site.reward_cents and author.verified and author.counts and timed):
        return None
    # The caller has locked the author, so that two tabs cannot both stay below the limit.
    cents = min(site.reward_cents, _room(author, site, answer.received_at))
    if cents <= 0:
        return None
    return Reward.objects.create(
        answer=answer,
        author=author,
        site=site,
        cents=cents,
        currency=site.currency,
        credited_at=answer.received_at,
        # Never while the answer can still be undone.
        due_at=answer.received_at + max(timedelta(days=site.reward_hold_days), SETTLED_AFTER),
    )


def void(answer: Answer, why: str) -> bool:
    """Void the reward of an answer; False if it is already paid."""
    standing = Reward.objects.filter(answer=answer, void_at__isnull=True)
    standing.filter(payout__isnull=True).update(void_at=timezone.now(), void_for=why[:300])
    return not standing.exists()


def restore(answer: Answer) -> None:
    """Restore the reward of an answer that counts again, in the site's present currency and within
    its present limits."""
    reward = Reward.objects.filter(answer=answer).first()
    if reward is None:
        credit(answer)
        return
    site = answer.question.site
    fits = reward.cents <= _room(answer.author, site, answer.received_at)
    if reward.payout_id is None and reward.currency == site.currency and fits:
        Reward.objects.filter(pk=reward.pk).update(void_at=None, void_for="")


@retry_on_deadlock
@transaction.atomic
def pay_out(site: Site, actor: User | None) -> Payout:
    """Collect all due rewards in one payout, for the host to pay; each reward once.

    Raises:
        Conflict: no reward is due.
    """
    lock_site(site)
    payout = Payout.objects.create(site=site, cents=0, rewards=0, created_by=actor)
    # A reward voided meanwhile may or may not be in the payout; the sum is of those that are.
    due = Reward.objects.filter(site=site).due(timezone.now())
    ids = list(due.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
    due.filter(pk__in=ids).update(payout=payout)
    taken = payout.paid.aggregate(cents=Sum("cents"), count=Count("pk"))
    if not taken["count"]:
        raise Conflict(
            "No reward is due yet: each one is held for some days after the answer, and until "
            "its author has given enough answers to be judged."
        )
    payout.cents, payout.rewards = taken["cents"], taken["count"]
    payout.save(update_fields=["cents", "rewards"])
    sums = {"cents": (None, payout.cents), "rewards": (None, payout.rewards)}
    record(Action.PAYOUT_CREATED, site, changes=sums)
    return payout


def balance(author: Author) -> tuple[int, int]:
    """Cents that an author has earned in total, and how many of them are still held."""
    standing = Reward.objects.filter(author=author).standing()
    held = standing.filter(~is_due(timezone.now()), payout__isnull=True)
    return standing.cents(), held.cents()


def _room(author: Author, site: Site, now: datetime) -> int:
    standing = Reward.objects.filter(author=author).standing()
    today = standing.filter(credited_at__gt=now - timedelta(days=1))
    earned_today = today.cents() + day_cents_before(author, now)
    earned = standing.cents() + total_cents_before(author, now)
    return min(site.reward_daily_cents - earned_today, site.reward_total_cents - earned)


COLUMNS = ("author", "pseudonym", "amount", "currency", "answers")


def payout_csv(payout: Payout) -> str:
    """A header, then a line for each author and currency; ``author`` is the host's id."""
    rows = (
        (
            line["subject"],
            line["pseudonym"],
            f"{line['cents'] // 100}.{line['cents'] % 100:02d}",
            line["currency"],
            line["answers"],
        )
        for line in payout_lines(payout)
    )
    return csv_text(COLUMNS, rows)
