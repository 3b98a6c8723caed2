"""The words of ``offer_words.toml`` by language, compiled once."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.schema import fold

_SOURCE = Path(__file__).with_name("offer_words.toml")
_FALLBACK = "en"
_QUOTES = str.maketrans("’‘´`", "''''")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class OfferTable:
    """One language's words about offers; see the file."""

    label: str
    template: str
    capitals: bool
    latin: bool
    claims: re.Pattern[str]
    urgency: re.Pattern[str]
    speaker: re.Pattern[str]
    hidden: re.Pattern[str]


def offer_table(language: str) -> OfferTable:
    """The words of that language ("de", "de-AT"); English for one that has no table."""
    tables = _tables()
    return tables.get(_base(language), tables[_FALLBACK])


def tables_for(language: str) -> tuple[OfferTable, ...]:
    """Those of the language and of English, which models fall back into."""
    return tuple(dict.fromkeys((offer_table(language), _tables()[_FALLBACK])))


def label_of(language: str) -> str:
    """What an offer is called in that language; never empty."""
    return offer_table(language).label


def is_known(language: str) -> bool:
    """Whether that language has a table of its own."""
    return _base(language) in _tables()


def labels() -> frozenset[str]:
    """What offers are called in all languages."""
    return frozenset(table.label for table in _tables().values())


def plain(text: str) -> str:
    """The form in which words are looked for: folded, one kind of apostrophe, single blanks."""
    return _BLANKS.sub(" ", fold(text).translate(_QUOTES))


def _base(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, OfferTable]:
    data = tomllib.loads(_SOURCE.read_text("utf-8"))
    return {language: _table(raw) for language, raw in data.items()}


def _table(raw: Mapping[str, Any]) -> OfferTable:
    told = {
        name: _pattern(raw[name], spaced=raw["spaced"])
        for name in ("claims", "urgency", "speaker", "hidden")
    }
    return OfferTable(raw["label"], raw["template"], raw["capitals"], raw["latin"], **told)


def _pattern(phrases: Iterable[str], *, spaced: bool) -> re.Pattern[str]:
    found = "|".join(_phrase(each) for each in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)" if spaced else f"(?:{found})")


def _phrase(phrase: str) -> str:
    start = plain(phrase.removesuffix("*"))
    return re.escape(start) + (r"\w*" if phrase.endswith("*") else "")
