"""Measuring questions: words, scripts, characters that change what is seen."""

import re
import unicodedata
from collections.abc import Mapping

from labelhub.core.interview.questions.tables import Table, plain, without_points
from labelhub.core.stems import stem

#: Characters of a language without blanks that are read like one word.
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
    """Words as people read them; characters of Chinese, Japanese and Thai count by their number."""
    unspaced = len(_UNSPACED.findall(text))
    spaced = len(_WORD.findall(_UNSPACED.sub(" ", without_points(text))))
    return spaced + -int(-unspaced // CHARACTERS_PER_WORD)


def is_written_in(text: str, language: str) -> bool:
    """Whether most letters are of the script that the language is written in.

    Japanese needs a kana: without one it could be Chinese.
    """
    scripts = [script for char in text if char.isalpha() and (script := _script(char))]
    wanted = _SCRIPTS.get(language.partition("-")[0], _LATIN)
    own = sum(script in wanted for script in scripts)
    if language.startswith("ja") and not {"HIRAGANA", "KATAKANA"} & set(scripts):
        return False
    return bool(scripts) and own >= _LEAST_SHARE * len(scripts)


def bad_character(text: str) -> str:
    """A character that is not seen or changes what is seen, as "U+202E"; "" where there is none."""
    for char in text:
        if char not in _JOINERS and unicodedata.category(char) in _INVISIBLE:
            return f"U+{ord(char):04X}"
    heap = _HEAP.search(text)
    return f"U+{ord(heap[0][0]):04X} and more, heaped" if heap else ""


def content(text: str, table: Table) -> frozenset[str]:
    """What an option says: the stems of its words, near synonyms as one, without small words."""
    words = re.findall(r"\w+(?:'\w+)*", plain(text))
    told = [word for word in words if word not in table.small] or words
    return frozenset(
        word if table.degree.fullmatch(word) else stem(table.alike.get(word, word)) for word in told
    )


def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    return next((script for script in _NAMED if name.startswith(script)), name.partition(" ")[0])
