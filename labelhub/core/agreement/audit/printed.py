"""A printed number: its value, how many digits it was printed with, and the marks beside it.

What a printed number may have been before printing is its value give or take one unit of its last
digit: papers round and truncate, often in the same table.
"""

import re
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from labelhub.core.errors import InvalidInput

#: One unit of the last digit covers truncation, the tenth what was rounded twice.
UNITS = 1.1
#: Numbers that a program wrote in full carry noise in the digits beyond.
MOST_DIGITS = 6
LONGEST_CELL = 200
LARGEST = 1e12

#: Marks behind a number with decimals: behind a whole one a small figure may be a power.
_FOOTNOTE = re.compile(
    r"(?<=[.,]\d)(\d*%?)\s*(?:<sup>[^<>]{1,5}</sup>|\$?\^\{?[\w*,]{1,3}\}?\$?$"
    r"|[\u00b9\u00b2\u00b3\u2070-\u2079\u1d43-\u1d5b]+$)"
)
_MARKUP = re.compile(
    r"</?(?:b|i|u|strong|em|sub|sup)>|\*|`|[{}$†‡§¶]"
    r"|\\(?:text\w*|math\w*|underline|uline|emph|bf\w*|it\w*|boldsymbol|bm|small|footnotesize"
    r"|scriptsize|tiny|d?dagger|ddag|dag|ast|star)(?![a-z])|[_^](?=[\s{}$]*(?:\\d{0,2}ag|\\ast|\\star|[±*†‡§¶+-]|$))",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'\u2019 ](?=\d{3}(?!\d))")
_WRITTEN = {
    "\u2212": "-",
    "\u2013": "-",
    "\\%": "%",
    "\\pm": "±",
    "\\,": " ",
    "~": " ",
    "\\kappa": "κ",
    "\\alpha": "α",
    "\\Delta": "Δ",
    "\\chi": "χ",
    "\\uparrow": "↑",
    "\\downarrow": "↓",
}
_NUMBER = re.compile(
    r"[<>=~≈]?\s*(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)"
    r"\s*(?P<percent>%?)(?P<rest>.*)",
    re.DOTALL,
)
_DELTA = re.compile(r"\(?\s*(?P<sign>[+\-↑↓])\s*(?P<size>\d*\.?\d+)\s*%?\s*\)?")
_N = re.compile(r"\(?\s*n\s*=\s*(\d[\d,]{0,14})[^)]{0,30}\)?", re.IGNORECASE)
_SPREAD = re.compile(r"\(?\s*(?:±|\+/-|\+-)?\s*\d*\.?\d+\s*%?\s*\)|(?:±|\+/-|\+-)\s*\d*\.?\d+\s*%?")
_INTERVAL = re.compile(
    r"(?:95 ?% ?)?(?:CI:? ?)?[\[(]? ?(?:95 ?% ?)?(?:CI:? ?)?(?P<low>-?\d*\.?\d+) ?%? ?"
    r"(?:[,;]|-|to) ?(?P<high>-?\d*\.?\d+) ?%? ?[\])]?",
    re.IGNORECASE,
)


class Interval(NamedTuple):
    """A printed interval; ``digits`` are those of the end with fewer."""

    low: float
    high: float
    digits: int


@dataclass(frozen=True, slots=True)
class Printed:
    """``delta``: what stands behind it as in "0.76 (+0.35)"; ``n``: as in "50.5% (n=746)";
    ``interval``: as in "0.76 [0.70, 0.81]"."""

    text: str
    value: float
    digits: int
    percent: bool = False
    delta: float | None = None
    n: int | None = None
    interval: "Interval | None" = None

    @property
    def bound(self) -> bool:
        """Whether it is only said to be below: "< .001"."""
        return self.text.startswith("<")

    @property
    def tolerance(self) -> float:
        """By how much the number may differ from what was printed, in the printed unit."""
        return unit(self.digits) * UNITS


#: How the checks take a number: as text, as a number, or read already.
Number = str | float | int | Printed


def unit(digits: int) -> float:
    """One unit of the last of ``digits`` decimals."""
    return float(10.0**-digits)


def parse(cell: object) -> Printed | None:
    """The number in a cell, or None where the cell holds none (text, NaN, true, nothing)."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, float | int):
        # A whole float prints as 143.0; only the digits that say something count.
        text = repr(int(cell)) if _is_whole(cell) else repr(cell)
        return _parse_text(text)
    return _parse_text(cell) if isinstance(cell, str) else None


def printed(number: object) -> Printed:
    """Like ``parse``, but what is no number raises InvalidInput."""
    found = number if isinstance(number, Printed) else parse(number)
    if found is None:
        raise InvalidInput(f"{str(number)[:40]!r} is not a number.")
    return found


def clean(cell: object) -> str:
    """The text of a cell without the marks of bold and italics."""
    text = str(cell)[:LONGEST_CELL]
    for written, mark in _WRITTEN.items():
        text = text.replace(written, mark)
    return " ".join(_MARKUP.sub("", _FOOTNOTE.sub(r"\1", text)).split())


def interval(cell: object) -> Interval | None:
    """The interval in a cell that holds no more, with or without brackets."""
    match = _INTERVAL.fullmatch(clean(cell)) if isinstance(cell, str) else None
    if match is None:
        return None
    low, high = (match[name] for name in ("low", "high"))
    digits = min(len(end.partition(".")[2]) for end in (low, high))
    return Interval(float(low), float(high), digits)


def _parse_text(text: str) -> Printed | None:
    if len(text) > LONGEST_CELL:
        return None
    bare = _THOUSANDS.sub("", clean(text))
    match = _NUMBER.fullmatch(bare)
    number = match["number"] if match else ""
    if match is None or not any(letter.isdecimal() for letter in number):
        return None
    rest = _beside(match["rest"].strip())
    value = _value(number)
    if rest is None or value is None:
        return None
    mantissa = number.lower().split("e")[0]
    digits = min(MOST_DIGITS, len(mantissa.partition(".")[2]) + _exponent(number))
    return Printed(bare, value, digits, bool(match["percent"]), *rest)


def _value(number: str) -> float | None:
    try:
        value = float(number.replace(",", ""))
    except ValueError:
        return None
    return value if isfinite(value) and abs(value) <= LARGEST else None


def _exponent(number: str) -> int:
    """How many more decimals a small number in scientific form has: 1.2e-4 has four more."""
    _, _, power = number.lower().partition("e")
    return max(0, -int(power)) if power else 0


def _beside(rest: str) -> tuple[float | None, int | None, Interval | None] | None:
    """What may stand behind a number; None where something else stands there: it is text."""
    if not rest:
        return None, None, None
    if match := _DELTA.fullmatch(rest):
        size = float(match["size"])
        return (-size if match["sign"] in "-↓" else size), None, None
    if match := _N.fullmatch(rest):
        return None, int(match[1].replace(",", "")), None
    if (found := interval(rest)) is not None:
        return None, None, found
    return (None, None, None) if _SPREAD.fullmatch(rest) else None


def _is_whole(number: float) -> bool:
    return isfinite(number) and abs(number) <= LARGEST and number == int(number)
