"""What a message says by itself: whoever wrote "I am angry" is not asked how they felt.

Only what is said outright counts: words of one answer and of no other, not denied, that the author
says of themselves or of what they want; a deadline for what asks about time; a limit for what asks
about money; a number with its unit. What is less plain, the model judges with the rest of a
message's relevance. How each language says it stands in ``statements.toml``.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from labelhub.core.interview.features.feature import NUMBER, WORD, YES_NO, Feature
from labelhub.core.interview.features.numbers import NUMBER_FORM
from labelhub.core.interview.tokens import folded

_SOURCE = Path(__file__).with_suffix(".toml")
_FALLBACK = "en"
#: Written without blanks: an entry counts wherever it stands.
_UNSPACED = frozenset({"ja"})
#: Little words that are written together with the next.
_JOINED: Mapping[str, str] = {"ar": "[وف]?(?:[بلك]?ال|لل|[بلك])?"}
_PIECES = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[$€£¥]|([.,;!?。、！？؟،؛])")
_UNITS = ("hour", "day_unit", "week", "month", "year")
#: Numbers that are articles as well, and no sum.
_ONE = r"(?!(?:one|eine?[mn]?|un[aoe]?)\b)"
#: Stands in a text for the word that is looked at.
_MARK = "¤"
_LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class _Speech:
    """How one language says things; in ``said`` and ``top`` the word meant is marked, and with
    ``top_any`` it is any."""

    denied: str
    joined: str
    bounds: tuple[str, str]
    now: str
    units: Mapping[str, str]
    time: re.Pattern[str]
    money: re.Pattern[str]
    said: re.Pattern[str]
    top: re.Pattern[str]
    top_any: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Message:
    """What is found in a message once for all features: its words, and whether it names a time, a
    sum, or something that matters most."""

    said: str
    language: str
    speech: _Speech
    times: bool
    sums: bool
    ranks: bool


def stated_by(text: str, language: str, features: Iterable[Feature]) -> set[str]:
    """The keys of those features whose answer ``text`` itself says.

    Args:
        text: the message.
        language: of the questions about it.
        features: one without fixed values is stated only where it asks what matters most.
    """
    message = _read(text, language)
    return {each.key for each in features if _is_stated(each, message)}


def _read(text: str, language: str) -> _Message:
    speech = _speech_of(language)
    said = _spoken(text, blank=" " if speech.bounds[0] else "")
    times, sums = speech.time.search(said), speech.money.search(said)
    ranked = speech.top_any.search(said)
    return _Message(said, language, speech, bool(times), bool(sums), bool(ranked))


def _is_stated(feature: Feature, message: _Message) -> bool:
    if message.times and _asks_about("time_cues", ("hour", "day_unit", "week"), feature):
        return True
    if message.sums and _asks_about("money_cues", ("currency",), feature):
        return True
    if feature.answer == NUMBER:
        return _is_counted(feature.unit, message)
    return _is_topmost(feature, message) or _is_one_said(feature, message)


def _spoken(text: str, *, blank: str = " ") -> str:
    """The words, numbers and ends of clauses, each end as "."."""
    end = "." if blank else ". "  # a number that follows is none of decimals
    pieces = _PIECES.finditer(folded(text))
    return blank.join((end, *(end if each[1] else each[0] for each in pieces), end))


def _asks_about(cues: str, units: tuple[str, ...], feature: Feature) -> bool:
    """Whether a feature asks for time or for money: one of its cues or its unit says so."""
    if folded(feature.unit) in _listed(*units):
        return True
    return not _listed(cues).isdisjoint(map(folded, feature.cues))


def _is_counted(unit: str, message: _Message) -> bool:
    """Whether a number of them is named."""
    if not unit:
        return False
    plain = folded(unit)
    kind = next((each for each in _UNITS if plain in _listed(each)), "")
    words = message.speech.units[kind] if kind else re.escape(plain.removesuffix("s")) + "s?"
    before, after = message.speech.bounds
    counted = (
        rf"{NUMBER_FORM} ?(?:{words}){after}{message.speech.now}|{before}(?:{words}) ?{NUMBER_FORM}"
    )
    return re.search(counted, message.said) is not None


def _is_topmost(feature: Feature, message: _Message) -> bool:
    """Whether something is said to matter most: to a feature that asks what does, anything; to any
    other, what it is about."""
    if not message.ranks:
        return False
    if feature.answer == WORD:
        about = _spoken(f"{feature.name} {feature.definition}")
        return any(cue in about for cue in _listed("top_cues"))
    return _is_framed(_subject(feature, message.language), message.speech.top, message.said)


def _is_one_said(feature: Feature, message: _Message) -> bool:
    """Whether one of its values is said, and no other, in words that make it the author's own."""
    told = (_value_words(feature, value, message.language) for value in feature.values)
    return sum(_is_framed(words, message.speech.said, message.said) for words in told) == 1


