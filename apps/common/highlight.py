"""Marking quoted places in a text that nobody vouches for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

#: Models quote with other dashes and quotation marks than the author wrote.
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_LEAST_LETTERS = 2


def highlight(text: str, evidence: Mapping[str, Iterable[str]] | None) -> SafeString:
    """``text`` as escaped HTML with every place that ``evidence`` quotes in a ``<mark>``.

    Args:
        text: any text, however hostile.
        evidence: phrases by label. Case, runs of blanks and the style of quotation marks do not
            matter; a phrase that does not occur is left out.

    Returns:
        HTML in which ``data-label`` of each mark names its labels; without its tags it is exactly
        the escaped text.
    """
    marks = _marks(text, evidence or {})
    if not marks:
        return escape(text)
    parts: list[str] = []
    for start, end, labels in _segments(len(text), marks):
        part = escape(text[start:end])
        if labels:
            names = escape(", ".join(labels))
            part = mark_safe(f'<mark class="quote" data-label="{names}">{part}</mark>')  # noqa: S308 - both parts are escaped
        parts.append(part)
    return mark_safe("".join(parts))  # noqa: S308 - every part is escaped


def verbatim(text: str, phrase: str) -> str | None:
    """``phrase`` as it stands in ``text`` where :func:`highlight` would first mark it; None where
    it does not occur."""
    folded, origin = _fold(text)
    found = next(_occurrences(folded, phrase), None)
    if found is None:
        return None
    start, length = found
    return text[origin[start] : origin[start + length - 1] + 1]


def _marks(text: str, evidence: Mapping[str, Iterable[str]]) -> list[tuple[int, int, str]]:
    folded, origin = _fold(text)
    return [
        (origin[start], origin[start + length - 1] + 1, str(label))
        for label, phrases in evidence.items()
        for phrase in ((phrases,) if isinstance(phrases, str) else phrases)
        for start, length in _occurrences(folded, str(phrase))
    ]


def _occurrences(folded: str, phrase: str) -> Iterator[tuple[int, int]]:
    wanted = _fold(phrase)[0].strip()
    if len(wanted) < _LEAST_LETTERS:
        return
    start = folded.find(wanted)
    while start >= 0:
        yield start, len(wanted)
        start = folded.find(wanted, start + len(wanted))


def _fold(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place it came from.

    Case folding can lengthen a text ("ß" becomes "ss"), so places are kept one by one.
    """
    chars: list[str] = []
    origin: list[int] = []
    for place, char in enumerate(text):
        if char.isspace():
            if chars and chars[-1] == " ":
                continue
            char = " "  # noqa: PLW2901 - every kind of blank counts as one
        for folded in char.translate(_ALIKE).casefold():
            chars.append(folded)
            origin.append(place)
    return "".join(chars), origin


def _segments(
    length: int, marks: list[tuple[int, int, str]]
) -> Iterator[tuple[int, int, list[str]]]:
    """Cut the text wherever a mark begins or ends, so that overlapping marks never nest wrongly."""
    changes: dict[int, list[tuple[str, int]]] = {0: [], length: []}
    for start, end, label in marks:
        changes.setdefault(start, []).append((label, 1))
        changes.setdefault(end, []).append((label, -1))
    active: Counter[str] = Counter()
    places = sorted(changes)
    for start, end in pairwise(places):
        for label, step in changes[start]:
            active[label] += step
        yield start, end, sorted(label for label, count in active.items() if count > 0)
