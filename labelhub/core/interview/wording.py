"""The wording of questions: word tables by language (``wording.toml``), scripts, word counts."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.schema import fold
from labelhub.core.similarity import stem

_SOURCE = Path(__file__).with_name("wording.toml")
_FALLBACK = "en"
#: Languages without blanks: an entry matches anywhere.
UNSPACED = frozenset({"ja"})
#: A lone "*" matches one or two words; at the end of a word it matches the rest of that word.
_LONE = r"\w+(?:[ ]\w+)?"
_QUOTES = str.maketrans("’‘´`", "''''")
_BLANKS = re.compile(r"\s+")
#: The optional vowel signs of Arabic and the stroke that lengthens a word.
_POINTS = re.compile("[\u064b-\u0652\u0670\u0640]+")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Table:
    """One language's words as patterns; a pattern without words never matches."""

    leading: re.Pattern[str]
    reward: re.Pattern[str]
    catch_all: re.Pattern[str]
    catch_start: re.Pattern[str]
    others: re.Pattern[str]
    author: re.Pattern[str] | None
    private: re.Pattern[str]
    joined: re.Pattern[str]
    paired: re.Pattern[str]
    degree: re.Pattern[str]
    turning: re.Pattern[str]
    asking: re.Pattern[str]
    small: frozenset[str]
    alike: Mapping[str, str]


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Table]:
    data = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    return {language: _table(language, raw) for language, raw in data.items()}


def table_of(language: str) -> Table:
    """The words of that language ("de", "de-AT"); English for one that has no table."""
    tables = _tables()
    return tables.get(language.partition("-")[0], tables[_FALLBACK])


def known_languages() -> tuple[str, ...]:
    """The languages with words of their own."""
    return tuple(_tables())


def is_known(language: str) -> bool:
    """Whether that language has words of its own."""
    return language.partition("-")[0] in _tables()


def plain(text: str) -> str:
    """``text`` in the form for searches: folded, one kind of apostrophe, single blanks, and Arabic
    without vowel signs."""
    return _BLANKS.sub(" ", fold(without_points(text).translate(_QUOTES)))


def without_points(text: str) -> str:
    """``text`` without the vowel signs of Arabic, which would split its words."""
    return _POINTS.sub("", text)


def _table(language: str, raw: Mapping[str, Any]) -> Table:
    spaced = language not in UNSPACED
    patterns = {
        field.name: _pattern(raw[field.name], spaced=spaced or field.name == "catch_all")
        for field in fields(Table)
        if field.name not in {"author", "small", "alike"}
    }
    groups = [[plain(word) for word in group.split(",")] for group in raw["alike"]]
    # The first word of a group replaces every word of it.
    alike = {word: words[0] for words in groups for word in words}
    return Table(
        **patterns,
        author=_pattern(raw["author"], spaced=spaced) if raw["author"] else None,
        small=frozenset(raw["small"]),
        alike=alike,
    )


def _pattern(entries: Iterable[str], *, spaced: bool) -> re.Pattern[str]:
    # Longest first: alternatives are tried in their order.
    parts = [
        "[ ]".join(map(_word_pattern, plain(entry).split(" ")))
        for entry in sorted(entries, key=len, reverse=True)
    ]
    if not parts:
        return _NEVER
    either = "|".join(parts)
    return re.compile(rf"(?<![\w'])(?:{either})(?![\w'])" if spaced else either)


def _word_pattern(word: str) -> str:
    if word == "*":
        return _LONE
    return re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "")


#: Characters of a language without blanks that count as one word.
CHARACTERS_PER_WORD = 2.5

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f\u0e00-\u0e7f]")
_WORD = re.compile(r"\w+(?:['’.,-]\w+)*")
_NAMED = (
    *("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI"),
    *("HANGUL", "THAI", "HIRAGANA", "KATAKANA", "CJK"),
)
_SCRIPTS: Mapping[str, frozenset[str]] = {
    "ja": frozenset({"HIRAGANA", "KATAKANA", "CJK"}),
    "zh": frozenset({"CJK"}),
    "ko": frozenset({"HANGUL", "CJK"}),
    "th": frozenset({"THAI"}),
    "hi": frozenset({"DEVANAGARI"}),
    "he": frozenset({"HEBREW"}),
    "el": frozenset({"GREEK"}),
    **dict.fromkeys(("ar", "fa", "ur"), frozenset({"ARABIC"})),
    **dict.fromkeys(("ru", "uk", "bg", "sr", "mk"), frozenset({"CYRILLIC"})),
}
_LATIN = frozenset({"LATIN"})
_LEAST_SHARE = 0.5
#: The joiners belong to words of some languages, and to emoji.
_JOINERS = "\u200c\u200d"
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_HEAP = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]{3}")


def word_count(text: str) -> int:
    """The number of words; characters of Chinese, Japanese and Thai count by their number."""
    unspaced = len(_UNSPACED.findall(text))
    spaced = len(_WORD.findall(_UNSPACED.sub(" ", without_points(text))))
    return spaced + -int(-unspaced // CHARACTERS_PER_WORD)


def is_written_in(text: str, language: str) -> bool:
    """Whether most letters belong to the script of the language.

    Japanese needs a kana: without one it could be Chinese.
    """
    scripts = [script for char in text if char.isalpha() and (script := _script(char))]
    wanted = _SCRIPTS.get(language.partition("-")[0], _LATIN)
    own = sum(script in wanted for script in scripts)
    if language.startswith("ja") and not {"HIRAGANA", "KATAKANA"} & set(scripts):
        return False
    return bool(scripts) and own >= _LEAST_SHARE * len(scripts)


def bad_character(text: str) -> str:
    """An invisible character or one that changes the visible text, as "U+202E"; "" without one."""
    for char in text:
        if char not in _JOINERS and unicodedata.category(char) in _INVISIBLE:
            return f"U+{ord(char):04X}"
    heap = _HEAP.search(text)
    return f"U+{ord(heap[0][0]):04X} and more, heaped" if heap else ""


def content(text: str, table: Table) -> frozenset[str]:
    """The content of an option: the stems of its words, synonyms as one, without small words."""
    words = re.findall(r"\w+(?:'\w+)*", plain(text))
    said_words = [word for word in words if word not in table.small] or words
    return frozenset(
        word if table.degree.fullmatch(word) else stem(table.alike.get(word, word))
        for word in said_words
    )


def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    return next((script for script in _NAMED if name.startswith(script)), name.partition(" ")[0])
