"""Check the words of an offer before they are shown: form, facts, claims, speaker.

The words of a model are untrusted, and so are the message and the catalogue. An offer must add no
facts to the item's, must not press anybody, and must not hide that it is an offer or who speaks.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.echo.recommending.item_index import terms
from labelhub.core.echo.recommending.items import Item
from labelhub.core.leaks import Leaks, no_leaks
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
    """The label of offers in that language; never empty."""
    return offer_table(language).label


def is_known(language: str) -> bool:
    """Whether that language has a table of its own."""
    return _base(language) in _tables()


def labels() -> frozenset[str]:
    """The labels of offers in all languages."""
    return frozenset(table.label for table in _tables().values())


def plain(text: str) -> str:
    """``text`` in the form for searches: folded, one kind of apostrophe, single blanks."""
    return _BLANKS.sub(" ", fold(text).translate(_QUOTES))


def _base(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, OfferTable]:
    data = tomllib.loads(_SOURCE.read_text("utf-8"))
    return {language: _table(raw) for language, raw in data.items()}


def _table(raw: Mapping[str, Any]) -> OfferTable:
    patterns = {
        name: _pattern(raw[name], spaced=raw["spaced"])
        for name in ("claims", "urgency", "speaker", "hidden")
    }
    return OfferTable(raw["label"], raw["template"], raw["capitals"], raw["latin"], **patterns)


def _pattern(phrases: Iterable[str], *, spaced: bool) -> re.Pattern[str]:
    found = "|".join(_phrase(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)" if spaced else f"(?:{found})")


def _phrase(phrase: str) -> str:
    start = plain(phrase.removesuffix("*"))
    return re.escape(start) + (r"\w*" if phrase.endswith("*") else "")


#: The most characters of a message that an offer may repeat in one piece.
LONGEST_QUOTE = 40


_MARKUP = re.compile(r"[<>{}\[\]\\`|]|\*\*|__|&#?\w{1,10};|^\s*#")
_ADDRESS = re.compile(
    r"\w+:/|\bwww\.|\S@\S|@\w{2,}|(?:^|\s)/\w|\b[a-z0-9-]{2,}\.(?:com|net|org|io|info|biz|co|de|fr|es|jp|ru|cn|xyz|top|ly|me|app|shop|example)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+(?=[\s\"'”’»)]|$)|[。！？]+")
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’.\-][A-Za-z]+)*")
_BRAND = re.compile(r"[a-z][A-Z]|^[A-Z]{2,}|[™®©]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CURRENCIES: Mapping[str, tuple[str, ...]] = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "MXN"),
    "dollar": ("USD", "CAD", "AUD", "NZD", "SGD"),
    "dólar": ("USD", "CAD", "AUD"),
    "ドル": ("USD", "CAD", "AUD"),
    "€": ("EUR",),
    "euro": ("EUR",),
    "ユーロ": ("EUR",),
    "£": ("GBP",),
    "pound": ("GBP",),
    "¥": ("JPY", "CNY"),
    "円": ("JPY",),
    "yen": ("JPY",),
    "franken": ("CHF",),
    "kr": ("SEK", "NOK", "DKK"),
    "cent": (),
}
_CODES = frozenset(
    {code for codes in _CURRENCIES.values() for code in codes}
    | {"CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "INR", "KRW", "BRL", "AED", "SAR"}
)
_MARK = "|".join(map(re.escape, (*_CURRENCIES, *sorted(map(str.casefold, _CODES)))))
_PRICE = re.compile(
    rf"(?<![a-z])(?P<before>{_MARK})\s?(?P<amount>\d[\d.,]*)"
    rf"|(?P<number>\d[\d.,]*)\s?(?P<after>{_MARK})(?:e?s)?(?![a-z])"
)
_ABOUT = (
    ("claims", "claim", "it claims what nobody can hold it to"),
    ("urgency", "urgency", "it presses"),
    ("hidden", "hidden_offer", "it hides that it is an offer"),
)


@dataclass(frozen=True, slots=True)
class OfferFault:
    """One reason not to show an offer: a code for programs, and words for the next try."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferLimits:
    """The limits of an offer.

    Args:
        most_characters: the longest text.
        most_sentences: the most sentences.
        leaks: whether words hold personal data.
    """

    most_characters: int = 240
    most_sentences: int = 2
    leaks: Leaks = no_leaks


