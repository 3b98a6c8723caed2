"""The log of events: numbered without gaps, each event once.

The worker looks up answers and offers, so that nothing waits for the log. It logs an answer when
its author can no longer undo it. An offer has a reward for its click, and another one for its
rating; a site's server sends the results of its own task. The features of a selection get the
credit, each by the probability that its prediction was right, or by the author's answer if there is
one. Offers of other arms do not teach relevance. An event is withdrawn if its answer is no longer
valid or its author no longer believed, and restored when both are again.
"""

import uuid
from collections.abc import Mapping, Sequence
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
    Subquery,
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
from apps.echo.selectors.predictions import value_of
from labelhub.core.echo.events import (
    CLICK,
    HELPFUL,
    TASK,
    Answered,
    Event,
    Expected,
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
) -> int:
    """Log events with the keys of their authors; returns the number of new ones.

    Locks the row of ``echo``: no event can get a number below one that was already learnt.
    """
    if not events:
        return 0
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
    return len(rows)


#: Events per write.
AT_ONCE = 200
#: How far back answers and offers are looked up, and how long selections take results.
WITHIN = timedelta(days=7)
#: Prefix of the ref of an answer's event.
ANSWER = "answer-"
_RELATED = ("question__feature", "question__message__selection", "author")


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


def gather_answers(echo: Echo, now: datetime) -> int:
    """Log new answers and the losses of their predictions; returns the number of events."""
    unlogged = unlogged_answers(now, WITHIN).filter(question__site=echo.site_id)
    fresh = unlogged.select_related(*_RELATED).order_by("received_at", "pk")[:AT_ONCE]
    news = [(_answer_event(answer), answer) for answer in fresh]
    with transaction.atomic():
        count = log_events(echo, [(event, answer.author_id) for event, answer in news])
        sigmas = {
            event.id: answer.question.message.selection.predicted[event.feature]["sigma"]
            for event, answer in news
        }
        rows = echo.log.filter(ref__in=sigmas).values(
            "pk", "number", "feature", "ref", "data__loss"
        )
        scores = [
            Scored(
                event_id=row["pk"],
                echo=echo,
                number=row["number"],
                feature=row["feature"],
                loss=row["data__loss"],
                sigma=sigmas[row["ref"]],
            )
            for row in rows
        ]
        Scored.objects.bulk_create(scores, ignore_conflicts=True)
    return count


def _answer_event(answer: Answer) -> Answered:
    """The event of an answer to a question that Echo had predicted."""
    question = answer.question
    selection: Selection = question.message.selection
    predicted = selection.predicted[question.feature.key]
    values, value = question.feature.parsed.values, value_of(answer)
    return Answered(
        id=f"{ANSWER}{answer.pk}",
        author=answer.author.uid.hex,
        trusted=answer.author.counts,
        feature=question.feature.key,
        value=value,
        predicted=predicted["value"],
        loss=_loss(predicted["value"], value, closed=bool(values)),
        signs=tuple(predicted["signs"]),
        vector=vector_of(question.message.text),
        values=values,
        llm_value=predicted["said"],
        llm_shares=_llm_shares(predicted.get("told") or {}, values),
    )


def _llm_shares(shares: Mapping[str, float], values: Sequence[str]) -> tuple[float, ...]:
    """The language model's probability of each value; empty if the values have changed."""
    return tuple(shares[value] for value in values) if set(shares) == set(values) else ()


def _loss(predicted: str, value: str, *, closed: bool) -> float:
    """0 if they match, 1 if not; for free text the cosine distance (paper 004, 3.4.1).

    The predicted value is always among the options, so "None of these" means that it was wrong."""
    if closed or not value:
        return float(predicted != value)
    return distance(predicted, value)


