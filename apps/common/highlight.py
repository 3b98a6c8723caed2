"""Mark quoted phrases in untrusted text."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

#: Models replace dashes and quotation marks when they quote.
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_LEAST_LETTERS = 2


def highlight(
    text: str,
    evidence: Mapping[str, Iterable[str]] | None,
    labels: Mapping[str, tuple[str, str]] | None = None,
) -> SafeString:
    """``text`` as escaped HTML with every phrase of ``evidence`` in a ``<mark>``.

    Args:
        text: any text, also a hostile one.
        evidence: phrases by label. Case, runs of blanks and the style of quotation marks do not
            matter; phrases that do not occur are ignored.
        labels: name and colour by key of ``evidence``, if its keys are not to be shown as they are.
            The marks then have the colours, show the names on hover, and take the focus.

    Returns:
        HTML in which ``data-label`` of each mark names its labels; without its tags it equals the
        escaped text.
    """
    folded, origin = _fold(text)
    marks = [
        (origin[start], origin[start + length - 1] + 1, str(label))
        for label, phrases in (evidence or {}).items()
        for phrase in ((phrases,) if isinstance(phrases, str) else phrases)
        for start, length in _occurrences(folded, str(phrase))
    ]
    if not marks:
        return escape(text)
    parts: list[str] = []
    for start, end, keys in _segments(len(text), marks):
        part = escape(text[start:end])
        if keys:
            words = escape(", ".join(keys))
            shown = _label_attributes([labels[key] for key in keys]) if labels else ""
            part = mark_safe(f'<mark class="quote" data-label="{words}"{shown}>{part}</mark>')  # noqa: S308 - all parts are escaped
        parts.append(part)
    return mark_safe("".join(parts))  # noqa: S308 - every part is escaped


def _label_attributes(labels: list[tuple[str, str]]) -> SafeString:
    """The names as JSON for the page's script and in words for people, and at most two colours."""
    names = list(dict.fromkeys(name for name, _ in labels))
    colors = [*dict.fromkeys(color for _, color in labels if color), ""]
    second = format_html(' data-color2="{}"', colors[1]) if len(colors) > 2 else ""
    return format_html(
        ' data-names="{}" data-color="{}"{} title="{}" tabindex="0"',
        json.dumps(names, ensure_ascii=False),
        colors[0],
        second,
        ", ".join(names),
    )


def find_quote(text: str, phrase: str) -> str | None:
    """The first part of ``text`` that :func:`highlight` would mark for ``phrase``; None if none."""
    folded, origin = _fold(text)
    found = next(_occurrences(folded, phrase), None)
    if found is None:
        return None
    start, length = found
    return text[origin[start] : origin[start + length - 1] + 1]


def _occurrences(folded: str, phrase: str) -> Iterator[tuple[int, int]]:
    wanted = _fold(phrase)[0].strip()
    if len(wanted) < _LEAST_LETTERS:
        return
    start = folded.find(wanted)
    while start >= 0:
        yield start, len(wanted)
        start = folded.find(wanted, start + len(wanted))


def _fold(text: str) -> tuple[str, list[int]]:
    """The text for comparison, and the original position of each of its characters.

    Case folding can lengthen a text ("ß" becomes "ss"), so positions are kept one by one.
    """
    chars: list[str] = []
    origin: list[int] = []
    for place, char in enumerate(text):
        if char.isspace():
            if chars and chars[-1] == " ":
                continue
            char = " "  # noqa: PLW2901 - all whitespace is equal
        for folded in char.translate(_ALIKE).casefold():
            chars.append(folded)
            origin.append(place)
    return "".join(chars), origin


def _segments(
    length: int, marks: list[tuple[int, int, str]]
) -> Iterator[tuple[int, int, list[str]]]:
    """Split the text where a mark starts or ends, so that overlapping marks never nest."""
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
