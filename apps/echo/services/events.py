"""The log of events: numbered one after the other, each event once.

Answers and offers are looked up, not reported, so that nothing waits for the log. An answer is told
once it can no longer be taken back by a click. An offer has one reward for its click, and one more
for what was said of it; a site's server sends the outcomes of its own task. Credit goes to the
features that were shown, each by the chance that it was predicted rightly; where its author has
answered about it since, that is known. Offers of other arms say nothing of relevance. An event is
withdrawn when its answer stands no more or its author is not believed any more, and restored when
that is over.
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
    """Write events with the keys of the authors they go with; how many were news.

    Whoever writes has the row of ``echo`` first: numbers have no gaps that somebody could fill
    after they were learnt past.
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


#: Events that are written at once.
AT_ONCE = 200
#: Answers and offers are looked for among those so new, and selections take outcomes for so long.
WITHIN = timedelta(days=7)
#: Begins the name that an answer's event has in the log.
ANSWER = "answer-"
_RELATED = ("question__feature", "question__message__selection", "author")


class _HasKey(Func):
    """Whether a JSON object has a key; both are columns. Keys of features need no escaping."""

    function = "jsonb_exists"
    output_field = BooleanField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Any:
        """As SQLite has it."""
        return self.as_sql(
            compiler,
            connection,
            template="(JSON_TYPE(%(expressions)s || '\"') IS NOT NULL)",
            arg_joiner=", '$.\"' || ",
            **context,
        )


def unlogged_answers(now: datetime, within: timedelta) -> QuerySet[Any, Any]:
    """Answers at all sites that stand, were received so lately, and belong into a log that does
    not know them: Echo had expected something of them."""
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
    """Answers of all sites, each with the name that its event has in a log, as ``log_ref``."""
    ref = Concat(Value(ANSWER), Cast(F("pk"), CharField()))
    return Answer.objects.annotate(log_ref=ref)


def gather_answers(echo: Echo, now: datetime) -> int:
    """Write what authors answered since into the log; how many events."""
    untold = unlogged_answers(now, WITHIN).filter(question__site=echo.site_id)
    fresh = untold.select_related(*_RELATED).order_by("received_at", "pk")[:AT_ONCE]
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
    """The event of an answer to a question of which Echo had expected something."""
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
    """How likely a language model held each value; empty where the feature has others by now."""
    return tuple(shares[value] for value in values) if set(shares) == set(values) else ()


def _loss(predicted: str, value: str, *, closed: bool) -> float:
    """0 where they match, 1 where not; of free text the cosine distance (paper 004, 3.4.1).

    The predicted value is always among the options: where none fits, it does not."""
    if closed or not value:
        return float(predicted != value)
    return distance(predicted, value)


#: Outcomes that a selection takes: its own must not drown those of others.
MOST_OUTCOMES = 10
RATINGS = (OfferEvent.Kind.HELPFUL, OfferEvent.Kind.NOT_HELPFUL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reward as it stands; ``fresh`` unless it had been told before."""

    value: float
    fresh: bool


def unlogged_offers(now: datetime, within: timedelta) -> "tuple[QuerySet[Any], QuerySet[Any]]":
    """Offers of Echo's own at all sites, shown so lately, of which a log is to be told: whether
    they were ``clicked``, once that is settled; and whether they helped."""
    clicks = OfferEvent.objects.filter(decision=OuterRef("pk"), kind=OfferEvent.Kind.CLICKED)
    due = _shown(now - within, "reward-").annotate(clicked=Exists(clicks))
    ratings = OfferEvent.objects.filter(decision=OuterRef("pk"), kind__in=RATINGS)
    # Each site sets for itself how long a click is waited for.
    settled = Q(clicked=True)
    for minutes in Echo.objects.order_by().values_list("reward_minutes", flat=True).distinct():
        latest = now - timedelta(minutes=minutes)
        settled |= Q(echo__reward_minutes=minutes, shown_at__lt=latest)
    return (
        due.filter(settled),
        _shown(now - within, "helpful-").filter(Exists(ratings)),
    )


def gather_rewards(echo: Echo, now: datetime) -> int:
    """Write what became of offers since into the log; how many events."""
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
    """Offers of Echo's own, shown since then, that their log knows nothing of under that name."""
    ref = Concat(Value(prefix), Cast(F("pk"), CharField()))
    known = LogEvent.objects.filter(echo=OuterRef("echo"), ref=OuterRef("log_ref"))
    shown = Decision.objects.filter(policy=ECHO, selection__isnull=False, shown_at__gt=since)
    return shown.annotate(log_ref=ref).filter(~Exists(known)).order_by("shown_at", "pk")


@transaction.atomic
def record_outcome(selection: Selection, ref: str, value: float, now: datetime) -> Outcome:
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
    logged = LogEvent.objects.filter(
        echo=selection.echo_id, author=author.pk, ref__startswith=begun
    ).values_list("ref", "data")
    known = dict(logged[: MOST_OUTCOMES + 1])
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
    log_events(selection.echo, [(event, author.pk)], logged_at=now)
    return Outcome(value, fresh=True)


def credit_of(selection: Selection) -> tuple[tuple[str, float], ...]:
    """The features that went downstream, each with the chance that it was predicted rightly."""
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
    """Of the features whose author has answered about this message: whether it was right."""
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
    """Answers at all sites that a log counts and that stand no more."""
    answered = LogEvent.objects.filter(
        echo=OuterRef("question__site"), ref=OuterRef("log_ref"), kind=LogEvent.Kind.ANSWERED
    )
    # Two lists for the database to look up, not one condition on every answer there is.
    excluded = Answer.objects.filter(excluded_at__isnull=False).values("pk")
    undone = Answer.objects.filter(undone_at__isnull=False).values("pk")
    word = _last_word("question__site", "log_ref")
    fallen = answers_with_ref().filter(Q(pk__in=excluded) | Q(pk__in=undone), Exists(answered))
    counting: QuerySet[Any, Any] = fallen.annotate(word=word).filter(_NOT_WITHDRAWN)
    return counting


def doubtful_rewards() -> QuerySet[Any, Any]:
    """Events at all sites that count as rewards of authors who are not believed any more."""
    doubted = Author.objects.exclude(counting_authors()).values("pk")
    rewards = LogEvent.objects.filter(
        author__in=doubted, kind=LogEvent.Kind.REWARDED, data__trusted=True
    )
    return rewards.annotate(word=_last_word("echo", "ref")).filter(_NOT_WITHDRAWN)


def withdrawn_of_believed() -> QuerySet[LogEvent]:
    """Withdrawals at all sites that are the last word about an event whose author is believed."""
    later = LogEvent.objects.filter(
        echo=OuterRef("echo"), about=OuterRef("about"), number__gt=OuterRef("number")
    )
    withdrawn = LogEvent.objects.filter(kind=LogEvent.Kind.WITHDRAWN)
    return withdrawn.filter(counting_authors("author"), ~Exists(later))


@transaction.atomic
def withdraw_invalid(echo: Echo) -> int:
    """Withdraw what was told of answers that stand no more or of who is not believed; how many."""
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
    """Restore what had been withdrawn of authors who are believed again; how many."""
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
    """Whether the page counts the predictions beside these answers."""
    Scored.objects.filter(echo=echo, event__ref__in=refs).update(stands=stands)


def _last_word(echo: str, ref: str) -> Subquery:
    """Whether the event of that name was withdrawn or restored last; null where neither."""
    words = LogEvent.objects.filter(echo=OuterRef(echo), about=OuterRef(ref))
    return Subquery(words.order_by("-number").values("kind")[:1])
