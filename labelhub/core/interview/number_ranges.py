"""Numbers in a text, in digits and in words, and ranges of numbers."""

import re
from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple

from labelhub.core.interview.language import fold_text

#: One language on each entry: the folded words for one to twenty, then for the tens to a hundred;
#: forms of one number as "a/b".
_WORDS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
sixteen seventeen eighteen nineteen twenty \
thirty forty fifty sixty seventy eighty ninety hundred
ein/eins/eine/einen/einem zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn \
vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn zwanzig \
dreissig vierzig funfzig sechzig siebzig achtzig neunzig hundert
uno/un/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince \
dieciseis diecisiete dieciocho diecinueve veinte \
treinta cuarenta cincuenta sesenta setenta ochenta noventa cien
un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize \
dix-sept dix-huit dix-neuf vingt \
trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix cent
一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五 十六 十七 十八 十九 二十 \
三十 四十 五十 六十 七十 八十 九十 百
واحد/واحده اثنان/اثنين ثلاثه/ثلاث اربعه/اربع خمسه/خمس سته/ست سبعه/سبع ثمانيه/ثماني تسعه/تسع \
عشره/عشر احد-عشر اثنا-عشر ثلاثه-عشر اربعه-عشر خمسه-عشر سته-عشر سبعه-عشر ثمانيه-عشر تسعه-عشر \
عشرون/عشرين ثلاثون/ثلاثين اربعون/اربعين خمسون/خمسين ستون/ستين سبعون/سبعين ثمانون/ثمانين \
تسعون/تسعين مئه/مائه
"""
_COUNTED = (*range(1, 21), *range(30, 101, 10))
_VALUES = {
    fold_text(form).replace("-", " "): number
    for words in _WORDS.strip().splitlines()
    for number, forms in zip(_COUNTED, words.split(), strict=True)
    for form in forms.split("/")
}
_NAMED = "|".join(sorted(map(re.escape, _VALUES), key=len, reverse=True)).replace(r"\ ", "[ -]")
_DENSE = "一二三四五六七八九"
#: A number in digits or in words of folded text; "two hundred" and "twenty five" are one number.
NUMBER_FORM = (
    rf"(?:(?<![\d.,])-?\d+(?:[.,]\d+)*|[{_DENSE}十百]+"
    # Atomic, because "quatre vingt dix" can be split in several ways.
    rf"|(?<!\w)(?>(?:{_NAMED})(?!\w)(?:[ -](?:{_NAMED})(?!\w))*))"
)
_NUMBER = re.compile(NUMBER_FORM)
_NAME = re.compile(_NAMED)
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(?:[.,]\d{3})+")
_NOT = r"(?<!\bno )(?<!\bnot )(?<!\bnicht )(?<!\bpas )(?<!\bلا )"
#: Words by which the last number of a band is not in it, and the first is not.
_BELOW = re.compile(rf"{_NOT}\b(?:under|below|less|unter|weniger|menos|moins)\b|未満|(?<!لا )اقل|<")
_ABOVE = re.compile(
    rf"{_NOT}\b(?:over|above|more than|uber|mehr als|mas de|plus de|اكثر من)\b|超|>"
)
#: Words by which a band with one number ends with it, or begins with it.
_AT_MOST = re.compile(
    r"\b(?:up to|at most|not? more than|not? over|not? above|nicht uber|bis|hochstens|maximal"
    r"|nicht mehr als|hasta|como maximo"
    r"|no mas de|jusqu|au plus|pas plus de)\b|以下|まで|حتي|الي|لا اكثر من|لا يزيد عن"
)
_AT_LEAST = re.compile(
    r"\b(?:(?:or|and) more|at least|not? less than|not? fewer than|not? under|not? below"
    r"|nicht weniger als|nicht unter|no menos de"
    r"|pas moins de|from|oder mehr|mindestens|ab|[oy] mas|al menos|desde"
    r"|(?:ou|et) plus|au moins)\b|以上|او اكثر|علي الاقل|لا يقل عن|لا اقل من|\+"
)
_UNIT = r" ?(?:[$€£¥] ?|[^\W\d]{1,12} )?"
_SIGN = "[$€£¥]? ?"
_SPAN = re.compile(
    rf"({NUMBER_FORM})(?:{_UNIT}(?:[-–—~〜]|\b(?:to|until|bis|a|hasta|jusqu'a)\b|الي|حتي)|\D?(?:から|以上))"
    rf"(?: (?:[^\W\d]{{1,8}} ){{0,2}}| ?){_SIGN}({NUMBER_FORM})"
    rf"|\b(?:between|zwischen|entre|بين) {_SIGN}({NUMBER_FORM}){_UNIT}(?:and|und|y|et|و) ?"
    rf"{_SIGN}({NUMBER_FORM})"
)


class Range(NamedTuple):
    """All numbers from ``low`` to ``high``; an open end is not in it."""

    low: float
    high: float
    low_is_open: bool = False
    high_is_open: bool = False


def numbers_in(text: str) -> list[float]:
    """The numbers in ``text``, in order."""
    return [_value(form) for form in _NUMBER.findall(fold_text(text))]


def ends_below(text: str) -> bool:
    """Whether the last number of a band in words is not in it."""
    return _BELOW.search(fold_text(text)) is not None


def begins_above(text: str) -> bool:
    """Whether the first number of a band in words is not in it."""
    return _ABOVE.search(fold_text(text)) is not None


def overlapping_ranges(words: Sequence[str]) -> str:
    """The first two of ``words`` that are ranges with a common number; "" if there are none."""
    ranges = [(word, found) for word in words if (found := range_of(word)) is not None]
    for (first, range_a), (second, range_b) in combinations(ranges, 2):
        if _overlap(range_a, range_b):
            return f"'{first}' and '{second}'"
    return ""


def range_of(text: str) -> Range | None:
    """The range in ``text``: "2 to 4 days", "four or more"; None if there is none."""
    searched = fold_text(text)
    found = _SPAN.search(searched)
    if found:
        low, high = map(_value, filter(None, found.groups()))
        return Range(low, high, begins_above(text), ends_below(text)) if low < high else None
    numbers = numbers_in(text)
    return _half_open_range(searched, numbers[0]) if len(numbers) == 1 else None


def _half_open_range(searched: str, number: float) -> Range | None:
    for pattern, half in (
        (_AT_LEAST, Range(number, inf)),
        (_BELOW, Range(-inf, number, high_is_open=True)),
        (_ABOVE, Range(number, inf, low_is_open=True)),
        (_AT_MOST, Range(-inf, number)),
    ):
        if pattern.search(searched):
            return half
    return None


def _overlap(first: Range, second: Range) -> bool:
    below, above = sorted((first, second))
    if below.high == above.low:
        return not (below.high_is_open or above.low_is_open)
    return above.low < below.high


def _value(form: str) -> float:
    if form[-1].isdecimal():
        plain = re.sub("[.,]", "", form) if _THOUSANDS.fullmatch(form) else form.replace(",", ".")
        return float(plain) if plain.count(".") < 2 else 0.0
    if set(form) <= {*_DENSE, "十", "百"}:
        return _dense_value(form)
    total = 0
    for name in _NAME.findall(form):
        number = _VALUES[name.replace("-", " ")]
        total = total * number if number == 100 and total else total + number
    return total


def _dense_value(form: str) -> int:
    total = waiting = 0
    for character in form:
        if character in "十百":
            total += (waiting or 1) * _VALUES[character]
            waiting = 0
        else:
            waiting = _VALUES[character]
    return total + waiting
