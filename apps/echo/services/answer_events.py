"""From what authors answered to the log: looked up, not reported, so that nothing waits for it.

An answer is told once it can no longer be taken back by a click.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, CharField, Exists, F, Func, OuterRef, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.db.models.sql.compiler import SQLCompiler

from apps.authors.models import Answer
from apps.authors.services.answers import UNDO_WITHIN
from apps.echo.models import Echo, LogEvent, Scored, Selection
from apps.echo.services.logging import log
from apps.echo.values import value_of
from labelhub.core.echo.events import Answered
from labelhub.core.echo.vectors import distance, vector_of

#: Answers that are told at once.
AT_ONCE = 200
#: Answers are looked for among those received so lately.
WITHIN = timedelta(days=7)
#: Begins the name that an answer's event has in the log.
ANSWER = "answer-"
RELATED = ("question__feature", "question__message__selection", "author")


class _Holds(Func):
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


def untold_answers(now: datetime, within: timedelta) -> QuerySet[Any, Any]:
    """Answers at all sites that stand, were received so lately, and belong into a log that does
    not know them: Echo had expected something of them."""
    refs = LogEvent.objects.filter(echo=OuterRef("question__site"), ref=OuterRef("told_as"))
    return told_answers().filter(
        ~Exists(refs),
        _Holds("question__message__selection__predicted", "question__feature__key"),
        undone_at__isnull=True,
        excluded_at__isnull=True,
        question__reask_of__isnull=True,
        received_at__lt=now - UNDO_WITHIN,
        received_at__gt=now - min(within, WITHIN),
        question__site__echo__created_at__lt=F("received_at"),
    )


def told_answers() -> QuerySet[Any, Any]:
    """Answers of all sites, each with the name that its event has in a log, as ``told_as``."""
    ref = Concat(Value(ANSWER), Cast(F("pk"), CharField()))
    return Answer.objects.annotate(told_as=ref)


def gather_answers(echo: Echo, now: datetime) -> int:
    """Write what authors answered since into the log; how many events."""
    untold = untold_answers(now, WITHIN).filter(question__site=echo.site_id)
    fresh = untold.select_related(*RELATED).order_by("received_at", "pk")[:AT_ONCE]
    news = [(_answered(answer), answer) for answer in fresh]
    with transaction.atomic():
        count = log(echo, [(event, answer.author_id) for event, answer in news])
        _note_scores(echo, {event.id: _sigma(answer) for event, answer in news})
    return count


def _note_scores(echo: Echo, sigmas: dict[str, float]) -> None:
    """Put each prediction beside the answer that came to it, for the page to count."""
    rows = echo.log.filter(ref__in=sigmas).values("pk", "number", "feature", "ref", "data__loss")
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


def _sigma(answer: Answer) -> float:
    """How unsure Echo was of what it expected of the answer."""
    told = answer.question.message.selection.predicted
    return float(told[answer.question.feature.key]["sigma"])


def _answered(answer: Answer) -> Answered:
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
        said=predicted["said"],
        told=_told(predicted.get("told") or {}, values),
    )


def _told(told: Mapping[str, float], values: Sequence[str]) -> tuple[float, ...]:
    """How likely a language model held each value; empty where the feature has others by now."""
    return tuple(told[value] for value in values) if set(told) == set(values) else ()


def _loss(predicted: str, value: str, *, closed: bool) -> float:
    """0 where they match, 1 where not; of free text the cosine distance (paper 004, 3.4.1).

    The predicted value is always among the options: where none fits, it does not."""
    if closed or not value:
        return float(predicted != value)
    return distance(predicted, value)
