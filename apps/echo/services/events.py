"""The log of events: numbered without gaps, each event once.

The worker looks up answers and offers, so that nothing waits for the log. It logs an answer when
its author can no longer undo it. An offer has a reward for its click, or for being dismissed
instead, and another one for its rating; a few also have their author's answer to what mattered
most. A site's server sends the results of its own task. The features of a selection get the credit,
each by the probability that its prediction was right, or by the author's answer if there is one.
Offers of other arms do not teach relevance. An event is
withdrawn if its answer is no longer valid or its author no longer believed, and restored when both
are again.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    CharField,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Cast, Concat
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from apps.authors.errors import TooLate
from apps.authors.models import Answer, Author
from apps.authors.querysets import counting_authors
from apps.authors.services.answers import UNDO_WITHIN
from apps.authors.services.locking import lock_author
from apps.authors.services.messages import stable_ref
from apps.echo.models import Decision, Echo, LogEvent, OfferEvent, Scored, Selection
from apps.echo.selectors.learning import withdrawals
from apps.echo.selectors.predictions import value_of
from labelhub.core.echo.events import (
    CLICK,
    HELPFUL,
    TASK,
    Answered,
    Event,
    Expected,
    Named,
    Restored,
    Rewarded,
    Withdrawn,
    kind_of,
    to_json,
)
from labelhub.core.echo.recommending.policies import ECHO
from labelhub.core.echo.vectors import distance, vector_of
from labelhub.core.errors import Conflict, NotFound


@transaction.atomic
def log_events(
    echo: Echo,
    events: Sequence[tuple[Event, int | None]],
    *,
    logged_at: datetime | None = None,
) -> list[LogEvent]:
    """Log events with the keys of their authors; returns the new ones.

    Locks the row of ``echo``: no event can get a number below one that was already learnt.
    """
    if not events:
        return []
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    refs = [event.id for event, _ in events]
    known = set(locked.log.filter(ref__in=refs).values_list("ref", flat=True))
    rows = []
    for event, author in events:
        if event.id not in known:
            known.add(event.id)
            locked.logged += 1
            rows.append(
                LogEvent(
                    echo=locked,
                    number=locked.logged,
                    ref=event.id,
                    kind=kind_of(event),
                    feature=event.feature if isinstance(event, Answered | Expected) else "",
                    about=event.about if isinstance(event, Withdrawn | Restored) else "",
                    author_id=author,
                    data=to_json(event),
                    at=logged_at or timezone.now(),
                )
            )
    LogEvent.objects.bulk_create(rows)
    if rows:
        locked.save(update_fields=["logged"])
    echo.logged = locked.logged
    return rows


#: Events per write.
AT_ONCE = 200
#: How far back answers and offers are looked up, and how long selections take results.
WITHIN = timedelta(days=7)
#: Prefix of the ref of an answer's event.
ANSWER = "answer-"


class _HasKey(Func):
    """Whether a JSON object has a key; both are columns. Feature keys need no escaping."""

    function = "jsonb_exists"
    output_field = BooleanField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Any:
        """The expression for SQLite."""
        return self.as_sql(
            compiler,
            connection,
            template="(JSON_TYPE(%(expressions)s || '\"') IS NOT NULL)",
            arg_joiner=", '$.\"' || ",
            **context,
        )


def unlogged_answers(now: datetime, within: timedelta) -> QuerySet[Any, Any]:
    """Valid recent answers of all sites to questions that Echo had predicted, and that are not in
    the log yet."""
    refs = LogEvent.objects.filter(echo=OuterRef("question__site"), ref=OuterRef("log_ref"))
    return answers_with_ref().filter(
        ~Exists(refs),
        _HasKey("question__message__selection__predicted", "question__feature__key"),
        undone_at__isnull=True,
        excluded_at__isnull=True,
        question__reask_of__isnull=True,
        received_at__lt=now - UNDO_WITHIN,
        received_at__gt=now - min(within, WITHIN),
        question__site__echo__created_at__lt=F("received_at"),
    )


def answers_with_ref() -> QuerySet[Any, Any]:
    """Answers of all sites, each with the ref of its event as ``log_ref``."""
    ref = Concat(Value(ANSWER), Cast(F("pk"), CharField()))
    return Answer.objects.annotate(log_ref=ref)


@transaction.atomic
def gather_answers(echo: Echo, now: datetime) -> int:
    """Log new answers and the losses of their predictions; returns the number of events."""
    unlogged = unlogged_answers(now, WITHIN).filter(question__site=echo.site_id)
    related = ("question__feature", "question__message__selection", "author")
    fresh = unlogged.select_related(*related).order_by("received_at", "pk")[:AT_ONCE]
    news = {answer.log_ref: answer for answer in fresh}
    rows = log_events(echo, [(_answer_event(answer), answer.author_id) for answer in news.values()])
    Scored.objects.bulk_create(
        Scored(
            event=row,
            echo=echo,
            number=row.number,
            feature=row.feature,
            loss=row.data["loss"],
            sigma=news[row.ref].question.message.selection.predicted[row.feature]["sigma"],
        )
        for row in rows
    )
    return len(rows)


def _answer_event(answer: Answer) -> Answered:
    """The event of an answer to a question that Echo had predicted.

    Its loss is 0 for a match, 1 for none, and for free text the cosine distance (paper 004, 3.4.1).
    The predicted value is always among the options, so "None of these" means that it was wrong.
    """
    question = answer.question
    predicted = question.message.selection.predicted[question.feature.key]
    values, value = question.feature.parsed.values, value_of(answer)
    closed, expected = bool(values) or not value, predicted["value"]
    shares = predicted.get("told") or {}
    return Answered(
        id=f"{ANSWER}{answer.pk}",
        author=answer.author.uid.hex,
        trusted=answer.author.counts,
        feature=question.feature.key,
        value=value,
        predicted=expected,
        loss=float(expected != value) if closed else distance(expected, value),
        signs=tuple(predicted["signs"]),
        vector=vector_of(question.message.text),
        values=values,
        llm_value=predicted["said"],
        # The values may have changed since.
        llm_shares=tuple(shares[name] for name in values) if set(shares) == set(values) else (),
    )


#: Maximum number of results per selection, so that one does not outweigh the others.
MOST_OUTCOMES = 10
RATINGS = (OfferEvent.Kind.HELPFUL, OfferEvent.Kind.NOT_HELPFUL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A logged reward; ``fresh``: it was new."""

    value: float
    fresh: bool


