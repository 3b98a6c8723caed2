"""Which of a site's languages a message is written in."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock

from py3langid.langid import (  # type: ignore[import-untyped]
    MODEL_FILE,
    LanguageIdentifier,
)

from labelhub.core.interview.tokens import is_dense, tokens_of

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
