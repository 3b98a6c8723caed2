"""The word knowledge in ``words/*.toml``, one vocabulary for each language, read on first use."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from labelhub.core.interview.screening.phrases import (
    PhraseTable,
    entries,
    phrase_table,
    tokens_of,
)

_FOLDER = Path(__file__).with_name("words")
#: What whole phrases say; the rest of the keys are of single words.
COURTESIES = ("greeting", "thanks", "thanks_for", "goodbye", "bare_reply", "closed", "naming")
SINGLE = (
    "light",
    "slot",
    "approving",
    "polite",
    "question",
    "first",
    "asking",
    "command",
    "worth",
    "please",
    "trait",
    "compound",
    "relates",
    "topic",
)
#: What an entry under several keys is taken for: the key that comes first here.
_RANK = {
    key: -rank
    for rank, key in enumerate(
        (
            *("worth", "thanks_for", "thanks", "naming", "greeting", "goodbye", "closed"),
            *("bare_reply", *(key for key in SINGLE if key not in {"worth", "light"})),
        )
    )
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What one language says that is not worth asking about, and what is.

    ``said``: phrases by key, the keys of single words too where an entry is several tokens long.
    ``words``: the sets of single tokens by key. ``known``: every token that occurs in any of them.
    ``courteous``: tokens that are a greeting, thanks or a goodbye by themselves.
    """

    language: str
    said: PhraseTable[str]
    smalltalk: PhraseTable[str]
    words: Mapping[str, frozenset[str]]
    known: frozenset[str]
    courteous: frozenset[str]


@lru_cache(maxsize=1)
def vocabularies() -> tuple[Vocabulary, ...]:
    """All vocabularies, by the name of their language; ``others`` holds those of several."""
    return tuple(
        _vocabulary(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(_FOLDER.glob("*.toml"))
    )


@lru_cache(maxsize=1)
def machine_phrases() -> PhraseTable[str]:
    """What models and templates leave behind, in all languages."""
    return phrase_table(
        (entry, "machine_like")
        for path in sorted(_FOLDER.glob("*.toml"))
        for entry in entries(tomllib.loads(path.read_text(encoding="utf-8"))["machine_like"])
    )


def languages_of(tokens: Sequence[str]) -> tuple[Vocabulary, ...]:
    """The vocabularies that know the most of ``tokens``, give or take one; none if none does."""
    counts = [(sum(map(each.known.__contains__, tokens)), each) for each in vocabularies()]
    most = max(count for count, _ in counts)
    return tuple(each for count, each in counts if count and count >= most - 1)


def _vocabulary(language: str, raw: Mapping[str, str]) -> Vocabulary:
    phrases = [(entry, key) for key in COURTESIES for entry in entries(raw[key])]
    words: dict[str, set[str]] = {key: set() for key in SINGLE}
    for key in SINGLE:
        for entry in entries(raw[key]):
            tokens = tokens_of(entry)
            if len(tokens) == 1:
                words[key].add(tokens[0])
            else:
                phrases.append((entry, key))
    known = {
        token for entry, _ in phrases for word in entry.split() for token in _tokens(word)
    }.union(*words.values())
    return Vocabulary(
        language=language,
        said=phrase_table(phrases),
        smalltalk=phrase_table((entry, "smalltalk") for entry in entries(raw["smalltalk"])),
        words={key: frozenset(found) for key, found in words.items()},
        known=frozenset(known),
        courteous=frozenset(
            entry
            for key in ("greeting", "thanks", "goodbye")
            for entry in entries(raw[key])
            if entry.isalpha()
        ),
    )


def rank(found: tuple[int, str]) -> tuple[int, int]:
    """Sorts last the phrase to take of several at one place: the longest, then by its key."""
    end, key = found
    return end, _RANK.get(key, -len(_RANK))


def _tokens(word: str) -> list[str]:
    return [] if word == "..." else tokens_of(word.replace("|", " "))