def unlogged_offers(
    now: datetime, within: timedelta
) -> "tuple[QuerySet[Any], QuerySet[Any], QuerySet[Any]]":
    """Recently shown offers of Echo at all sites that the log does not know yet: those whose click
    is settled (with ``clicked`` and ``dismissed``), those with a rating, and those whose author has
    said what mattered most (``named``)."""
    events = OfferEvent.objects.filter(decision=OuterRef("pk"))
    due = _shown(now - within, "reward-").annotate(
        clicked=Exists(events.filter(kind=OfferEvent.Kind.CLICKED)),
        dismissed=Exists(events.filter(kind=OfferEvent.Kind.DISMISSED)),
    )
    ratings = events.filter(kind__in=RATINGS)
    # Each site has its own waiting time for clicks.
    settled = Q(clicked=True)
    for minutes in Echo.objects.order_by().values_list("reward_minutes", flat=True).distinct():
        latest = now - timedelta(minutes=minutes)
        settled |= Q(echo__reward_minutes=minutes, shown_at__lt=latest)
    return (
        due.filter(settled),
        _shown(now - within, "helpful-").filter(Exists(ratings)),
        _shown(now - within, "named-")
        .filter(events__kind=OfferEvent.Kind.NAMED)
        .annotate(named=F("events__feature")),
    )


