"""A call as it was made: what was asked of the endpoint beside what it was sent."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apps.debates.models import Turn

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Record:
    """A complete turn; ``params`` are name, what was asked and what was effective, in words."""

    turn: Turn
    params: tuple[tuple[str, str, str], ...]


def records_of(turns: Iterable[Turn]) -> tuple[Record, ...]:
    """The records of turns that are loaded whole."""
    return tuple(Record(turn, tuple(_params(turn))) for turn in turns)


def _params(turn: Turn) -> Iterable[tuple[str, str, str]]:
    asked, effective = turn.params_asked, turn.params_effective
    for name in dict.fromkeys([*asked, *effective]):
        yield name, _said(asked.get(name, _ABSENT)), _said(effective.get(name, _ABSENT))


def _said(value: Any) -> str:
    if value is _ABSENT:
        return "—"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
