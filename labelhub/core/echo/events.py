"""The events of the log, from which alone every state is made.

An event has an id of its own; the log numbers events in the order of their arrival and keeps a
repeated one once. The log is append-only: a later event withdraws a wrong one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelhub.core.echo.uncertainty import SIGNS
from labelhub.core.echo.vectors import PLACES, Sparse
from labelhub.core.errors import InvalidInput

#: Kinds of reward: a click on an offer; "helpful"; that an offer without a click was dismissed; the
#: result of a site's own downstream task.
CLICK, HELPFUL, DISMISSED, TASK = "click", "helpful", "dismissed", "task"


@dataclass(frozen=True, slots=True)
class Answered:
    """An author gave the value of a feature.

    author: a pseudonym. trusted: whether the site trusted the author then. value: the answer, "" if
    no option fits. predicted: the expected value. loss: 0 for a match, 1 for none, or the cosine
    distance. signs: of the prediction at its time (``uncertainty.SIGNS``). vector: of the message.
    values: all values of a closed feature, empty for an open one. llm_value: a language model's
    value, "" without one. llm_shares: its probability of each value, empty if it gave none.
    """

    id: str
    author: str
    trusted: bool
    feature: str
    value: str
    predicted: str
    loss: float
    signs: tuple[float, ...]
    vector: Sparse
    values: tuple[str, ...] = ()
    llm_value: str = ""
    llm_shares: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewarded:
    """The reward of an offer made from the ``shown`` features: (key, probability of being right).

    value: the reward, 0 to 1. signal: the kind of reward; each kind has its own base rate and
    slope. dismissed: whether an offer without a click was dismissed; None if it was clicked, or for
    other kinds of reward.
    """

    id: str
    author: str
    trusted: bool
    shown: tuple[tuple[str, float], ...]
    value: float
    signal: str = CLICK
    dismissed: bool | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """The prior of how much a feature matters: -1 not, 0 unknown, 1 much.

    The owner's expectation, or what the other sites of the server have learnt.
    """

    id: str
    feature: str
    prior: float


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The event ``about`` does not count: it was undone, or its author is not trusted any more."""

    id: str
    about: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The withdrawn event ``about`` counts again."""

    id: str
    about: str


@dataclass(frozen=True, slots=True)
class Frozen:
    """From here on events are logged but not learnt from; with ``on`` False they are again."""

    id: str
    on: bool


Event: TypeAlias = Answered | Rewarded | Expected | Withdrawn | Restored | Frozen

_KINDS: Mapping[str, type[Any]] = {
    "answered": Answered,
    "rewarded": Rewarded,
    "expected": Expected,
    "withdrawn": Withdrawn,
    "restored": Restored,
    "frozen": Frozen,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
#: Fields that have another name in the stored log.
_STORED = {"llm_value": "said", "llm_shares": "told"}
_READ = {stored: name for name, stored in _STORED.items()}


def kind_of(event: Event) -> str:
    """The name of this kind of event in the log."""
    return _NAMES[type(event)]


def to_json(event: Event) -> dict[str, Any]:
    """JSON-ready form without its id; floats are exact."""
    fields = {
        _STORED.get(name, name): getattr(event, name)
        for name in event.__dataclass_fields__
        if name != "id"
    }
    if isinstance(event, Answered):
        fields["vector"] = [event.vector.places.tolist(), event.vector.values.tolist()]
    return fields


def from_json(kind: str, event_id: str, raw: Mapping[str, Any]) -> Event:
    """The event that :func:`to_json` wrote.

    Raises:
        InvalidInput: ``raw`` is not such a form, or is damaged.
    """
    if kind not in _KINDS:
        raise InvalidInput(f"There is no event of the kind '{kind}'.")
    given = {_READ.get(name, name): _tuples(value) for name, value in raw.items()}
    try:
        if kind == "answered":
            places, values = raw["vector"]
            given["vector"] = Sparse(np.array(places, np.int32), np.array(values, np.float64))
        event: Event = _KINDS[kind](id=event_id, **given)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"Event {event_id} cannot be read: {error}.") from None
    for field in event.__dataclass_fields__:
        value = getattr(event, field)
        # Applied, a damaged line could turn the state into NaN; so it is reported and skipped.
        fine = _is_share if field == "value" and kind == "rewarded" else _CHECKS[field]
        if not fine(value):
            raise InvalidInput.at(
                field, f"Event {event_id} cannot be read: its {field} is damaged."
            )
    return event


def _tuples(value: Any) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _are(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(check, value))


def _is_vector(value: Sparse) -> bool:
    places, values = value
    return (
        places.ndim == 1
        and places.shape == values.shape
        and bool(((places >= 0) & (places < PLACES)).all())
        and bool((np.diff(places) > 0).all())
        and bool(np.isfinite(values).all())
    )


def _are_shown(value: Any) -> bool:
    """Whether ``value`` has pairs of a feature and a probability, each feature once."""
    pairs = isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and _is_name(pair[0]) and _is_share(pair[1])
        for pair in value
    )
    return pairs and len({key for key, _ in value}) == len(value)


#: The check of each field; that of a reward's ``value`` is another one.
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("id", "author", "feature", "about", "signal"), _is_name),
    **dict.fromkeys(("value", "predicted", "llm_value"), _is_text),
    **dict.fromkeys(("trusted", "on"), _is_switch),
    "dismissed": lambda value: value is None or _is_switch(value),
    "loss": _is_share,
    "prior": lambda value: _is_number(value) and -1 <= value <= 1,
    "signs": lambda value: _are(_is_number)(value) and len(value) == len(SIGNS),
    "vector": _is_vector,
    "values": _are(_is_name),
    "llm_shares": _are(_is_share),
    "shown": _are_shown,
}
