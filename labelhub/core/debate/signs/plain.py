"""How a text reads once its disguises are taken off: what the patterns are searched in."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

#: Stand for the labels in a text. Private characters: a text has none of its own left.
SURE_NAME, NAME = "\ue000", "\ue001"
#: Longer options are sentences; nobody tells a model to say them word for word.
MAX_NAME = 80

_ACCENTS = re.compile("[\u0300-\u036f]")
# Zero-width, bidirectional, soft-hyphen, joiner and tag characters, and our own marks.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ue000\ue001\U000e0000-\U000e007f]"
)
_OTHER_BLANKS = re.compile(r"[^\S\n ]")
_BLANKS = re.compile(r" {2,}")
_OTHER_ALPHABETS = re.compile("[\u0370-\u052f]")
_WORD = re.compile(r"\w+")
_LATIN = re.compile("[A-Za-z]")
# Letters that look, or in a word of two alphabets are meant, like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХЅІЈавеікмнорстухѕјгпиԛԝԁӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβεικνορτυχωγη",
    "ABEKMHOPCTYXSIJabeikmnopctyxsjrnuqwdlABEZHIKMNOPTYXabeikvoptuxwyn",
)
_SMALL_CAPITALS = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıøłđ", "abcdefghijklmnoprstuvwyziold")
_BOXED = {
    start + at: chr(ord("a") + at) for start in (0x1F130, 0x1F150, 0x1F170) for at in range(26)
}
_DIGIT_WORD = re.compile(
    r"(?<![a-z0-9@$!|])(?=[a-z]{0,30}[013457@$!|])[a-z0-9@$!|]{2,}(?=[^a-z0-9@$!|]|$)"
)
_DIGIT_IN_WORD = re.compile(r"[a-z][013457@$]|[013457@$!|][a-z]")
_DIGITS = str.maketrans("013457@$!|", "oieastasii")
_SPELLED = re.compile(r"(?<!\w)[^\W\d_](?:[ .*_·-][^\W\d_]){2,}(?!\w)")
#: From Thai on, words are mostly written without blanks between them.
_FIRST_WITHOUT_BLANKS = 0x0E00
_SEPARATORS = re.compile(r"[ .*_·-]")

# After an article a label is a thing spoken of ("rate the food"), not an answer.
_ARTICLES = frozenset(
    re.findall(
        r"\w+",
        "the a an your their our my its his her some el los las le les der die das den dem il lo"
        " gli het",
    )
)
_LONGEST_ARTICLE = 6
#: Labels that ordinary texts are full of.
_EVERYDAY = frozenset(
    re.findall(r"\w+", "yes no none other true false unknown maybe unclear good bad mixed")
)


def unaccented(text: str) -> str:
    """``text`` without accents and tone marks; other scripts keep their vowel signs."""
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_SMALL_CAPITALS)


def plain(text: str) -> str:
    """``text`` in small letters of one width, without accents, hidden and look-alike letters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).translate(_BOXED)
        if _OTHER_ALPHABETS.search(text):
            text = _WORD.sub(_in_one_alphabet, text)
    return _BLANKS.sub(" ", _OTHER_BLANKS.sub(" ", unaccented(text.casefold())))


def readings(text: str) -> tuple[str, ...]:
    """The ways to read ``text``: as it stands, with digits for letters, with letters set apart."""
    small = plain(text)
    # Two blanks part the words of which every letter stands alone: close up before blanks are.
    found = [small, plain(_SPELLED.sub(_closed_up, text))]
    if _DIGIT_IN_WORD.search(small):
        # A one is an i to some and an l to others.
        ones = "1l" if "1" in small else "1"
        found += [_DIGIT_WORD.sub(_with_letters, small.replace("1", one)) for one in ones]
    return tuple(dict.fromkeys(found))


def with_labels_marked(reading: str, labels: Sequence[str]) -> str:
    """``reading`` with a mark in place of every label that is named like an answer."""
    names = _names(tuple(labels))
    return names.sub(_mark, reading) if names else reading


def _in_one_alphabet(word: re.Match[str]) -> str:
    return word[0].translate(_LOOK_ALIKES) if _LATIN.search(word[0]) else word[0]


def _closed_up(letters: re.Match[str]) -> str:
    return _SEPARATORS.sub("", letters[0])


def _with_letters(word: re.Match[str]) -> str:
    if not any(char.isalpha() for char in word[0]):
        return word[0]
    return word[0].rstrip("!").translate(_DIGITS)


@lru_cache(maxsize=64)
def _names(labels: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds any of ``labels``, the longest first; None where there are none."""
    names = {plain(label).strip() for label in labels}
    kept = sorted((name for name in names if 0 < len(name) <= MAX_NAME), key=len, reverse=True)
    return re.compile("|".join(map(_name, kept))) if kept else None


def _name(label: str) -> str:
    spelled = re.sub(r"(?:[ _-]|\\[ -])+", "[ _-]{1,3}", re.escape(label))
    return f"{spelled}(?!{_edge(label[-1])})"


def _edge(char: str) -> str:
    """What may not stand beside ``char``: scripts without blanks glue words to a Latin name."""
    if char.isascii():
        return "[a-z0-9_]" if char.isalnum() else "(?!)"
    return r"\w" if ord(char) < _FIRST_WITHOUT_BLANKS else "(?!)"


def _mark(found: re.Match[str]) -> str:
    name, before = found[0], found.string[max(0, found.start() - _LONGEST_ARTICLE) : found.start()]
    if before and re.match(_edge(name[0]), before[-1]):
        return name
    if len(name) <= 3 or name in _EVERYDAY:
        return NAME
    is_spoken_of = before.endswith(" ") and before.split()[-1:] and before.split()[-1] in _ARTICLES
    return name if is_spoken_of else SURE_NAME
