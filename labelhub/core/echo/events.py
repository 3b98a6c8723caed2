"""The events of the log, from which alone every state is made.

An event has an id of its own; the log numbers events in the order of their arrival and keeps a
repeated one once. The log is append-only: a later event withdraws a wrong one. The types of the
fields say which values a stored event may have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args

import numpy as np
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    StrictFloat,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from labelhub.core.echo.uncertainty import SIGNS
from labelhub.core.echo.vectors import PLACES, Sparse
from labelhub.core.errors import InvalidInput

#: Kinds of reward: a click on an offer; "helpful"; that an offer without a click was dismissed; the
#: result of a site's own downstream task.
CLICK, HELPFUL, DISMISSED, TASK = "click", "helpful", "dismissed", "task"


def _read_vector(stored: Any) -> Sparse:
    try:
        places, values = stored
        vector = Sparse(np.array(places, np.int32), np.array(values, np.float64))
    except (TypeError, OverflowError) as error:
        raise ValueError(error) from None
    fine = (
        vector.places.ndim == 1
        and vector.places.shape == vector.values.shape
        and ((vector.places >= 0) & (vector.places < PLACES)).all()
        and (np.diff(vector.places) > 0).all()
        and np.isfinite(vector.values).all()
    )
    if not fine:
        raise ValueError("no vector has such places or values")
    return vector


def _each_once(shown: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    if len(dict(shown)) < len(shown):
        raise ValueError("a feature is shown twice")
    return shown


def _an_option(named: str, fields: ValidationInfo) -> str:
    if named not in {"", *dict(fields.data.get("shown", ()))}:
        raise ValueError("the question did not list this feature")
    return named


Name: TypeAlias = Annotated[str, Field(min_length=1)]
Share: TypeAlias = Annotated[StrictFloat, Field(ge=0, le=1)]
Shown: TypeAlias = Annotated[tuple[tuple[Name, Share], ...], AfterValidator(_each_once)]
Vector: TypeAlias = Annotated[
    Sparse,
    PlainValidator(_read_vector),
    PlainSerializer(lambda vector: [vector.places.tolist(), vector.values.tolist()]),
]


@dataclass(frozen=True, slots=True)
class _Logged:
    """What every event has."""

    # A damaged line could turn a state into NaN; so it is refused.
    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: Name


@dataclass(frozen=True, slots=True)
class Answered(_Logged):
    """An author gave the value of a feature.

    author: a pseudonym. trusted: whether the site trusted the author then. value: the answer, "" if
    no option fits. predicted: the expected value. loss: 0 for a match, 1 for none, or the cosine
    distance. signs: of the prediction at its time (``uncertainty.SIGNS``). vector: of the message.
    values: all values of a closed feature, empty for an open one. llm_value: a language model's
    value, "" without one. llm_shares: its probability of each value, empty if it gave none.
    """

    author: Name
    trusted: StrictBool
    feature: Name
    value: str
    predicted: str
    loss: Share
    signs: Annotated[tuple[StrictFloat, ...], Field(min_length=len(SIGNS), max_length=len(SIGNS))]
    vector: Vector
    values: tuple[Name, ...] = ()
    # The log has other names for these.
    llm_value: Annotated[str, Field(alias="said")] = ""
    llm_shares: Annotated[tuple[Share, ...], Field(alias="told")] = ()


@dataclass(frozen=True, slots=True)
class Rewarded(_Logged):
    """The reward of an offer made from the ``shown`` features: (key, probability of being right).

    value: the reward, 0 to 1. signal: the kind of reward; each kind has its own base rate and
    slope. dismissed: whether an offer without a click was dismissed; None if it was clicked, or for
    other kinds of reward.
    """

    author: Name
    trusted: StrictBool
    shown: Shown
    value: Share
    signal: Name = CLICK
    dismissed: StrictBool | None = None


@dataclass(frozen=True, slots=True)
class Named(_Logged):
    """An author named what mattered most for an offer, of ``shown``: (key, probability of being
    right) of the features that the question listed.

    named: the key of one of them, or "" for none of them.
    """

    author: Name
    trusted: StrictBool
    shown: Shown
    named: Annotated[str, AfterValidator(_an_option)]


@dataclass(frozen=True, slots=True)
class Expected(_Logged):
    """The prior of how much a feature matters: -1 not, 0 unknown, 1 much.

    The owner's expectation, or what the other sites of the server have learnt.
    """

    feature: Name
    prior: Annotated[StrictFloat, Field(ge=-1, le=1)]


@dataclass(frozen=True, slots=True)
class Withdrawn(_Logged):
    """The event ``about`` does not count: it was undone, or its author is not trusted any more."""

    about: Name


@dataclass(frozen=True, slots=True)
class Restored(_Logged):
    """The withdrawn event ``about`` counts again."""

    about: Name


@dataclass(frozen=True, slots=True)
class Frozen(_Logged):
    """From here on events are logged but not learnt from; with ``on`` False they are again."""

    on: StrictBool


Event: TypeAlias = Answered | Rewarded | Named | Expected | Withdrawn | Restored | Frozen


def kind_of(event: Event) -> str:
    """The name of this kind of event in the log."""
    return type(event).__name__.lower()


_KINDS: Mapping[str, TypeAdapter[Event]] = {
    kind.__name__.lower(): TypeAdapter(kind) for kind in get_args(Event)
}


def to_json(event: Event) -> dict[str, Any]:
    """JSON-ready form without its id; floats are exact."""
    stored: dict[str, Any] = _KINDS[kind_of(event)].dump_python(
        event, by_alias=True, exclude={"id"}
    )
    return stored


def from_json(kind: str, event_id: str, raw: Mapping[str, Any]) -> Event:
    """The event that :func:`to_json` wrote.

    Raises:
        InvalidInput: ``raw`` is not such a form, or is damaged.
    """
    if kind not in _KINDS:
        raise InvalidInput(f"There is no event of the kind '{kind}'.")
    try:
        return _KINDS[kind].validate_python({**raw, "id": event_id})
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidInput.at(
            field, f"Event {event_id} cannot be read: its {field} is damaged."
        ) from None