def gather_rewards(echo: Echo, now: datetime) -> int:
    """Log new results of offers; returns the number of events."""
    settled, rated, named = (
        offers.filter(echo=echo).select_related("author", "selection", "message")[:AT_ONCE]
        for offers in unlogged_offers(now, WITHIN)
    )
    rewards = [
        (
            decision,
            f"reward-{decision.pk}",
            float(decision.clicked),
            CLICK,
            None if decision.clicked else decision.dismissed,
        )
        for decision in settled
    ]
    for decision in rated.prefetch_related("events"):
        first = next(event for event in decision.events.all() if event.kind in RATINGS)
        value = float(first.kind == OfferEvent.Kind.HELPFUL)
        rewards.append((decision, f"helpful-{decision.pk}", value, HELPFUL, None))
    events: list[tuple[Event, int | None]] = [
        (
            _rewarded(
                decision.selection, decision.author, ref, value, signal=signal, dismissed=dismissed
            ),
            decision.author_id,
        )
        for decision, ref, value, signal, dismissed in rewards
    ]
    events += [(_named(decision), decision.author_id) for decision in named]
    return len(log_events(echo, events))


def _shown(since: datetime, prefix: str) -> "QuerySet[Any]":
    """Offers of Echo, shown since then, without a logged event of this prefix."""
    ref = Concat(Value(prefix), Cast(F("pk"), CharField()))
    known = LogEvent.objects.filter(echo=OuterRef("echo"), ref=OuterRef("log_ref"))
    shown = Decision.objects.filter(policy=ECHO, selection__isnull=False, shown_at__gt=since)
    return shown.annotate(log_ref=ref).filter(~Exists(known)).order_by("shown_at", "pk")


@transaction.atomic
def record_outcome(selection: Selection, ref: str, value: float, now: datetime) -> Outcome:
    """Log a reward once; a repeated ``ref`` keeps the first value.

    Args:
        selection: with its Echo.
        ref: the sender's id of the reward, of any length.
        value: 0 (no use) to 1.

    Raises:
        NotFound: the author's data was deleted.
        TooLate: the selection is older than :data:`WITHIN`.
        Conflict: it already has :data:`MOST_OUTCOMES` rewards.
    """
    # One reward per author at a time, and none after their data was deleted.
    author = lock_author(selection.author_id)
    if author is None:
        raise NotFound("There is no such selection.")
    begun = f"outcome-{selection.pk}-"
    name = f"{begun}{stable_ref(ref)[:24]}"
    logged = LogEvent.objects.filter(
        echo=selection.echo_id, author=author.pk, ref__startswith=begun
    ).values_list("ref", "data")
    known = dict(logged[: MOST_OUTCOMES + 1])
    if name in known:
        return Outcome(float(known[name]["value"]), fresh=False)
    if now - selection.at > WITHIN:
        raise TooLate(f"A selection takes rewards for {WITHIN.days} days.")
    if len(known) >= MOST_OUTCOMES:
        raise Conflict(f"This selection already has {MOST_OUTCOMES} rewards, the maximum.")
    event = _rewarded(selection, author, name, value, signal=TASK)
    log_events(selection.echo, [(event, author.pk)], logged_at=now)
    return Outcome(value, fresh=True)


def _rewarded(
    selection: Selection, author: Author, ref: str, value: float, **kind: Any
) -> Rewarded:
    """A reward of the selected features. ``kind``: as of :class:`Rewarded`."""
    return Rewarded(
        id=ref,
        author=author.uid.hex,
        trusted=author.counts,
        shown=tuple(_chances(selection).items()),
        value=value,
        **kind,
    )


def _named(decision: Any) -> Named:
    """What the author of an offer, with ``named``, has said to matter most."""
    chances = _chances(decision.selection)
    return Named(
        id=f"named-{decision.pk}",
        author=decision.author.uid.hex,
        trusted=decision.author.counts,
        shown=tuple((key, chances[key]) for key in decision.mattered_keys),
        named=decision.named,
    )