def _is_framed(words: re.Pattern[str] | None, frames: re.Pattern[str], said: str) -> bool:
    if words is None:
        return False
    marked = (
        f"{said[: word.start(1)]}{_MARK}{said[word.end(1) :]}" for word in words.finditer(said)
    )
    return any((found := frames.search(each)) and not found["no"] for each in marked)


@lru_cache(maxsize=4096)
def _value_words(feature: Feature, value: str, language: str) -> re.Pattern[str] | None:
    words = feature.meanings.get(value, "").split(",")
    if feature.answer != YES_NO:
        words += [value.replace("_", " "), feature.own_words(language).get(value, "")]
    return _any_of(words, language)


@lru_cache(maxsize=1024)
def _subject(feature: Feature, language: str) -> re.Pattern[str] | None:
    told = " ".join((feature.name, feature.definition, *feature.cues, *feature.values))
    return _any_of(
        (word for word in _spoken(told).split() if len(word) >= _LEAST_LETTERS), language
    )


def _any_of(words: Iterable[str], language: str) -> re.Pattern[str] | None:
    """A pattern of which group 1 is any of the words, not denied; None without words."""
    speech = _speech_of(language)
    blank = " " if speech.bounds[0] else ""
    told = {_spoken(word, blank=blank).strip(" .") for word in words} - {""}
    if not told:
        return None
    before, after = speech.bounds
    named = "|".join(sorted(map(re.escape, told), key=len, reverse=True))
    return re.compile(f"{before}{speech.denied}{speech.joined}({named}){after}")


@lru_cache(maxsize=16)
def _speech_of(language: str) -> _Speech:
    name = language.partition("-")[0]
    name = name if name in _sections() else _FALLBACK
    words, spaced = _sections()[name], name not in _UNSPACED
    joined = _JOINED.get(name, "")
    bounds = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
    denial = _either(words["denial"])
    gap = rf"(?: (?!(?:{denial})\b)\w+){{0,2}} " if spaced else r"\w{0,4}"
    denied = "".join(rf"(?<!\b{each} )" for each in words["denial"])
    units = {each: _either(words[each]) for each in _UNITS}
    amount = f"{_ONE}{NUMBER_FORM}"
    currency = _either(_sections()["all"]["currency"])
    fills = {
        "day": _either(words["day"]),
        "unit": "|".join(units.values()),
        "want": _either(words["want"]),
        "soon": _either(words["soon"]),
        "n": amount,
        "price": rf"{amount} ?(?:{currency}){bounds[1]}|(?:{currency}) ?{amount}",
        "*": gap,
        "far": rf"(?: (?!(?:{denial})\b)\w+){{0,5}} " if spaced else r"\w{0,12}",
    }

    def compiled(entries: Iterable[str], **more: str) -> re.Pattern[str]:
        forms = "|".join(_form(each, fills | more) for each in entries)
        return re.compile(f"{bounds[0]}{joined}(?:{forms}){bounds[1]}")

    def framed(entries: Iterable[str], word: str) -> re.Pattern[str]:
        frames = compiled(entries, w=word).pattern
        # A denial before it is found first.
        return re.compile(rf"(?:(?P<no>\b(?:{denial}))(?: \w+)? )?{frames}")

    return _Speech(
        joined=joined,
        denied=denied,
        bounds=bounds,
        now=rf"(?! ?(?:{_either(words['past'])}){bounds[1]})",
        units=units,
        time=compiled(words["time"]),
        money=compiled(words["money"]),
        said=framed(words["said"], _MARK),
        top=framed(words["top"], _MARK),
        top_any=compiled(words["top"], w=r"\w+"),
    )


def _form(entry: str, fills: Mapping[str, str]) -> str:
    """An entry of the table as a pattern."""
    parts = re.split(r" ?(\*) ?|\{(\w+)\}", entry)
    return "".join(
        re.escape(part) if at % 3 == 0 else f"(?:{fills[part]})"
        for at, part in enumerate(parts)
        if part is not None
    )


def _either(words: Iterable[str]) -> str:
    """Any of the words; nothing at all where there are none."""
    return "|".join(map(re.escape, words)) or "(?!)"


@lru_cache(maxsize=32)
def _listed(*keys: str) -> frozenset[str]:
    """All words of these lists, in whatever language."""
    return frozenset(
        word for section in _sections().values() for key in keys for word in section.get(key, ())
    )


@lru_cache(maxsize=1)
def _sections() -> Mapping[str, Mapping[str, list[str]]]:
    raw = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    return {
        name: {key: list(map(folded, words)) for key, words in section.items()}
        for name, section in raw.items()
    }