def offer_faults(
    text: str, item: Item, *, message_text: str, language: str, limits: OfferLimits
) -> tuple[OfferFault, ...]:
    """The faults of ``text`` as an offer of ``item``; empty if it may be shown.

    Args:
        text: untrusted.
        item: the offered one, the only source of facts.
        message_text: the author's message.
        language: of the conversation ("de"); "" if unknown.
        limits: of length, and the check for personal data.
    """
    if not text.strip():
        return (OfferFault("empty", "There are no words."),)
    if len(text) > limits.most_characters:
        # Skip the other checks: they take too long on long texts.
        most = f"at most {limits.most_characters} characters fit"
        return (OfferFault("too_long", f"It has {len(text):,} characters; {most}."),)
    return (
        *_form(text, item, limits),
        *_facts(text, item, language),
        *_wording(text, language),
        *_privacy(text, message_text, limits),
    )


def _form(text: str, item: Item, limits: OfferLimits) -> Iterator[OfferFault]:
    sentences = len(_END.findall(text.rstrip())) or 1
    if sentences > limits.most_sentences:
        most = f"at most {limits.most_sentences} fit"
        yield OfferFault("too_long", f"It has {sentences} sentences; {most}.")
    strange = next((c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")), "")
    if strange:
        yield OfferFault("control_character", f"It holds the character U+{ord(strange):04X}.")
    if _MARKUP.search(text):
        yield OfferFault("markup", "It holds markup or a placeholder.")
    if _ADDRESS.search(_without_link(text, item)):
        yield OfferFault("address", "It holds a link or an address that is not the item's.")


def _without_link(text: str, item: Item) -> str:
    """``text`` without the item's own link as a word: as a part, "/" is in every link."""
    return " ".join(word for word in text.split() if word.rstrip(".,;!") != item.link)


def _facts(text: str, item: Item, language: str) -> Iterator[OfferFault]:
    normal = unicodedata.normalize("NFKC", _without_link(text, item))
    own = unicodedata.normalize("NFKC", " ".join((item.title, item.text, *item.tags)))
    if not all(_is_the_items(match, item) for match in _PRICE.finditer(normal.casefold())):
        yield OfferFault("price", "It names a price that is not the item's.")
    own_figures = {_value(number) for number in _NUMBER.findall(own)} | {item.price}
    strange = [number for number in _NUMBER.findall(normal) if _value(number) not in own_figures]
    if strange:
        yield OfferFault("figure", f"The item does not say {strange[0]}.")
    name = next(_names(text, own + " " + item.vertical + " " + item.currency, language), "")
    if name:
        yield OfferFault("name", f'The item does not say "{name}".')


def _is_the_items(match: re.Match[str], item: Item) -> bool:
    mark = match["before"] or match["after"]
    amount = _value((match["amount"] or match["number"]).rstrip(".,"))
    currencies = _CURRENCIES.get(mark, (mark.upper(),))
    return item.price is not None and amount == item.price and item.currency in currencies


def _value(number: str) -> Decimal | None:
    """The number in digits with a point or a comma before the cents."""
    try:
        return Decimal(number.replace(",", "."))
    except InvalidOperation:
        return Decimal(-1)


def _names(text: str, own: str, language: str) -> Iterator[str]:
    """Words that look like names and are not the item's own."""
    table = offer_table(language)
    known = {*own.casefold().split(), *terms(own)}
    for found in (_WORD if table.latin else _LATIN_WORD).finditer(text):
        word = found[0]
        if word.casefold() in known or all(term in known for term in terms(word)):
            continue
        before = text[: found.start()].rstrip(" \t\"'“”‘’«»„(¿¡")
        begins = not before or before[-1] in ".!?…:–—-"
        named = table.capitals and word[0].isupper() and not begins
        if named or not table.latin or _BRAND.search(word):
            yield word


def _wording(text: str, language: str) -> Iterator[OfferFault]:
    folded = plain(text)
    own, *others = tables_for(language)
    for table in (own, *others):
        for name, code, problem in _ABOUT:
            if found := getattr(table, name).search(folded):
                yield OfferFault(code, f'"{found[0]}": {problem}.')
    if found := own.speaker.search(folded):
        yield OfferFault("speaker", f'"{found[0]}": it speaks as somebody in the conversation.')


def _privacy(text: str, message_text: str, limits: OfferLimits) -> Iterator[OfferFault]:
    if limits.leaks(text):
        yield OfferFault("personal_data", "It holds something that looks like personal data.")
    folded, written, size = plain(text), plain(message_text), LONGEST_QUOTE + 1
    if any(folded[start : start + size] in written for start in range(len(folded) - size + 1)):
        yield OfferFault("quote", f"It repeats over {LONGEST_QUOTE} characters of the message.")
