"""Weigh a text for each answer by common words and a short word list."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

from labelhub.core.schema import LabelDef
from labelhub.core.similarity import stem

#: The stems of a word or of a short phrase.
Term: TypeAlias = tuple[str, ...]
#: The support of a text for one answer: term → its weight and the place of its first word.
Support: TypeAlias = dict[Term, tuple[float, int]]

_NAMED, _KNOWN, _LISTED, _DESCRIBED = 0.8, 0.7, 0.6, 0.3
_LONGEST_TERM, _LONGEST_QUOTE, _MOST_QUOTES, _NEGATED_REACH = 4, 140, 3, 3
#: Concept → the concept for which its denied words count.
_OPPOSITES = {"positive": "negative", "negative": "positive", "affirm": "rest"}
#: Topics with a degree; scales for all other topics ask how good something is.
_DEGREES = frozenset({"urgency", "spam", "toxic", "joke", "complaint"})
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|\?")
_CLAUSE_ENDS = frozenset('.!?;:,\n\r"“”„«»()…|–—\0')
_WITHIN_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])|[_/-]")
_LIST_MARKS = re.compile(r"[,;:.'‘’\"]+(?:\s+|$)|^['‘\"]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text in words: their stems, their starts, their clauses, and the ends of clauses."""

    text: str
    words: list[str]
    starts: list[int]
    clause_of: list[int]
    clauses: list[list[int]]

    def quotes(self, support: Support) -> tuple[str, ...]:
        """The clauses of the strongest words, letter for letter; of a long clause its end."""
        best = sorted(support.values(), key=lambda hit: (-hit[0], hit[1]))[:_MOST_QUOTES]
        spans = [(self.starts[place], *self.clauses[self.clause_of[place]]) for _, place in best]
        short = [(max(start, min(word, end - _LONGEST_QUOTE)), end) for word, start, end in spans]
        return tuple(dict.fromkeys(self.text[start:end][:_LONGEST_QUOTE] for start, end in short))

    def is_denied(self, place: int) -> bool:
        """Whether a word shortly before in the same clause denies the word at ``place``."""
        near = range(max(0, place - _NEGATED_REACH), place)
        negators, here = lexicon()["groups"]["negators"], self.clause_of[place]
        return any(self.clause_of[n] == here and self.words[n] in negators for n in near)


@dataclass(frozen=True, slots=True)
class Profile:
    """The terms of labels.

    Attributes:
        index: term → places of labels and its weight for each.
        first: the first words of the terms.
        rest: the labels for texts that support no other label.
        opposites: label → the label for which its denied words count.
    """

    index: Mapping[Term, list[tuple[int, float]]]
    first: frozenset[str]
    rest: frozenset[int]
    opposites: Mapping[int, int]


def read(text: str) -> Reading:
    """Split a text into words and clauses, in time linear in its length."""
    reading, end = Reading(text, [], [], [], []), 0
    for found in _TOKEN.finditer(text):
        if not reading.clauses or not _CLAUSE_ENDS.isdisjoint(text[end : found.start()]):
            reading.clauses.append([found.start(), 0])
        end = reading.clauses[-1][1] = found.end()
        reading.words.append(stem(found.group()))
        reading.starts.append(found.start())
        reading.clause_of.append(len(reading.clauses) - 1)
    return reading


def weigh_labels(
    labels: tuple[LabelDef, ...], reading: Reading, question: str = ""
) -> list[Support]:
    """The support of the text for each label."""
    profile = profile_of(labels, question)
    supports: list[Support] = [{} for _ in labels]
    for term, place in _find_terms(profile, reading.words):
        denied = reading.is_denied(place)
        for label, weight in profile.index[term]:
            support = supports[profile.opposites.get(label, label) if denied else label]
            support.setdefault(term, (weight, place))
    return supports


def strength(support: Support) -> float:
    """All weights combined, from 0 to below 1: each closes part of the gap to 1."""
    return 1 - prod(1 - weight for weight, _ in support.values())


