"""What was asked last, and why; and what authors answered about a feature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.authors.models import Answer
from apps.echo.models import Echo, Selection
from apps.echo.selectors.scored import newest_scored
from apps.echo.values import value_words
from labelhub.core.interview.features import Feature as Definition

#: Selections and answers that are shown.
SELECTIONS, ANSWERS = 10, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """A feature of a selection; ``place``: its rank by worth among those it could be asked of."""

    name: str
    value: str
    probability: float
    sigma: float
    relevance: float
    answers: float
    worth: float
    propensity: float
    asked: bool
    place: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One message and what was chosen for it; what was most worth asking about first."""

    selection: Selection
    text: str
    shown: Sequence[Shown]

    @property
    def asked(self) -> Sequence[Shown]:
        """What its author was asked about."""
        return [each for each in self.shown if each.asked]


@dataclass(frozen=True, slots=True)
class Given:
    """An answer beside what was expected; ``text`` of the message, where it is kept."""

    expected: str
    value: str
    loss: float
    sigma: float
    at: datetime
    text: str


def choices_of(echo: Echo) -> list[Choice]:
    """The last :data:`SELECTIONS` selections, the newest first."""
    rows = list(echo.selections.select_related("message").order_by("-pk")[:SELECTIONS])
    keys = {key for row in rows for key in row.selected}
    known = {each.key: each.parsed for each in echo.site.features.filter(key__in=keys)}
    return [_choice(row, known) for row in rows]


def answers_about(echo: Echo, feature: Definition) -> list[Given]:
    """The last :data:`ANSWERS` answers about a feature, the newest first."""
    scores = newest_scored(echo, feature.key).order_by("-number")
    told = scores.values("loss", "sigma", "event__ref", "event__data", "event__at")
    rows = list(told[:ANSWERS])
    texts = _texts([row["event__ref"] for row in rows])
    return [
        Given(
            expected=value_words(feature, row["event__data"]["predicted"]),
            value=value_words(feature, row["event__data"]["value"]),
            loss=row["loss"],
            sigma=row["sigma"],
            at=row["event__at"],
            text=texts.get(row["event__ref"], ""),
        )
        for row in rows
    ]


def _texts(refs: Sequence[str]) -> dict[str, str]:
    """The messages that the answers behind these events are about."""
    ids = [int(ref.removeprefix("answer-")) for ref in refs if ref.startswith("answer-")]
    told = Answer.objects.filter(pk__in=ids).values_list("pk", "question__message__text")
    return {f"answer-{pk}": text for pk, text in told}


def _choice(row: Selection, known: Mapping[str, Definition]) -> Choice:
    ranked = sorted(row.asked, key=lambda key: -row.asked[key]["worth"])
    shown = [
        _shown(key, known.get(key), row, ranked.index(key) + 1)
        for key in row.selected
        if key in row.asked
    ]
    by_worth = sorted(shown, key=lambda each: each.place)
    return Choice(row, row.message.text if row.message else "", by_worth)


def _shown(key: str, feature: Definition | None, row: Selection, place: int) -> Shown:
    told, asked = row.predicted[key], row.asked[key]
    return Shown(
        name=feature.name if feature else key,
        value=value_words(feature, told["value"]),
        probability=told["probability"],
        sigma=told["sigma"],
        relevance=told["relevance"],
        answers=told["answers"],
        worth=asked["worth"],
        propensity=asked["propensity"],
        asked=asked["asked"],
        place=place,
    )
