"""Words that speak of a danger or a death, or react to them: ``stems.toml``.

Every language is looked for in every text, as people in distress do not keep to a site's languages.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from labelhub.core.safety.spelling import WORD, spell_plainly

_SOURCE = Path(__file__).with_name("stems.toml")
#: Letters that are left out: "k*ll"; any of these sounds may stand there.
_HIDDEN = re.compile(r"(?<=[^\W\d_])[*#•](?=[^\W\d_])")
_SOUNDS = "aeiou"
#: Read without blanks.
_UNSPACED = ("ja", "zh", "ko", "hi")


def names_danger(text: str) -> bool:
    """Whether ``text`` speaks of a danger or a death in plain words, however they are spelt."""
    return any(_names("danger", plain) for plain in _readings(spell_plainly(text)))


def reacts_to_danger(text: str) -> bool:
    """Whether an assistant speaks of a danger or a death, names a help-line or condoles."""
    return names_danger(text) or _names("help", spell_plainly(text))


def _names(table: str, plain: str) -> bool:
    spaced, dense = _patterns(table)
    words = " ".join(WORD.findall(plain))
    return bool(spaced.search(words) or dense.search(_in_hiragana(words.replace(" ", ""))))


def _readings(plain: str) -> Iterator[str]:
    yield _HIDDEN.sub("", plain)
    if _HIDDEN.search(plain):
        yield from (_HIDDEN.sub(sound, plain) for sound in _SOUNDS)


def _in_hiragana(text: str) -> str:
    """Japanese writes the same word in several scripts."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in text)


@lru_cache(maxsize=2)
def _patterns(table: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    rules = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))[table]
    dense = "|".join(rule for language in _UNSPACED for rule in rules.pop(language, ()))
    spaced = "|".join(rule for language in rules.values() for rule in language)
    return re.compile(rf"\b(?:{spaced})\b"), re.compile(dense)