@lru_cache(maxsize=64)
def profile_of(labels: tuple[LabelDef, ...], question: str = "") -> Profile:
    """The terms of ``labels``; the words of a question support a label that affirms it."""
    called = [concepts_of(label.name) for label in labels]
    places = {concept: place for place, concepts in enumerate(called) for concept in concepts}
    opposite = {places[c]: places[o] for c, o in _OPPOSITES.items() if {c, o} <= places.keys()}
    index: dict[Term, list[tuple[int, float]]] = {}
    for place, label in enumerate(labels):
        for term, weight in _terms(label, called[place], question).items():
            index.setdefault(term, []).append((place, weight))
    common = [term for term, found in index.items() if len(found) > max(1, len(labels) // 2)]
    for term in common:  # weak terms of most labels do not tell them apart
        index[term] = [(place, weight) for place, weight in index[term] if weight >= _LISTED]
    first = frozenset(word for word, *_ in filter(None, index))
    rest = frozenset(a for a, c in enumerate(called) if "rest" in c)
    return Profile(index, first, rest, opposite)


def place_on_scale(
    labels: tuple[LabelDef, ...], reading: Reading, question: str
) -> tuple[list[float], list[Support]]:
    """The nearness of each scale point to the tone or topic, and the support for its side."""
    order = sorted(range(len(labels)), key=lambda place: (labels[place].point or 0.0, place))
    topic = min(concepts_of(" ".join((question, *(n.name for n in labels)))) & _DEGREES, default="")
    high, low = weigh_labels((LabelDef(topic or "positive"), LabelDef("negative")), reading)
    lead = 2 * strength(high) - 1 if topic else strength(high) - strength(low)
    if "negative" in concepts_of(labels[order[-1]].name):
        high, low, lead = low, high, -lead
    steps, last = {place: step for step, place in enumerate(order)}, len(order) - 1
    nearness = [1 - abs((1 + lead) / 2 * last - steps[place]) / 2 for place in range(len(labels))]
    return nearness, [high if 2 * steps[place] >= last else low for place in range(len(labels))]


def phrase_worths(reading: Reading, question: str) -> dict[str, float]:
    """Clause of the text → its worth: how much it says, and how much of the question it has."""
    common, asked = Counter(reading.words), content(stems(question))
    worths: defaultdict[int, float] = defaultdict(float)
    for word, clause in zip(reading.words, reading.clause_of, strict=True):
        worths[clause] += len(content([word])) / common[word] + 2 * (word in asked)
    most, quoted = 1 + max(worths.values(), default=0.0), reading.clauses
    phrases = {
        reading.text[slice(*quoted[clause])][:_LONGEST_QUOTE]: worths[clause] / most
        for clause in worths
    }
    return phrases or {"nothing to say": 0.0}


def dice_similarity(first: str, other: str) -> float:
    """Dice's coefficient of the words of two texts, in [0, 1]."""
    mine, theirs = content(stems(first)), content(stems(other))
    return 2 * len(mine & theirs) / max(len(mine) + len(theirs), 1)


def stems(words: str) -> Term:
    """The stems of a phrase or of a name such as ``foodAndDrink``."""
    return tuple(map(stem, _TOKEN.findall(_WITHIN_NAME.sub(" ", words))))


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems without stop words."""
    stop: frozenset[str] = lexicon()["groups"]["stop"]
    return frozenset(words) - stop


def concepts_of(name: str) -> frozenset[str]:
    """The concepts of a label's name or a question."""
    name_stems = frozenset(stems(name))
    return frozenset(key for key, names in lexicon()["names"].items() if names & name_stems)


@lru_cache(maxsize=1)
def lexicon() -> dict[str, Any]:
    """The word list, read on first use, with the stems of groups and of the concepts' names."""
    data = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))
    for group in ("groups", "names"):
        data[group] = {key: frozenset(stems(words)) for key, words in data[group].items()}
    return data


def _terms(label: LabelDef, concepts: frozenset[str], question: str) -> dict[Term, float]:
    """The terms of a label with their weights: its name, known words, and its description."""
    described = ". ".join((label.description, label.include, *label.examples_for))
    words = content(stems(f"{described} {question}" if "affirm" in concepts else described))
    known = ", ".join(lexicon()["words"].get(concept, "") for concept in concepts)
    name = () if "rest" in concepts else stems(label.name)
    terms: dict[Term, float] = dict.fromkeys(((word,) for word in words), _DESCRIBED)
    terms |= dict.fromkeys(_phrases(described), _LISTED) | dict.fromkeys(_phrases(known), _KNOWN)
    return terms | dict.fromkeys((name, *((word,) for word in content(name))), _NAMED)


def _phrases(words: str) -> list[Term]:
    """The short phrases between commas and quotation marks."""
    found = map(stems, _LIST_MARKS.split(words)) if words else ()
    return [term for term in found if 0 < len(term) <= _LONGEST_TERM]


def _find_terms(profile: Profile, words: list[str]) -> Iterator[tuple[Term, int]]:
    """The terms in the text and their places: the longest first, none inside another."""
    end = 0
    for start, word in enumerate(words):
        if start < end or word not in profile.first:
            continue
        terms = (tuple(words[start : start + size]) for size in range(_LONGEST_TERM, 0, -1))
        term = next((term for term in terms if term in profile.index), None)
        if term:
            yield term, start
            end = start + len(term)
