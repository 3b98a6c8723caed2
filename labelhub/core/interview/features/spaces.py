"""Label spaces that are derived instead of listed: yes or no, and bands of numbers.

The values are English and never change with the language; what an author reads does. Numbers are
asked for as bands, because a click is what an author gives (paper 004, section 2.2: questions that
are answered with one click).
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

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
#: Below the first bound, between two, above the last; "{u}" is the unit with a blank before it.
_BANDS: Mapping[str, tuple[str, str, str]] = {
    "en": ("under {0}{u}", "{0} to {1}{u}", "over {0}{u}"),
    "de": ("unter {0}{u}", "{0} bis {1}{u}", "über {0}{u}"),
    "es": ("menos de {0}{u}", "de {0} a {1}{u}", "más de {0}{u}"),
    "fr": ("moins de {0}{u}", "de {0} à {1}{u}", "plus de {0}{u}"),
    "ja": ("{0}{u}未満", "{0}～{1}{u}", "{0}{u}超"),
    "ar": ("أقل من {0}{u}", "من {0} إلى {1}{u}", "أكثر من {0}{u}"),
}


def band_values(bounds: Sequence[float]) -> tuple[str, ...]:
    """The bands between ascending bounds, lowest first: "under 25", "25 to 50", "over 50"."""
    return _bands(bounds, "", "en")


def yes_no_words(language: str) -> dict[str, str]:
    """Yes and no as an author reads them; empty where the language is none of ours."""
    words = _YES_NO.get(_short(language))
    return dict(zip((YES, NO), words, strict=True)) if words else {}


def band_words(bounds: Sequence[float], unit: str, language: str) -> dict[str, str]:
    """The bands as an author reads them, by value; empty where the language is none of ours."""
    if _short(language) not in _BANDS:
        return {}
    return dict(zip(band_values(bounds), _bands(bounds, unit, language), strict=True))


def number_text(number: float) -> str:
    """A number without exponent and needless zeros: "25", "0.5", "1000000"."""
    text = f"{Decimal(str(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_bound(given: object) -> bool:
    """Whether it is a number that can bound a band."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) <= LARGEST


def _bands(bounds: Sequence[float], unit: str, language: str) -> tuple[str, ...]:
    below, between, above = _BANDS[_short(language)]
    told = [number_text(bound) for bound in bounds]
    tail = f" {unit}" if unit else ""
    return (
        below.format(told[0], u=tail),
        *(between.format(low, high, u=tail) for low, high in pairwise(told)),
        above.format(told[-1], u=tail),
    )


def _short(language: str) -> str:
    return language.partition("-")[0]
