"""Texts as tokens: words in small letters without accents.

Kana and Chinese characters, which set no blanks, are tokens one by one.
"""

import re
import unicodedata

#: How much of a text is read, characters: what a message is shows early, and to sort a pile of
#: combining marks takes time by the square of its height.
READ = 2_000

#: Kana and Chinese characters.
DENSE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_DENSE_TOKEN = re.compile(f"[{DENSE}]")
_TOKEN = re.compile(rf"[{DENSE}]|[^\W_{DENSE}]+")
#: With those of Arabic, which are left out as often as written: vowels, hamza and the long stroke.
_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
#: Letters of Arabic that are written for each other.
_ALIKE = str.maketrans("\u0649\u0629\u0671\u06cc\u06a9", "\u064a\u0647\u0627\u064a\u0643")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)


def folded(text: str) -> str:
    """The beginning of ``text`` in small letters of one width, without accents and unseen signs."""
    text = text[:READ]
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", _ACCENTS.sub("", text)))
    # One sign may stand for a sentence: what is read stays bounded.
    text = text[:READ].casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_ALIKE)


def tokens_of(text: str) -> list[str]:
    """The tokens of the beginning of ``text``."""
    return _TOKEN.findall(folded(text))


def is_dense(token: str) -> bool:
    """Whether ``token`` is a character of a script without blanks."""
    return _DENSE_TOKEN.match(token) is not None
