"""Label spaces that are derived instead of listed: yes or no, and bands of numbers.

The values are English and never change with the language; what an author reads does. Numbers are
asked for as bands, because a click is what an author gives (paper 004, section 2.2: questions that
are answered with one click).
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from labelhub.core.interview.features.numbers import begins_above, ends_below, numbers_in

#: One value more than bounds, and two bounds at least, so that every number has its band.
LEAST_BOUNDS, MOST_BOUNDS = 2, 19
LARGEST = 10**12

YES, NO = "yes", "no"
_YES_NO: Mapping[str, tuple[str, str]] = {
    "en": ("Yes", "No"),
    "de": ("Ja", "Nein"),
    "es": ("Sí", "No"),
    "fr": ("Oui", "Non"),
    "ja": ("はい", "いいえ"),
    "ar": ("نعم", "لا"),
}
#: Below the first bound, from one up to the next, from the last on; "{u}" is the unit with a blank
#: before it. A bound belongs to the band that it begins: every number has one band, none has two.
_BANDS: Mapping[str, tuple[str, str, str]] = {
    "en": ("under {0}{u}", "{0} to under {1}{u}", "{0}{u} or more"),
    "de": ("unter {0}{u}", "{0} bis unter {1}{u}", "{0}{u} oder mehr"),
    "es": ("menos de {0}{u}", "{0} a menos de {1}{u}", "{0}{u} o más"),
    "fr": ("moins de {0}{u}", "{0} à moins de {1}{u}", "{0}{u} ou plus"),
    "ja": ("{0}{u}未満", "{0}以上{1}{u}未満", "{0}{u}以上"),
    "ar": ("أقل من {0}{u}", "{0} إلى أقل من {1}{u}", "{0}{u} أو أكثر"),
}
#: The names of the values, which labels keep.
_NAMES = ("under {0}{u}", "{0} to {1}{u}", "over {0}{u}")


def band_values(bounds: Sequence[float]) -> tuple[str, ...]:
    """The names of the bands, lowest first: "under 25", "25 to 50", "over 50".

    A bound belongs to the band that begins with it, as :func:`band_words` says.
    """
    return _bands(bounds, "", _NAMES)


def yes_no_words(language: str) -> dict[str, str]:
    """Yes and no as an author reads them; empty where the language is none of ours."""
    words = _YES_NO.get(_short(language))
    return dict(zip((YES, NO), words, strict=True)) if words else {}


def band_words(bounds: Sequence[float], unit: str, language: str) -> dict[str, str]:
    """The bands as an author reads them, by value; empty where the language is none of ours."""
    if _short(language) not in _BANDS:
        return {}
    words = _bands(bounds, unit, _BANDS[_short(language)])
    return dict(zip(band_values(bounds), words, strict=True))


def overlapping_words(words: Sequence[str]) -> str:
    """What two neighbours among words for bands both hold, or neither does; "" where that is clear.

    Numbers are taken for whole ones.
    """
    for low, high in pairwise(words):
        ends, begins = numbers_in(low), numbers_in(high)
        if not ends or not begins:
            continue
        end, begin = ends[-1], begins[0]
        is_open = ends_below(low)
        if (end == begin and is_open == begins_above(high)) or not (
            end <= begin <= end + (not is_open)
        ):
            return f"'{low}' and '{high}'"
    return ""


def number_text(number: float) -> str:
    """A number without exponent and needless zeros: "25", "0.5", "1000000"."""
    text = f"{Decimal(str(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_bound(given: object) -> bool:
    """Whether it is a number that can bound a band."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) <= LARGEST


def _bands(bounds: Sequence[float], unit: str, forms: tuple[str, str, str]) -> tuple[str, ...]:
    below, between, above = forms
    told = [number_text(bound) for bound in bounds]
    tail = f" {unit}" if unit else ""
    return (
        below.format(told[0], u=tail),
        *(between.format(low, high, u=tail) for low, high in pairwise(told)),
        above.format(told[-1], u=tail),
    )


def _short(language: str) -> str:
    return language.partition("-")[0]
