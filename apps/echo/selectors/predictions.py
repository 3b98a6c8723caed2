"""Predictions compared with authors' answers, and the last selections.

The database counts the answers and returns a bounded number of rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, QuerySet, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Floor

from apps.authors.models import Answer
from apps.echo.models import Echo, Scored
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import derived_words


def value_of(answer: Answer) -> str:
    """The answer as one of the feature's values, or as free text if the feature has no values;
    "" for "None of these"."""
    if answer.outcome == Answer.Outcome.NOFIT:
        return ""
    if answer.position is None:
        return answer.value
    option = answer.question.options[answer.position]
    return str(option.get("value") or answer.value)


def value_words(feature: Definition | None, value: str) -> str:
    """A value in the words of its English option; free text stays as it is."""
    if feature is None or value not in feature.values:
        return value
    ready = feature.template("en")
    options = (ready.options if ready else None) or derived_words(feature, "en")
    return options.get(value) or value.replace("_", " ")


#: The newest events whose answers count.
WINDOW = 50_000
#: Stretches of the log that the database counts: for one curve, and for each of many.
FINE, COARSE = 192, 48
#: Points of a curve, and of a sparkline; bins of the calibration chart.
POINTS, FEW_POINTS, PARTS = 16, 8, 10
#: Minimum answers per point; shares of fewer answers vary too much.
LEAST_A_POINT = 12


@dataclass(frozen=True, slots=True)
class Tally:
    """Consecutive answers: their number, the sum of their losses, and the sum of σ before them.
    ``upto``: the number of answers so far."""

    n: int
    wrong: float
    sigma: float
    upto: int = 0

    @property
    def right(self) -> float:
        """The share of right predictions."""
        return 1 - self.wrong / self.n


def newest_scored(echo: Echo, feature: str = "") -> QuerySet[Scored]:
    """Predictions with valid answers among the newest :data:`WINDOW` events."""
    found = Scored.objects.filter(echo=echo, stands=True, number__gt=echo.logged - WINDOW)
    return found.filter(feature=feature) if feature else found


def tallies_of(echo: Echo, feature: str = "") -> list[Tally]:
    """The answers over time, in up to :data:`FINE` stretches, oldest first."""
    return [Tally(*row) for row in _sums(newest_scored(echo, feature), _stretch(echo, FINE))]


def tallies_by_feature(echo: Echo, features: Iterable[str]) -> dict[str, list[Tally]]:
    """The answers over time by feature, in up to :data:`COARSE` stretches each; one query."""
    found = newest_scored(echo).filter(feature__in=list(features))
    by_feature: dict[str, list[Tally]] = {}
    for feature, *sums in _sums(found, _stretch(echo, COARSE), "feature"):
        by_feature.setdefault(feature, []).append(Tally(*sums))
    return by_feature


def reliability(echo: Echo, feature: str = "") -> list[Tally]:
    """The answers in :data:`PARTS` bins of σ, from certain to uncertain."""
    return [Tally(*row) for row in _sums(newest_scored(echo, feature), Floor(F("sigma") * PARTS))]


def _stretch(echo: Echo, most: int) -> Combinable:
    """The number of an answer's stretch of the log; all stretches have equally many events."""
    return F("number") / max(1, -(-min(echo.logged, WINDOW) // most))


def _sums(found: QuerySet[Scored], part: Combinable, *by: str) -> "QuerySet[Scored, Any]":
    """``by``, number, losses and σ of the answers of each part, in order."""
    parts = found.annotate(part=ExpressionWrapper(part, output_field=BigIntegerField()))
    sums = parts.values(*by, "part").annotate(n=Count("pk"), wrong=Sum("loss"), doubt=Sum("sigma"))
    return sums.order_by(*by, "part").values_list(*by, "n", "wrong", "doubt")


def total_tally(tallies: Sequence[Tally], upto: int = 0) -> Tally:
    """The total of the tallies."""
    return Tally(
        sum(tally.n for tally in tallies),
        sum(tally.wrong for tally in tallies),
        sum(tally.sigma for tally in tallies),
        upto,
    )


def merged_tallies(tallies: Sequence[Tally], most: int = POINTS) -> list[Tally]:
    """Merge neighbours into at most ``most`` tallies of similar size, with at least
    :data:`LEAST_A_POINT` answers each if there are enough."""
    least = max(sum(tally.n for tally in tallies) / most, LEAST_A_POINT)
    merged: list[Tally] = []
    waiting: list[Tally] = []
    upto = 0
    for tally in tallies:
        waiting.append(tally)
        upto += tally.n
        if sum(waiting_tally.n for waiting_tally in waiting) >= least:
            merged.append(total_tally(waiting, upto))
            waiting = []
    if waiting:
        merged[-1:] = [total_tally([*merged[-1:], *waiting], upto)]
    return merged


def calibration_error(parts: Sequence[Tally]) -> float | None:
    """The expected calibration error of σ; None without answers."""
    n = sum(part.n for part in parts)
    return sum(abs(part.sigma - part.wrong) for part in parts) / n if n else None


#: Numbers of selections and answers that pages show.
SELECTIONS, ANSWERS = 10, 10


def choices_of(echo: Echo) -> list[dict[str, Any]]:
    """The last :data:`SELECTIONS` selections, newest first: ``text`` of the message, and the
    candidates for questions by the value of an answer as ``shown``, of them ``asked`` ones."""
    rows = list(echo.selections.select_related("message").order_by("-pk")[:SELECTIONS])
    keys = {key for row in rows for key in row.asked}
    known = {row.key: row.parsed for row in echo.site.features.filter(key__in=keys)}
    choices = []
    for row in rows:
        # What was asked may be newer than the predictions: see ``EchoChooser.store``.
        shown = [
            {"key": key, "gain": None} | row.predicted[key] | asked
            for key, asked in row.asked.items()
            if key in row.predicted
        ]
        shown.sort(key=lambda feature: -feature["worth"])
        for place, feature in enumerate(shown, start=1):
            definition, gain = known.get(feature["key"]), feature["gain"]
            feature["place"] = place
            feature["name"] = definition.name if definition else feature["key"]
            feature["value"] = value_words(definition, feature["value"])
            # Older selections have no gain.
            feature["points"] = None if gain is None else 100 * gain
        choices.append(
            {
                "selection": row,
                "text": row.message.text if row.message else "",
                "shown": shown,
                "asked": [feature for feature in shown if feature["asked"]],
            }
        )
    return choices


def answers_about(echo: Echo, feature: Definition) -> list[dict[str, Any]]:
    """The last :data:`ANSWERS` answers about a feature with their predictions, newest first;
    ``text``: of the message, "" if it is not stored."""
    scores = newest_scored(echo, feature.key).order_by("-number").select_related("event")
    rows = list(scores[:ANSWERS])
    refs = [row.event.ref for row in rows if row.event.ref.startswith("answer-")]
    ids = [int(ref.removeprefix("answer-")) for ref in refs]
    answers = Answer.objects.filter(pk__in=ids).values_list("pk", "question__message__text")
    texts = {f"answer-{pk}": text for pk, text in answers}
    return [
        {
            "expected": value_words(feature, row.event.data["predicted"]),
            "value": value_words(feature, row.event.data["value"]),
            "loss": row.loss,
            "sigma": row.sigma,
            "answered_at": row.event.at,
            "text": texts.get(row.event.ref, ""),
        }
        for row in rows
    ]
