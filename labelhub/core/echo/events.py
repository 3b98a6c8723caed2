"""What happened, as the log keeps it: every state is made of these and of nothing else.

An event has an id of its own; the log numbers events as they arrive, and that number is their
order. What is told twice stands once. Nothing in the log is changed: what was wrong is withdrawn
by a later event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelhub.core.echo.event_faults import field_at_fault
from labelhub.core.echo.vectors import Sparse
from labelhub.core.errors import InvalidInput

#: Kinds of reward: a click on what was offered; that it was said to have helped; what a site's own
#: downstream task says.
CLICK, HELPFUL, TASK = "click", "helpful", "task"


@dataclass(frozen=True, slots=True)
class Answered:
    """An author said what a feature's value is.

    author: a name for them that tells nothing else. trusted: whether the site believed them then.
    value: what they said, "" where no option fits. predicted: what was expected. loss: 0 matched,
    1 not, or the cosine distance. signs: of the prediction when it was made
    (``uncertainty.SIGNS``). vector: of the message. values: the closed space of the feature, empty
    where open. said: what a language model said, "" where none was asked. told: how likely it held
    each of the values, empty where it did not say.
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
    said: str = ""
    told: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewarded:
    """What became of what was made of the ``shown`` features: (key, chance that it was right).

    value: the reward, 0 to 1. signal: what kind of reward it is; each kind has a usual rate of
    success of its own.
    """

    id: str
    author: str
    trusted: bool
    shown: tuple[tuple[str, float], ...]
    value: float
    signal: str = CLICK


@dataclass(frozen=True, slots=True)
class Expected:
    """The site's owner says how much a feature is expected to matter: -1 not, 0 unknown, 1 much."""

    id: str
    feature: str
    prior: float


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """This event never was: taken back, or of somebody who turned out to be no one."""

    id: str
    about: str


@dataclass(frozen=True, slots=True)
class Restored:
    """An event that had been withdrawn was after all."""

    id: str
    about: str


@dataclass(frozen=True, slots=True)
class Frozen:
    """From here on what happens is logged and not learnt; or, with ``on`` False, learnt again."""

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


def kind_of(event: Event) -> str:
    """The name under which the log knows this kind of event."""
    return _NAMES[type(event)]


def to_json(event: Event) -> dict[str, Any]:
    """JSON-ready form without its id; floats are exact."""
    told = {name: getattr(event, name) for name in event.__dataclass_fields__ if name != "id"}
    if isinstance(event, Answered):
        told["vector"] = [event.vector.places.tolist(), event.vector.values.tolist()]
    return told


def from_json(kind: str, event_id: str, raw: Mapping[str, Any]) -> Event:
    """What :func:`to_json` wrote.

    Raises:
        InvalidInput: it was not written by it, or has been damaged since.
    """
    if kind not in _KINDS:
        raise InvalidInput(f"There is no event of the kind '{kind}'.")
    given = {name: _tuples(value) for name, value in raw.items()}
    try:
        if kind == "answered":
            places, values = raw["vector"]
            given["vector"] = Sparse(np.array(places, np.int32), np.array(values, np.float64))
        event: Event = _KINDS[kind](id=event_id, **given)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"Event {event_id} cannot be read: {error}.") from None
    if field := field_at_fault(kind, event):
        raise InvalidInput.at(field, f"Event {event_id} cannot be read: its {field} is damaged.")
    return event


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
