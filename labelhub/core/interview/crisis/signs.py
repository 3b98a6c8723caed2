"""Signs that somebody is in danger, mourns, or is dangerous: nobody who writes so is asked.

This looks at every message. A model judges what its author may be asked about, and with it what
they wrote lately that no model has judged; this stands beneath it, for the messages that no model
sees, and for the day on which the model is poor. It is made to miss nobody rather than to spare
everybody a silence: a harmless message that is dropped costs a question, a missed one hurts a
person. Every language is looked for in every message, as people in distress do not keep to a site's
languages. The rules are ``stems/*.toml``; one is a chain of stems that stand near each other, not a
phrase.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

#: What a sign is of. The gravest comes first: it names a message that has several.
TOPICS = (
    "self_harm",
    "sexual_abuse",
    "child_abuse",
    "violence",
    "threat",
    "eating_disorder",
    "bereavement",
)
#: Characters that are read: more than a message of the widget may have.
READ = 40_000
_STEMS = Path(__file__).with_name("stems")
_IDIOMS, _CLASSES = "harmless", "classes"

#: Words between two stems of a rule ("~"), and of one whose stems come in any order ("+").
_GAP, _WIDE_GAP = 4, 7
_WORD = r"[^\s|]+"
_END = "|"

_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
#: Letters of Arabic that are written for each other.
_ALIKE = str.maketrans("أإآٱىةؤئیک", "ااااي\u0647ويي\u0643")
#: Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans("асеіјорѕухαειοντυ", "aceijopsyxaeiovtu")
_LEET = str.maketrans("013457@$€!|", "oieastaseii")
_LEET_WORD = re.compile(r"(?<!\w)(?:[a-z0-9@$€]|(?<=[a-z])[!|](?=[a-z]))*")
_CONTRACTED = re.compile(r"(?<=[a-z])['’‘´`](?=(?:s|t|m|re|ve|ll|d)\b)")
#: "s u i c i d e", "s.u.i.c.i.d.e": letters that are set apart, as long as nothing wider does.
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_][ ._*-]){3,}[^\W\d_](?!\w)")
_SENTENCE_END = re.compile(r"[.!?;:…\n。！？؟]+(?=\s|$)|[\n。！？؟]")
_HIDDEN = re.compile(r"(?<=[^\W\d_])[*#•](?=[^\W\d_])")
_SOUNDS = "aeiou"
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1")
_UMLAUTS = {"ä": "(?:ae?)", "ö": "(?:oe?)", "ü": "(?:ue?)", "ß": "(?:ss?|sz)"}
_LATIN = re.compile("[a-z]")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
#: Letters without which a message has nothing of a language; Latin ones where it is not named.
_LETTERS = {"ar": re.compile("[\u0620-\u064a]"), "ja": _DENSE}


class _Language(NamedTuple):
    harmless: re.Pattern[str] | None
    topics: Mapping[str, re.Pattern[str]]


def crisis_sign(text: str) -> str:
    """What ``text`` shows of somebody in danger: one of :data:`TOPICS`, "" where it shows nothing.

    Args:
        text: as somebody wrote it, in any language; case, accents, apostrophes, set-apart letters
            and digits for letters do not matter.
    """
    found = {topic for read in _readings(text[:READ]) for topic in _topics_in(read)}
    return next((topic for topic in TOPICS if topic in found), "")


def _topics_in(read: str) -> Iterator[str]:
    for name in _names():
        if not _LETTERS.get(name, _LATIN).search(read):
            continue
        language = _language(name)
        searched = _undivided(read) if name == "ja" else read
        if language.harmless is not None:
            searched = language.harmless.sub(f" {_END} ", searched)
        yield from (topic for topic, rule in language.topics.items() if rule.search(searched))


def _readings(text: str) -> Iterator[str]:
    """``text`` as words with blanks around them, and with what hidden letters may stand for."""
    plain = _plain(text)
    if not _HIDDEN.search(plain):
        yield _divided(plain)
        return
    yield _divided(_HIDDEN.sub("", plain))
    for sound in _SOUNDS:
        yield _divided(_HIDDEN.sub(sound, plain))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text[:READ]))
    text = unicodedata.normalize("NFC", text).translate(_ALIKE)
    if _LATIN.search(text):
        text = text.translate(_LOOKALIKES)
    text = _SPACED.sub(lambda found: re.sub(r"[ ._*-]", "", found[0]), text)
    text = _LEET_WORD.sub(_spelled_out, text)
    return _DRAWN_OUT.sub(r"\1", _CONTRACTED.sub("", text))


def _spelled_out(found: re.Match[str]) -> str:
    word = found[0]
    return word.translate(_LEET) if _LATIN.search(word) else word


def _divided(text: str) -> str:
    marked = _SENTENCE_END.sub(f" {_END} ", text)
    words = re.findall(rf"\w+|\{_END}", marked)
    return f" {' '.join(words)} {_END} "


def _undivided(read: str) -> str:
    """Without blanks, in hiragana: Japanese writes the same word in several scripts."""
    return "".join(
        chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in read if char != " "
    )


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _STEMS.glob("*.toml")))


@cache
def _language(name: str) -> _Language:
    """The rules of a language, compiled with the first message that has its letters."""
    raw = tomllib.loads((_STEMS / f"{name}.toml").read_text(encoding="utf-8"))
    classes: Mapping[str, str] = raw.pop(_CLASSES, {})
    patterns = {
        topic: re.compile("|".join(_pattern(rule, classes, name) for rule in rules))
        for topic, rules in raw.items()
    }
    return _Language(patterns.pop(_IDIOMS, None), patterns)


def _pattern(rule: str, classes: Mapping[str, str], language: str) -> str:
    """A rule as a pattern over words with blanks around them.

    Between blanks stand alternatives ("kill*|end", "go_on"; "*" is the rest of a word); "{name}"
    takes in a class, "$" is the end of a sentence, "~" lets some words stand between, "~2" at most
    two, and "+" parts what comes in any order. Japanese rules are patterns as they stand.
    """
    if language == "ja":
        return rule
    for _ in range(2):
        rule = re.sub(r"\{(\w+)\}", lambda found: classes[found[1]], rule)
    prefix = r"(?:[وف]?(?:ال|لل|[بلسك])?)" if language == "ar" else ""
    parts = [part.split() for part in rule.split(" + ")]
    if len(parts) == 1:
        return _chain(parts[0], prefix)
    orders = permutations(parts)
    return "|".join(_chain(f" ~{_WIDE_GAP} ".join(map(" ".join, order)).split(), prefix)
                    for order in orders)  # fmt: skip


def _chain(items: list[str], prefix: str) -> str:
    pattern = " "
    for item in items:
        if item.startswith("~"):
            pattern += rf"(?:{_WORD} ){{0,{item[1:] or _GAP}}}?"
        else:
            either = "|".join(_word(word) for word in item.split("|"))
            pattern += f"{prefix}(?:{either}) "
    # The last blank may be the first of what comes next.
    return f"{pattern[:-1]}(?= )"


def _word(word: str) -> str:
    if word == "$":
        return re.escape(_END)
    spelled = "".join(_UMLAUTS.get(char, char) for char in word.casefold().rstrip("*"))
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", spelled)))
    bare = _DOUBLED.sub(r"\1\1?", bare.translate(_ALIKE)).replace("_", " ")
    return bare + (r"\w*" if word.endswith("*") else "")
