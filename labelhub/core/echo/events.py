"""What happened, as the log keeps it: every state is made of these and of nothing else.

An event has an id of its own; the log numbers events as they arrive, and that number is their
order. What is told twice stands once. Nothing in the log is changed: what was wrong is withdrawn
by a later event.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labelhub.core.echo.uncertainty import SIGNS
from labelhub.core.echo.vectors import PLACES, Sparse
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
    where open. llm_value: what a language model said, "" where none was asked. llm_shares: how
    likely it held each of the values, empty where it did not say.
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
#: Fields that have another name in the stored log.
_STORED = {"llm_value": "said", "llm_shares": "told"}
_READ = {stored: name for name, stored in _STORED.items()}


def kind_of(event: Event) -> str:
    """The name under which the log knows this kind of event."""
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
    """What :func:`to_json` wrote.

    Raises:
        InvalidInput: it was not written by it, or has been damaged since.
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
    if field := field_at_fault(kind, event):
        raise InvalidInput.at(field, f"Event {event_id} cannot be read: its {field} is damaged.")
    return event


def _tuples(value: Any) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value


Check: TypeAlias = Callable[[Any], bool]


# What each field of an event must hold. A line that holds anything else was damaged: it is named
# and passed over. Were it applied, what is learnt could cease to be a number; were it let stop
# learning, it would stop it for ever.


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


def _is_prior(value: Any) -> bool:
    return _is_number(value) and -1 <= value <= 1


def _are(check: Check) -> Check:
    return lambda value: isinstance(value, tuple) and all(map(check, value))


def _are_signs(value: Any) -> bool:
    return _are(_is_number)(value) and len(value) == len(SIGNS)


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
    """Pairs of a feature, none of them twice, and a chance."""
    pairs = isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and _is_name(pair[0]) and _is_share(pair[1])
        for pair in value
    )
    return pairs and len({key for key, _ in value}) == len(value)


_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "answered": {
        "author": _is_name,
        "trusted": _is_switch,
        "feature": _is_name,
        "value": _is_text,
        "predicted": _is_text,
        "loss": _is_share,
        "signs": _are_signs,
        "vector": _is_vector,
        "values": _are(_is_name),
        "llm_value": _is_text,
        "llm_shares": _are(_is_share),
    },
    "rewarded": {
        "author": _is_name,
        "trusted": _is_switch,
        "shown": _are_shown,
        "value": _is_share,
        "signal": _is_name,
    },
    "expected": {"feature": _is_name, "prior": _is_prior},
    "withdrawn": {"about": _is_name},
    "restored": {"about": _is_name},
    "frozen": {"on": _is_switch},
}


def field_at_fault(kind: str, event: object) -> str:
    """The first field of an event that does not hold what it must; "" where all do."""
    checks = _CHECKS[kind]
    return next((name for name, right in checks.items() if not right(getattr(event, name))), "")


class Entry(NamedTuple):
    """A line of the log: its number, and what happened."""

    number: int
    event: Event


class Controls:
    """What later events say of earlier ones; ``log`` needs to hold no others than these.

    Withdrawals and restorations come in the order of their numbers, and so do freezes.
    """

    def __init__(self, log: Iterable[Entry] = ()) -> None:
        self._withdrawn: set[str] = set()
        self._freezes: list[tuple[int, bool]] = []
        for number, event in log:
            match event:
                case Withdrawn():
                    self._withdrawn.add(event.about)
                case Restored():
                    self._withdrawn.discard(event.about)
                case Frozen():
                    self._freezes.append((number, event.on))

    def counts(self, number: int, event_id: str) -> bool:
        """Whether what has this number and id is learnt from."""
        return event_id not in self._withdrawn and not self.frozen(number)

    def frozen(self, number: int) -> bool:
        """Whether nothing was learnt when the event with this number came."""
        before = [on for freeze, on in self._freezes if freeze < number]
        return bool(before and before[-1])
