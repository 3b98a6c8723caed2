"""Answers whose space is derived: the band that a number in the text is in, and yes or no."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.weigh import is_turned
from labelhub.core.llm.offline.words import stem, stems
from labelhub.core.llm.types import Call

_SIGNS = "$€£¥"
_MONEY = frozenset({
    *_SIGNS, "usd", "eur", "gbp", "jpy", "chf", "cad", "aud", "dollar", "euro", "pound", "buck",
    "yen", "franc", "grand",
})  # fmt: skip
#: Not within a word or a longer chain of digits such as a date, a time or a version.
_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?P<before>[$€£¥]?)\s?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,12})(?P<rest>\.\d{1,6})?(?P<kilo>k(?!\w))?"
    r"(?![.,:/-]?\d)\s?(?P<after>[$€£¥]|[^\W\d_]+)?",
    re.IGNORECASE,
)


def decided_in_space(look: Look, call: Call) -> Verdict | None:
    """What the text says where ``call.inputs`` tell of a derived space; None where it says nothing,
    or there is no such space.

    ``bounds`` and ``unit`` are those of bands, which the labels are, lowest first; ``signs`` maps
    "yes" and "no" to words that speak for them.
    """
    if "bounds" in call.inputs:
        return _banded(look, call.inputs["bounds"], str(call.inputs.get("unit", "")))
    if "signs" in call.inputs:
        return _affirmed(look, call.inputs["signs"])
    return None


def _banded(look: Look, bounds: Sequence[float], unit: str) -> Verdict | None:
    found = next((each for each in _NUMBER.finditer(look.reading.text) if _fits(each, unit)), None)
    if found is None:
        return None
    number = float(found["whole"].replace(",", "") + (found["rest"] or ""))
    number *= 1000 if found["kilo"] else 1
    # A bound belongs to the band that begins with it.
    at = bisect_right(bounds, number)
    name = look.profile.names[at]
    return Verdict((quoted(name, (found[0].strip(),)),), (name,))


def _fits(found: re.Match[str], unit: str) -> bool:
    """Whether a number counts that unit: it says so, or is bare where the unit is money."""
    after = stem((found["after"] or "").casefold())
    sign = found["before"] or (after if after in _SIGNS else "")
    wanted = stem(unit.casefold())
    if not unit or after == wanted:
        return True
    if wanted not in _MONEY:
        return False
    # "for 300", "300 please": what follows is no other unit as far as anybody can tell.
    return bool(sign) or not after or after in _MONEY


def _affirmed(look: Look, signs: Mapping[str, Iterable[str]]) -> Verdict:
    """Yes where more speaks for it than for no."""
    sums = {"yes": 0, "no": 0}
    said: dict[str, list[str]] = {"yes": [], "no": []}
    for value, words in signs.items():
        for start, end, turned in _places(look, words):
            meant = value if not turned else ("no" if value == "yes" else "yes")
            sums[meant] += 1
            said[meant].append(look.reading.text[start:end])
    name = "yes" if sums["yes"] > sums["no"] else "no"
    return Verdict((quoted(name, tuple(said[name][:1])),), (name,))


def _places(look: Look, words: Iterable[str]) -> Iterator[tuple[int, int, bool]]:
    """Where one of the words stands in the text, and whether it is denied there."""
    tokens = look.reading.tokens
    for term in {stems(each, look.book.irregular) for each in words} - {()}:
        for at in range(len(tokens) - len(term) + 1):
            if tuple(token.stem for token in tokens[at : at + len(term)]) == term:
                last = tokens[at + len(term) - 1]
                yield tokens[at].start, last.end, is_turned(tokens, at, look.book)
