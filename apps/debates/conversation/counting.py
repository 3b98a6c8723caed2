"""Ballots counted and agreement told, in words and bars."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labelhub.core.schema import value_key, value_words

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SILENT = "no answer"


@dataclass(frozen=True, slots=True)
class VoteBar:
    """How many of how many said it."""

    words: str
    votes: int
    of: int


def bars(values: Sequence[Any]) -> tuple[VoteBar, ...]:
    """Votes by answer, the most frequent first; of several labels, by label."""
    counts: Counter[str] = Counter()
    for value in values:
        if isinstance(value, list) and value:
            counts.update(str(name) for name in value)
        else:
            counts[SILENT if value is None else value_words(value)] += 1
    ordered = sorted(counts.items(), key=lambda each: (each[0] == SILENT, -each[1]))
    return tuple(VoteBar(words, votes, len(values)) for words, votes in ordered)


def agreement(values: Sequence[Any], rounds: int | None) -> str:
    """“Two of three agreed after round 1: good.”; ``rounds`` None: they do not discuss."""
    counts = Counter(value_key(value) for value in values if value is not None)
    if not counts:
        return "None gave an answer that could be read."
    (key, most), *others = counts.most_common()
    when = "" if rounds is None else " before any discussion" if not rounds else _after(rounds)
    if others and others[0][1] == most:
        return f"{_upper(number(len(values)))} answers, no agreement{when}: the votes are tied."
    answer = next(value for value in values if value is not None and value_key(value) == key)
    if len(values) == 1:
        return ""
    if most == len(values):
        who = "Both" if most == 2 else f"All {number(most)}"
    else:
        who = f"{_upper(number(most))} of {number(len(values))}"
    return f"{who} agreed{when}: {value_words(answer)}."


def number(count: int) -> str:
    """Small numbers as words."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _after(rounds: int) -> str:
    return f" after round {rounds}"


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
