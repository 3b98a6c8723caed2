"""The word knowledge in ``lexicon.toml``, read once, when a model first needs it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from labelhub.core.llm.offline.words import stems

STRONG = 0.7
WEAK = 0.35
_SOURCE = Path(__file__).with_name("lexicon.toml")

#: A term: the stems of its words, one to four.
Term: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Concept:
    """A notion people ask about: which terms point to it, how strongly (0 to 1)."""

    key: str
    names: frozenset[Term]
    terms: Mapping[Term, float]
    pairs: tuple[tuple[frozenset[str], frozenset[str]], ...]
    includes: tuple[str, ...]
    opposite: str
    catchall: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All concepts, and the small sets of words that are not about a topic."""

    concepts: Mapping[str, Concept]
    groups: Mapping[str, frozenset[Term]]
    irregular: Mapping[str, str]
    decoy_heads: frozenset[str]

    def called_by(self, name: str) -> tuple[Concept, ...]:
        """The concepts that a label's name, or a question, calls up by its words."""
        said = stems(name, self.irregular)
        spans = {said[at : at + size] for size in (1, 2) for at in range(len(said))}
        return tuple(concept for concept in self.concepts.values() if spans & concept.names)

    def is_in(self, group: str, word: str) -> bool:
        """Whether a single stem belongs to a group of words such as ``stop``."""
        return (word,) in self.groups[group]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon, parsed on first use."""
    data = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    irregular: dict[str, str] = data["irregular"]
    groups = {key: _terms(words, irregular) for key, words in data["words"].items()}
    return Lexicon(
        concepts={key: _concept(key, raw, irregular) for key, raw in data["concepts"].items()},
        groups=groups,
        irregular=irregular,
        decoy_heads=frozenset(decoy[0] for decoy in groups["decoys"]),
    )


def _concept(key: str, raw: Mapping[str, Any], irregular: Mapping[str, str]) -> Concept:
    weights = dict.fromkeys(_terms(raw.get("weak", ""), irregular), WEAK)
    weights |= dict.fromkeys(_terms(raw.get("strong", ""), irregular), STRONG)
    return Concept(
        key=key,
        names=_terms(raw["names"], irregular),
        terms=weights,
        pairs=tuple(
            (_words(first, irregular), _words(second, irregular))
            for first, second in raw.get("pairs", ())
        ),
        includes=tuple(raw.get("includes", ())),
        opposite=raw.get("opposite", ""),
        catchall=raw.get("catchall", False),
    )


def _terms(words: str, irregular: Mapping[str, str]) -> frozenset[Term]:
    return frozenset(filter(None, (stems(term, irregular)[:4] for term in words.split(","))))


def _words(words: str, irregular: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for term in _terms(words, irregular) for word in term)
