"""At which sites anything has happened that Echo is to write down or learn: some queries for all
sites, so that the others cost nothing."""

from datetime import datetime, timedelta

from django.db.models import F, Q

from apps.echo.models import Echo
from apps.echo.services.gathering import untold_answers
from apps.echo.services.rewarding import untold_offers
from apps.echo.services.withdrawing import (
    doubtful_rewards,
    fallen_answers,
    withdrawn_of_believed,
)

#: There is something to learn, or something to forget.
DUE = Q(logged__gt=F("learnt")) | Q(erased__gt=0)


def echoes_with_news(now: datetime, within: timedelta, *, trust: bool) -> set[int]:
    """The keys of those whose log or state is behind.

    Args:
        now: answers and offers are old enough then, or not.
        within: for so long what has happened is looked back at.
        trust: look as well whose word counts no more, or again.
    """
    on = {"question__site__echo__on": True}
    answers = untold_answers(now, within).filter(**on).order_by()
    found = set(answers.values_list("question__site", flat=True).distinct())
    for offers in untold_offers(now, within):
        told = offers.filter(echo__on=True).order_by()
        found |= set(told.values_list("echo", flat=True).distinct())
    found |= set(Echo.objects.filter(DUE).values_list("pk", flat=True))
    return found | _with_other_trust() if trust else found


def _with_other_trust() -> set[int]:
    answers = fallen_answers().order_by().values_list("question__site", flat=True)
    found = set(answers.distinct())
    for events in (doubtful_rewards(), withdrawn_of_believed()):
        found |= set(events.order_by().values_list("echo", flat=True).distinct())
    return found
