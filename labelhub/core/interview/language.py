"""Tokens of texts, and the language of a message."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock

from py3langid.langid import (  # type: ignore[import-untyped]
    MODEL_FILE,
    LanguageIdentifier,
)

#: The characters of a text that are read: its kind shows early, and many combining marks take
#: quadratic time to sort.
MOST_READ = 2_000

#: Kana and Chinese characters.
DENSE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_DENSE_TOKEN = re.compile(f"[{DENSE}]")
_TOKEN = re.compile(rf"[{DENSE}]|[^\W_{DENSE}]+")
#: Including the optional signs of Arabic: vowels, hamza and the long stroke.
_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
#: Letters of Arabic that replace each other.
_ALIKE = str.maketrans("\u0649\u0629\u0671\u06cc\u06a9", "\u064a\u0647\u0627\u064a\u0643")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)


def fold_text(text: str) -> str:
    """The beginning of ``text`` in lower case and one width, without accents and hidden signs."""
    text = text[:MOST_READ]
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", _ACCENTS.sub("", text)))
    # A single sign may expand to a sentence.
    text = text[:MOST_READ].casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_ALIKE)


def tokens_of(text: str) -> list[str]:
    """The tokens of the beginning of ``text``."""
    return _TOKEN.findall(fold_text(text))


def is_dense(token: str) -> bool:
    """Whether ``token`` is a character of a script without blanks."""
    return _DENSE_TOKEN.match(token) is not None


#: The fewest words, or characters of scripts without blanks, that tell a language.
FEWEST_WORDS = 3
FEWEST_DENSE = 3
#: Only one language of the widget has these letters: if it is among those of a site, one word is
#: enough.
_ARABIC = re.compile("[\u0620-\u064a]")
#: One in so many letters is enough: names of things stay in Latin letters ("هاتف iPhone").
ONE_IN = 3
_IN_ARABIC = frozenset({"ar", "fa", "ps", "sd", "ug", "ur", "ckb"})
#: The characters that decide the language.
READ = 1_000
_loading = Lock()


def detect_language(text: str, among: Sequence[str], default: str) -> str:
    """The language of ``text`` out of ``among``, as spelt there; ``default`` for short texts.

    The same text always gets the same answer. The first call loads the model, which takes about
    half a second and 75 MB; all threads of the process share it.

    Args:
        text: a message as its author wrote it.
        among: language tags such as ``de`` or ``pt-BR``; languages unknown to the model are never
            found.
        default: the answer for texts of unknown language.
    """
    # Without region and script.
    wanted = {tag.replace("_", "-").partition("-")[0].lower(): tag for tag in reversed(among)}
    if set(wanted.values()) <= {default}:
        return default  # without the model: most sites have one language
    words = [token for token in tokens_of(text) if not token.isdecimal()]
    if len(words) < FEWEST_WORDS and sum(map(is_dense, words)) < FEWEST_DENSE:
        return _language_of_letters(text, wanted) or default
    with _loading:
        identifier = _load_identifier()
    for language, _ in identifier.rank(text[:READ]):
        if language in wanted:
            return wanted[language]
    return default


def _language_of_letters(text: str, wanted: Mapping[str, str]) -> str:
    """The only wanted language with the letters of ``text``; "" if there is none or several."""
    written = sorted(_IN_ARABIC.intersection(wanted))
    letters = sum(map(str.isalpha, text[:READ]))
    if len(written) == 1 and ONE_IN * len(_ARABIC.findall(text[:READ])) > letters:
        return wanted[written[0]]
    return ""


@lru_cache(maxsize=1)
def _load_identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE)
