"""Texts as tokens, and the language that a message is written in."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock

from py3langid.langid import (  # type: ignore[import-untyped]
    MODEL_FILE,
    LanguageIdentifier,
)

#: How much of a text is read, characters: what a message is shows early, and to sort a pile of
#: combining marks takes time by the square of its height.
MOST_READ = 2_000

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
    text = text[:MOST_READ]
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", _ACCENTS.sub("", text)))
    # One sign may stand for a sentence: what is read stays bounded.
    text = text[:MOST_READ].casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_ALIKE)


def tokens_of(text: str) -> list[str]:
    """The tokens of the beginning of ``text``."""
    return _TOKEN.findall(folded(text))


def is_dense(token: str) -> bool:
    """Whether ``token`` is a character of a script without blanks."""
    return _DENSE_TOKEN.match(token) is not None


#: Shorter messages could be of any language, words; characters where words are not set apart.
FEWEST_WORDS = 3
FEWEST_DENSE = 3
#: Of the languages that the widget speaks one alone is written in these letters: where it is among
#: those of a site, a word is enough.
_ARABIC = re.compile("[\u0620-\u064a]")
#: One in so many letters is enough: names of things stay in Latin ones ("هاتف iPhone").
ONE_IN = 3
_IN_ARABIC = frozenset({"ar", "fa", "ps", "sd", "ug", "ur", "ckb"})
#: How much of a text is read, characters.
READ = 1_000
_loading = Lock()


def detect_language(text: str, among: Sequence[str], default: str) -> str:
    """The language of ``text`` out of ``among``, as written there; ``default`` if it is too short.

    The same text always gets the same answer. The model is loaded by the first call, which takes
    about half a second and 75 MB, and shared by all threads of the process.

    Args:
        text: a message as its author wrote it.
        among: language tags such as ``de`` or ``pt-BR``; those of languages that the model does
            not know are never found.
        default: what is answered where nothing can be told.
    """
    wanted = {_language(tag): tag for tag in reversed(among)}
    if not wanted:
        return default
    if not _is_long_enough(text):
        return _by_letters(text, wanted) or default
    for language, _ in _identifier().rank(text[:READ]):
        if language in wanted:
            return wanted[language]
    return default


def _by_letters(text: str, wanted: Mapping[str, str]) -> str:
    """The only wanted language in whose letters enough of ``text`` is; "" where that tells none."""
    written = sorted(_IN_ARABIC.intersection(wanted))
    letters = sum(map(str.isalpha, text[:READ]))
    if len(written) == 1 and ONE_IN * len(_ARABIC.findall(text[:READ])) > letters:
        return wanted[written[0]]
    return ""


def _is_long_enough(text: str) -> bool:
    words = [token for token in tokens_of(text) if not token.isdecimal()]
    return len(words) >= FEWEST_WORDS or sum(map(is_dense, words)) >= FEWEST_DENSE


def _language(tag: str) -> str:
    """The language of a tag without its region and script."""
    return tag.replace("_", "-").partition("-")[0].lower()


def _identifier() -> LanguageIdentifier:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE)
