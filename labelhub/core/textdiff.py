"""The difference between two texts, line by line, with the words that changed within a line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

#: A piece of a line, and whether it differs.
Piece: TypeAlias = tuple[str, bool]
Opcode: TypeAlias = tuple[str, int, int, int, int]

CONTEXT = 3
#: Lines with a smaller common share were replaced, not changed.
ALIKE = 0.4
#: The most comparisons (pieces of one text times pieces of the other, without the common beginning
#: and end), because more take too long: of lines once, of words for every changed line.
MOST_LINES, MOST_WORDS = 1_000_000, 40_000
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference.

    ``kind`` is ``same``, ``removed`` or ``added``, or ``gap`` for ``skipped`` equal lines.
    ``before`` and ``after`` are line numbers from 1, None if the text has no such line.
    """

    kind: str
    pieces: tuple[Piece, ...] = ()
    before: int | None = None
    after: int | None = None
    skipped: int = 0


def diff(before: str, after: str, *, context: int = CONTEXT) -> list[Line]:
    """The difference from ``before`` to ``after``; empty if they are equal.

    ``context`` equal lines stay on either side of a change.
    """
    if before == after:
        return []
    old, new = before.split("\n"), after.split("\n")
    found: list[Line] = []
    for kind, a, b, c, d in _opcodes(old, new, MOST_LINES):
        if kind == "equal":
            found += [
                Line("same", ((text, False),), a + index + 1, c + index + 1)
                for index, text in enumerate(old[a:b])
            ]
        else:
            found += _changed_lines((a, old[a:b]), (c, new[c:d]))
    return list(_with_gaps(found, context))


def counts(lines: Sequence[Line]) -> tuple[int, int]:
    """The numbers of removed and added lines."""
    kinds = [line.kind for line in lines]
    return kinds.count("removed"), kinds.count("added")


def _opcodes(old: Sequence[str], new: Sequence[str], most: int) -> list[Opcode]:
    """As ``SequenceMatcher``; a middle that is too long to compare is replaced as a whole."""
    least = min(len(old), len(new))
    head = next((index for index in range(least) if old[index] != new[index]), least)
    rest = least - head
    tail = next((index for index in range(rest) if old[-1 - index] != new[-1 - index]), rest)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[Opcode] = [("replace", 0, len(a), 0, len(b))]
    if len(a) * len(b) <= most:
        middle = list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    codes = [
        ("equal", 0, head, 0, head),
        *((kind, head + i, head + j, head + k, head + n) for kind, i, j, k, n in middle),
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _changed_lines(old: tuple[int, list[str]], new: tuple[int, list[str]]) -> Iterator[Line]:
    """Removed lines before added ones; of equal numbers each pair is compared word by word."""
    (a, gone), (c, come) = old, new
    pairs = [_compare_words(*pair) for pair in zip(gone, come, strict=False)]
    paired = len(gone) == len(come)
    for index, text in enumerate(gone):
        pieces = pairs[index][0] if paired else ((text, False),)
        yield Line("removed", pieces, before=a + index + 1)
    for index, text in enumerate(come):
        pieces = pairs[index][1] if paired else ((text, False),)
        yield Line("added", pieces, after=c + index + 1)


def _compare_words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both lines in pieces; unmarked if they have too little in common."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    codes = _opcodes(before, after, MOST_WORDS)
    same = sum(b - a for kind, a, b, _, _ in codes if kind == "equal")
    if 2 * same < ALIKE * (len(before) + len(after)):
        return ((old, False),), ((new, False),)
    gone, come = [], []
    for kind, a, b, c, d in codes:
        gone.append(("".join(before[a:b]), kind != "equal"))
        come.append(("".join(after[c:d]), kind != "equal"))
    return tuple(p for p in gone if p[0]), tuple(p for p in come if p[0])


def _with_gaps(lines: list[Line], context: int) -> Iterator[Line]:
    near = [False] * len(lines)
    for index, line in enumerate(lines):
        if line.kind != "same":
            low, high = max(0, index - context), min(len(lines), index + context + 1)
            near[low:high] = [True] * (high - low)
    skipped = 0
    for line, shown in zip(lines, near, strict=True):
        if not shown:
            skipped += 1
            continue
        if skipped:
            yield Line("gap", skipped=skipped)
            skipped = 0
        yield line
    if skipped:
        yield Line("gap", skipped=skipped)