#: Maximum number of results per selection, so that one does not outweigh the others.
MOST_OUTCOMES = 10
RATINGS = (OfferEvent.Kind.HELPFUL, OfferEvent.Kind.NOT_HELPFUL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A logged reward; ``fresh``: it was new."""

    value: float
    fresh: bool


def unlogged_offers(now: datetime, within: timedelta) -> "tuple[QuerySet[Any], QuerySet[Any]]":
    """Recently shown offers of Echo at all sites that the log does not know yet: those whose click
    is settled (with ``clicked``), and those with a rating."""
    clicks = OfferEvent.objects.filter(decision=OuterRef("pk"), kind=OfferEvent.Kind.CLICKED)
    due = _shown(now - within, "reward-").annotate(clicked=Exists(clicks))
    ratings = OfferEvent.objects.filter(decision=OuterRef("pk"), kind__in=RATINGS)
    # Each site has its own waiting time for clicks.
    settled = Q(clicked=True)
    for minutes in Echo.objects.order_by().values_list("reward_minutes", flat=True).distinct():
        latest = now - timedelta(minutes=minutes)
        settled |= Q(echo__reward_minutes=minutes, shown_at__lt=latest)
    return (
        due.filter(settled),
        _shown(now - within, "helpful-").filter(Exists(ratings)),
    )


def gather_rewards(echo: Echo, now: datetime) -> int:
    """Log new results of offers; returns the number of events."""
    settled, asked = (
        offers.filter(echo=echo).select_related(*_REWARD_RELATED)
        for offers in unlogged_offers(now, WITHIN)
    )
    events = [
        _reward_event(decision, f"reward-{decision.pk}", float(decision.clicked), CLICK)
        for decision in settled[:AT_ONCE]
    ]
    for decision in asked.prefetch_related("events")[:AT_ONCE]:
        first = next(event for event in decision.events.all() if event.kind in RATINGS)
        value = float(first.kind == OfferEvent.Kind.HELPFUL)
        events.append(_reward_event(decision, f"helpful-{decision.pk}", value, HELPFUL))
    return log_events(echo, events)


_REWARD_RELATED = ("author", "selection", "message")


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
    event = Rewarded(
        id=name,
        author=author.uid.hex,
        trusted=author.counts,
        shown=credit_of(selection),
        value=value,
        signal=TASK,
    )
    log_events(selection.echo, [(event, author.pk)], logged_at=now)
    return Outcome(value, fresh=True)


def credit_of(selection: Selection) -> tuple[tuple[str, float], ...]:
    """The selected features, each with the probability that its prediction was right."""
    known, predicted = _confirmed_predictions(selection), selection.predicted
    return tuple((key, known.get(key, 1 - predicted[key]["sigma"])) for key in selection.selected)


def _reward_event(
    decision: Decision, ref: str, value: float, signal: str
) -> tuple[Event, int | None]:
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


def _confirmed_predictions(selection: Selection) -> dict[str, float]:
    """For features with an answer about this message: 1 if the prediction was right, else 0."""
    if selection.message_id is None:
        return {}
    answers = Answer.objects.standing().filter(question__message=selection.message_id)
    right = {}
    for answer in answers.select_related("question__feature"):
        key = answer.question.feature.key
        prediction = selection.predicted.get(key)
        if prediction is not None:
            right[key] = float(value_of(answer) == prediction["value"])
    return right


_NOT_WITHDRAWN = Q(word__isnull=True) | ~Q(word=LogEvent.Kind.WITHDRAWN)


def invalid_answers() -> QuerySet[Any, Any]:
    """Answers of all sites that the log counts, but that are no longer valid."""
    answered = LogEvent.objects.filter(
        echo=OuterRef("question__site"), ref=OuterRef("log_ref"), kind=LogEvent.Kind.ANSWERED
    )
    # Two lists that the database can look up, instead of a condition on all answers.
    excluded = Answer.objects.filter(excluded_at__isnull=False).values("pk")
    undone = Answer.objects.filter(undone_at__isnull=False).values("pk")
    word = _last_word("question__site", "log_ref")
    invalid = answers_with_ref().filter(Q(pk__in=excluded) | Q(pk__in=undone), Exists(answered))
    counting: QuerySet[Any, Any] = invalid.annotate(word=word).filter(_NOT_WITHDRAWN)
    return counting


def doubtful_rewards() -> QuerySet[Any, Any]:
    """Rewards of all sites that count, but whose authors are no longer believed."""
    doubted = Author.objects.exclude(counting_authors()).values("pk")
    rewards = LogEvent.objects.filter(
        author__in=doubted, kind=LogEvent.Kind.REWARDED, data__trusted=True
    )
    return rewards.annotate(word=_last_word("echo", "ref")).filter(_NOT_WITHDRAWN)


def withdrawn_of_believed() -> QuerySet[LogEvent]:
    """Withdrawals of all sites that were not restored, although their author is believed."""
    later = LogEvent.objects.filter(
        echo=OuterRef("echo"), about=OuterRef("about"), number__gt=OuterRef("number")
    )
    withdrawn = LogEvent.objects.filter(kind=LogEvent.Kind.WITHDRAWN)
    return withdrawn.filter(counting_authors("author"), ~Exists(later))


@transaction.atomic
def withdraw_invalid(echo: Echo) -> int:
    """Withdraw events of invalid answers and of authors not believed; returns their number."""
    answers = invalid_answers().filter(question__site=echo.site_id)
    refs = list(answers.values_list("log_ref", "author")[:AT_ONCE])
    rewards = doubtful_rewards().filter(echo=echo)
    refs += list(rewards.values_list("ref", "author")[:AT_ONCE])
    _let_stand(echo, [ref for ref, _ in refs], stands=False)
    return log_events(
        echo, [(Withdrawn(f"withdrawn-{uuid.uuid4().hex}", ref), author) for ref, author in refs]
    )


@transaction.atomic
def restore_valid(echo: Echo) -> int:
    """Restore withdrawn events of authors who are believed again; returns their number."""
    withdrawn = dict(withdrawn_of_believed().filter(echo=echo).values_list("about", "author"))
    answers = [int(ref.removeprefix(ANSWER)) for ref in withdrawn if ref.startswith(ANSWER)]
    standing = Answer.objects.filter(pk__in=answers, excluded_at__isnull=True).standing()
    stands = {f"{ANSWER}{pk}" for pk in standing.values_list("pk", flat=True)}
    refs = [ref for ref in withdrawn if ref in stands or not ref.startswith(ANSWER)][:AT_ONCE]
    _let_stand(echo, refs, stands=True)
    return log_events(
        echo, [(Restored(f"restored-{uuid.uuid4().hex}", ref), withdrawn[ref]) for ref in refs]
    )


def _let_stand(echo: Echo, refs: Sequence[str], *, stands: bool) -> None:
    """Set whether pages count the predictions of these answers."""
    Scored.objects.filter(echo=echo, event__ref__in=refs).update(stands=stands)


def _last_word(echo: str, ref: str) -> Subquery:
    """The kind of the last withdrawal or restoration of an event; null if there is none."""
    words = LogEvent.objects.filter(echo=OuterRef(echo), about=OuterRef(ref))
    return Subquery(words.order_by("-number").values("kind")[:1])
