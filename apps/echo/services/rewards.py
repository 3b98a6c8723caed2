"""Rewards in the log: what became of offers, and of the features at a site's own downstream task.

An offer has one reward for its click, and one more for what was said of it. A click is logged at
once; that there was none, once the time for one is over. A site's server sends the outcomes of its
own task. Credit goes to the features that were shown, each by the chance that it was predicted
rightly; where its author has answered about it since, that is known. Offers of other arms say
nothing of relevance.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from apps.authors.errors import TooLate
from apps.authors.models import Answer
from apps.authors.services.locking import lock_author
from apps.authors.services.messages import stable_ref
from apps.echo.models import Decision, Echo, LogEvent, OfferEvent, Selection
from apps.echo.services.logging import log
from apps.echo.values import value_of
from labelhub.core.echo.events import CLICK, HELPFUL, TASK, Event, Rewarded
from labelhub.core.echo.recommending.policies import ECHO
from labelhub.core.errors import Conflict, NotFound

#: Offers that are told of at once, and how long after they were shown they are looked at; for so
#: long a selection takes outcomes, too.
AT_ONCE, WITHIN = 200, timedelta(days=7)
#: Outcomes that a selection takes: its own must not drown those of others.
MOST_OUTCOMES = 10
SAID = (OfferEvent.Kind.HELPFUL, OfferEvent.Kind.NOT_HELPFUL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reward as it stands; ``fresh`` unless it had been told before."""

    value: float
    fresh: bool


def untold_offers(now: datetime, within: timedelta) -> "tuple[QuerySet[Any], QuerySet[Any]]":
    """Offers of Echo's own at all sites, shown so lately, of which a log is to be told: whether
    they were ``clicked``, once that is settled; and whether they helped."""
    clicks = OfferEvent.objects.filter(decision=OuterRef("pk"), kind=OfferEvent.Kind.CLICKED)
    due = _shown(now - within, "reward-").annotate(clicked=Exists(clicks))
    said = OfferEvent.objects.filter(decision=OuterRef("pk"), kind__in=SAID)
    return (
        due.filter(Q(clicked=True) | _over(now)),
        _shown(now - within, "helpful-").filter(Exists(said)),
    )


def _over(now: datetime) -> Q:
    """That the time for a click is over, which each site sets for itself in minutes."""
    settings = Echo.objects.order_by().values_list("reward_minutes", flat=True).distinct()
    since = {minutes: now - timedelta(minutes=minutes) for minutes in settings}
    return reduce(
        or_,
        (Q(echo__reward_minutes=minutes, shown_at__lt=at) for minutes, at in since.items()),
        Q(pk=None),
    )


def gather_rewards(echo: Echo, now: datetime) -> int:
    """Write what became of offers since into the log; how many events."""
    settled, asked = (
        offers.filter(echo=echo).select_related(*_RELATED) for offers in untold_offers(now, WITHIN)
    )
    events = [
        _rewarded(decision, f"reward-{decision.pk}", float(decision.clicked), CLICK)
        for decision in settled[:AT_ONCE]
    ]
    for decision in asked.prefetch_related("events")[:AT_ONCE]:
        first = next(each for each in decision.events.all() if each.kind in SAID)
        value = float(first.kind == OfferEvent.Kind.HELPFUL)
        events.append(_rewarded(decision, f"helpful-{decision.pk}", value, HELPFUL))
    return log(echo, events)


_RELATED = ("author", "selection", "message")


def _shown(since: datetime, prefix: str) -> "QuerySet[Any]":
    """Offers of Echo's own, shown since then, that their log knows nothing of under that name."""
    ref = Concat(Value(prefix), Cast(F("pk"), CharField()))
    known = LogEvent.objects.filter(echo=OuterRef("echo"), ref=OuterRef("told_as"))
    shown = Decision.objects.filter(policy=ECHO, selection__isnull=False, shown_at__gt=since)
    return shown.annotate(told_as=ref).filter(~Exists(known)).order_by("shown_at", "pk")


@transaction.atomic
def tell_outcome(selection: Selection, ref: str, value: float, now: datetime) -> Outcome:
    """Write a reward into the log, once; whatever is told again, the first stands.

    Args:
        selection: with its Echo.
        ref: the sender's id of it, of any length.
        value: 0 (of no use) to 1.

    Raises:
        NotFound: the author's data was deleted.
        TooLate: the selection is older than :data:`WITHIN`.
        Conflict: it has had :data:`MOST_OUTCOMES` rewards.
    """
    # Of an author one after the other, and none after their data was deleted.
    author = lock_author(selection.author_id)
    if author is None:
        raise NotFound("There is no such selection.")
    begun = f"outcome-{selection.pk}-"
    name = f"{begun}{stable_ref(ref)[:24]}"
    told = LogEvent.objects.filter(
        echo=selection.echo_id, author=author.pk, ref__startswith=begun
    ).values_list("ref", "data")
    known = dict(told[: MOST_OUTCOMES + 1])
    if name in known:
        return Outcome(float(known[name]["value"]), fresh=False)
    if now - selection.at > WITHIN:
        raise TooLate(f"A selection is rewarded within {WITHIN.days} days.")
    if len(known) >= MOST_OUTCOMES:
        raise Conflict(f"This selection has had {MOST_OUTCOMES} rewards; no more are taken.")
    event = Rewarded(
        id=name,
        author=author.uid.hex,
        trusted=author.counts,
        shown=credit_of(selection),
        value=value,
        signal=TASK,
    )
    log(selection.echo, [(event, author.pk)], at=now)
    return Outcome(value, fresh=True)


def credit_of(selection: Selection) -> tuple[tuple[str, float], ...]:
    """The features that went downstream, each with the chance that it was predicted rightly."""
    known, told = _known_right(selection), selection.predicted
    return tuple((key, known.get(key, 1 - told[key]["sigma"])) for key in selection.selected)


def _rewarded(decision: Decision, ref: str, value: float, signal: str) -> tuple[Event, int | None]:
    selection = decision.selection
    event = Rewarded(
        id=ref,
        author=decision.author.uid.hex,
        trusted=decision.author.counts,
        shown=credit_of(selection) if selection is not None else (),
        value=value,
        signal=signal,
    )
    return event, decision.author_id


def _known_right(selection: Selection) -> dict[str, float]:
    """Of the features whose author has answered about this message: whether it was right."""
    if selection.message_id is None:
        return {}
    answers = Answer.objects.standing().filter(question__message=selection.message_id)
    right = {}
    for answer in answers.select_related("question__feature"):
        key = answer.question.feature.key
        told = selection.predicted.get(key)
        if told is not None:
            right[key] = float(value_of(answer) == told["value"])
    return right