def _chances(selection: Selection) -> dict[str, float]:
    """The probability that the prediction of each selected feature was right: 1 or 0 if the author
    has answered about it."""
    right = {key: 1 - selection.predicted[key]["sigma"] for key in selection.selected}
    if selection.message_id is not None:
        answers = Answer.objects.standing().filter(question__message=selection.message_id)
        for answer in answers.select_related("question__feature"):
            if (key := answer.question.feature.key) in right:
                right[key] = float(value_of(answer) == selection.predicted[key]["value"])
    return right


def invalid_answers() -> QuerySet[Any, Any]:
    """Answers of all sites that the log counts, but that are no longer valid."""
    answered = LogEvent.objects.filter(
        echo=OuterRef("question__site"), ref=OuterRef("log_ref"), kind=LogEvent.Kind.ANSWERED
    )
    withdrawn = withdrawals().filter(echo=OuterRef("question__site"), about=OuterRef("log_ref"))
    # Two lists that the database can look up, instead of a condition on all answers.
    excluded = Answer.objects.filter(excluded_at__isnull=False).values("pk")
    undone = Answer.objects.filter(undone_at__isnull=False).values("pk")
    return answers_with_ref().filter(
        Q(pk__in=excluded) | Q(pk__in=undone), Exists(answered), ~Exists(withdrawn)
    )


def doubtful_rewards() -> QuerySet[LogEvent]:
    """Rewards of all sites that count, and what was named as what mattered most, whose authors are
    no longer believed."""
    doubted = Author.objects.exclude(counting_authors()).values("pk")
    withdrawn = withdrawals().filter(echo=OuterRef("echo"), about=OuterRef("ref"))
    kinds = (LogEvent.Kind.REWARDED, LogEvent.Kind.NAMED)
    rewards = LogEvent.objects.filter(author__in=doubted, kind__in=kinds)
    return rewards.filter(~Exists(withdrawn), data__trusted=True)


def withdrawn_of_believed() -> QuerySet[LogEvent]:
    """Withdrawals of all sites that were not restored, although their author is believed."""
    return withdrawals().filter(counting_authors("author"))


@transaction.atomic
def withdraw_invalid(echo: Echo) -> int:
    """Withdraw events of invalid answers and of authors not believed; returns their number."""
    answers = invalid_answers().filter(question__site=echo.site_id)
    refs = list(answers.values_list("log_ref", "author")[:AT_ONCE])
    rewards = doubtful_rewards().filter(echo=echo)
    refs += list(rewards.values_list("ref", "author")[:AT_ONCE])
    _let_stand(echo, [ref for ref, _ in refs], stands=False)
    events = [(Withdrawn(f"withdrawn-{uuid.uuid4().hex}", ref), author) for ref, author in refs]
    return len(log_events(echo, events))


@transaction.atomic
def restore_valid(echo: Echo) -> int:
    """Restore withdrawn events of authors who are believed again; returns their number."""
    withdrawn = dict(withdrawn_of_believed().filter(echo=echo).values_list("about", "author"))
    answers = [int(ref.removeprefix(ANSWER)) for ref in withdrawn if ref.startswith(ANSWER)]
    standing = Answer.objects.filter(pk__in=answers, excluded_at__isnull=True).standing()
    stands = {f"{ANSWER}{pk}" for pk in standing.values_list("pk", flat=True)}
    refs = [ref for ref in withdrawn if ref in stands or not ref.startswith(ANSWER)][:AT_ONCE]
    _let_stand(echo, refs, stands=True)
    events = [(Restored(f"restored-{uuid.uuid4().hex}", ref), withdrawn[ref]) for ref in refs]
    return len(log_events(echo, events))


def _let_stand(echo: Echo, refs: Sequence[str], *, stands: bool) -> None:
    """Set whether pages count the predictions of these answers."""
    Scored.objects.filter(echo=echo, event__ref__in=refs).update(stands=stands)
