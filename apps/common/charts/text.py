"""Measure and cut texts to fit a chart."""

import re
import unicodedata
from collections.abc import Sequence

#: Width of a digit or small letter in a chart's type.
LETTER = 6.9
#: The share of the room for the end of a name whose middle is cut out.
TAIL = 0.45

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]|\\s+")
#: Words with what divides them from the next one.
_WORD = re.compile(r"\S+?(?:-(?=\S)|\s+|$)")
_JOINING = ("\u200d", "\ufe0f", "\ufe0e")


def clean(text: object) -> str:
    """``text`` without characters that XML forbids."""
    return _UNSAFE.sub("\ufffd", str(text))


def width_of(text: str) -> float:
    """The approximate width of ``text`` in the widest of the common fonts."""
    return LETTER * sum(map(_size, text))


def cut(text: object, room: float) -> str:
    """``text`` on one line, cut to fit ``room`` with an ellipsis.

    Marks of writing direction are removed, as they would affect neighbouring text.
    """
    whole = on_one_line(text)
    if width_of(whole) <= room:
        return whole
    used, kept = 1.2, ""
    for letter in whole:
        used += _size(letter)
        if used * LETTER > room:
            break
        kept += letter
    return f"{kept.rstrip(' ').rstrip(''.join(_JOINING))}…"


def wrap(text: object, room: float, most: int) -> list[str]:
    """``text`` in at most ``most`` lines that fit ``room``; empty if it does not fit."""
    lines = [""]
    for word in _WORD.findall(on_one_line(text)):
        if lines[-1] and width_of(f"{lines[-1]}{word}".rstrip()) > room:
            lines.append("")
        lines[-1] += word
    fits = len(lines) <= most and all(width_of(line.rstrip()) <= room for line in lines)
    return [line.rstrip() for line in lines] if fits else []


def cut_apart(names: Sequence[str], room: float) -> list[str]:
    """Names cut to fit ``room``; if two would be equal, names keep both ends."""
    found = [cut(name, room) for name in names]
    if len(set(found)) == len(set(names)):
        return found
    return [_cut_middle(name, room) for name in names]


def on_one_line(text: object) -> str:
    """``text`` without line breaks and marks of writing direction."""
    return _TURNING.sub(" ", clean(text)).strip()


def _cut_middle(name: str, room: float) -> str:
    whole = on_one_line(name)
    if width_of(whole) <= room:
        return whole
    last = len(whole)
    while last and width_of(whole[last - 1 :]) <= room * TAIL:
        last -= 1
    tail = whole[last:].lstrip(" ")
    return f"{cut(whole, room - width_of(tail))}{tail}"


def _size(letter: str) -> float:
    if letter in _JOINING or unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 2.0
    if letter in "ijl.,:;|!'() ":
        return 0.6
    return 1.4 if letter in "MWmw@%" else 1.1 if letter.isupper() else 1.0
