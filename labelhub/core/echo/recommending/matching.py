"""Match items of a catalogue to a message and its author's features, with reasons.

An item's score is a weighted mean of verdicts from -1 to 1: the similarity to the message, that to
the context, and for each selected feature whether the item suits the predicted value. A feature
weighs ``probability x relevance``; one that does harm downstream (relevance below 0) weighs 0. The
verdict comes from the item's attributes; without an attribute for the feature, the words of the
value are compared with the item's.

Every score is the sum of its returned parts; nothing is learnt here, and equal scores keep the
order of the catalogue. Source: paper 004, sections 3.3 and 4, which name the step without a method;
the weights of terms are TF-IDF (Salton and Buckley, 1988).
"""

import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.recommending.catalogue import Item
from labelhub.core.extras import without_pandas
from labelhub.core.schema import fold
from labelhub.core.similarity import stem, words

Floats = NDArray[np.float64]
_SOURCE = Path(__file__).with_name("words.toml")
#: The counts of a word in the title, and in the tags or the vertical; in the text it counts once.
_TITLE, _TAGS = 3, 2
#: The decimal places of scores, so that rounding errors of sums do not decide the order.
PLACES = 9
#: The characters of a message and of its context that are read, and the most matches.
READ, MOST = 4_000, 5
#: The weights of the similarity to the message and to its context, besides those of the features.
MESSAGE, CONTEXT = 4.0, 1.0
#: The verdict for an item that suits a value, or negated for one that contradicts it.
ATTRIBUTE = 0.5


@dataclass(frozen=True, slots=True)
class Selected:
    """One of the k features that go downstream.

    Args:
        key: the feature's name for programs.
        name: its name for people.
        value: what its model predicts for the message; one of the feature's values, or a word.
        probability: how likely that value is right, 0 to 1 (one minus the uncertainty).
        relevance: what being right about it adds to the log-odds of success downstream.
        meaning: words for the value ("cheap, affordable"); without any, its own are compared.
        is_open: it is answered in any words: an item that names others does not contradict it.
    """

    key: str
    name: str
    value: str
    probability: float
    relevance: float
    meaning: str = ""
    is_open: bool = False

    @property
    def weight(self) -> float:
        """Probability x relevance; 0 where either is no number, or below 0."""
        weight = self.probability * self.relevance
        return max(0.0, weight) if math.isfinite(weight) and self.probability >= 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferContext:
    """The message for which items are ranked.

    Args:
        message_text: what the author wrote, already redacted.
        context: the messages before, the latest last.
        selected: the features that go downstream.
        exclude: ids of items that must not match.
        draw: in [0, 1), for a policy that draws; independent of that of :func:`.policies.decide`.
    """

    message_text: str
    context: Sequence[str] = ()
    selected: Sequence[Selected] = ()
    exclude: Collection[str] = ()
    draw: float = 0.0


@dataclass(frozen=True, slots=True)
class Match:
    """An item with its score and the parts of it.

    Args:
        item: of the catalogue.
        score: ``from_message + from_context`` and the parts of all reasons; at most 1.
        from_message: part of the similarity to the message.
        from_context: part of the similarity to the context.
        shared: stems that the message and the item have in common.
        reasons: the features with a part of the score, and that part, the largest first.
        propensity: probability of this item, if it was drawn at random; else 1.
    """

    item: Item
    score: float
    from_message: float = 0.0
    from_context: float = 0.0
    shared: tuple[str, ...] = ()
    reasons: tuple[tuple[Selected, float], ...] = ()
    propensity: float = 1.0


def terms(text: str) -> list[str]:
    """The stems of the words of ``text`` without small words, in order.

    Words are those of :func:`labelhub.core.similarity.words`: of scripts without blanks they are
    pairs of characters. Small words of five languages and lone letters are left out; numbers stay.
    """
    small = _word_list("small")
    return [
        stem(word)
        for word in words(text.replace("_", " "))
        if word not in small and (len(word) > 1 or word.isdecimal())
    ]


def normalise_value(value: str) -> str:
    """A value without differences of case, width, blanks and underscores."""
    return " ".join(fold(value).replace("_", " ").split())


def denied(value: str) -> str:
    """The value that ``value`` denies: "plastic" for "no plastic", "heavy" for "not_heavy"; or "".

    A bare "no" denies nothing by itself.
    """
    found = _denial().match(normalise_value(value))
    return found["rest"] if found else ""


@lru_cache(maxsize=1)
def _denial() -> re.Pattern[str]:
    spaced = "|".join(sorted(map(re.escape, _word_list("denials"))))
    return re.compile(rf"(?:{spaced})[ \-]+(?P<rest>\S.*)")


@lru_cache(maxsize=8)
def _word_list(name: str) -> frozenset[str]:
    return frozenset(tomllib.loads(_SOURCE.read_text("utf-8"))[name].split())


class ItemIndex:
    """The index of a catalogue, by words and by suited values; built once, then only read.

    Words are weighed by TF-IDF (:class:`sklearn.feature_extraction.text.TfidfVectorizer` with
    ``sublinear_tf``); those of a title count more than those of the text.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        # It takes half a second, and most processes match no items.
        with without_pandas():
            from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
            from sklearn.preprocessing import normalize  # noqa: PLC0415

        self.items = tuple(items)
        self.places = {item.id: place for place, item in enumerate(self.items)}
        titles = [terms(item.title) for item in self.items]
        tags = [terms(" ".join(item.tags)) for item in self.items]
        #: By item: the terms of its title and tags.
        self.names = [{*title, *tag} for title, tag in zip(titles, tags, strict=True)]
        bags = [
            title * _TITLE + (tag + terms(item.vertical)) * _TAGS + terms(item.text)
            for item, title, tag in zip(self.items, titles, tags, strict=True)
        ]
        self._terms = [set(bag) for bag in bags]
        self._tfidf = TfidfVectorizer(analyzer=list, sublinear_tf=True, norm=None)
        # Without any term, one that no message has: scikit-learn refuses an empty vocabulary.
        rows = self._tfidf.fit_transform(bags if any(bags) else [[""]])
        self._rows = (normalize(rows) if any(bags) else rows[:0]).tocsc()
        self._suiting: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._avoiding: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._telling: defaultdict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            for key, values in item.suits.items():
                self._telling[key].append(place)
                for value in values:
                    self._suiting[key, normalise_value(value)].append(place)
            for key, values in item.avoids.items():
                for value in values:
                    self._avoiding[key, normalise_value(value)].append(place)

    def likeness(self, wanted: Sequence[str]) -> Floats:
        """The cosine between these terms and each item: 0 (no term in common) to 1.

        Terms that no item has count as the rarest: the more of them a message has, the less similar
        is each item.
        """
        if not self._rows.shape[0]:
            return np.zeros(len(self.items))
        asked = self._tfidf.transform([wanted])
        unknown = Counter(term for term in wanted if term not in self._tfidf.vocabulary_)
        rarest = np.log(1.0 + self._rows.shape[0]) + 1.0
        squares = sum((rarest * (1.0 + np.log(count))) ** 2 for count in unknown.values())
        length = np.sqrt(asked.power(2).sum() + squares) or 1.0
        found: Floats = np.clip(self._rows[:, asked.indices] @ (asked.data / length), 0.0, 1.0)
        return found

    def shared(self, place: int, wanted: Sequence[str]) -> tuple[str, ...]:
        """The terms in ``wanted`` that the item at ``place`` has, in order."""
        return tuple(dict.fromkeys(term for term in wanted if term in self._terms[place]))

    def suited(self, feature: Selected) -> Floats:
        """1 for items that suit the predicted value, -1 where they contradict it, else 0: (items,).

        An item that suits some values of a feature contradicts the others, unless these are open.
        """
        verdicts = np.zeros(len(self.items))
        key, value = feature.key, normalise_value(feature.value)
        rest, named = denied(feature.value), (key, value) in self._suiting
        # If no item suits exactly this value, none contradicts it.
        if named and not feature.is_open:
            verdicts[self._telling[key]] = -1.0
        if rest and not named:
            verdicts[self._suiting.get((key, rest), [])] = -1.0
            verdicts[self._avoiding.get((key, rest), [])] = 1.0
        verdicts[self._suiting.get((key, value), [])] = 1.0
        verdicts[self._avoiding.get((key, value), [])] = -1.0
        return verdicts


def match(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """At most :data:`MOST` items with a score above 0, the best first; equal ones as catalogued."""
    wanted = terms(moment.message_text[:READ])
    before = terms(" ".join(reversed(moment.context))[:READ])
    heard = [feature for feature in moment.selected if feature.weight > 0]
    whole = MESSAGE + (CONTEXT if before else 0.0) + sum(feature.weight for feature in heard)
    by_message = index.likeness(wanted) * (MESSAGE / whole)
    by_context = index.likeness(before) * (CONTEXT / whole)
    parts = [(feature, _verdicts(index, feature) * (feature.weight / whole)) for feature in heard]
    scores = sum((part for _, part in parts), by_message + by_context)
    rounded = np.round(scores, PLACES)
    rounded[[index.places[item_id] for item_id in moment.exclude if item_id in index.places]] = 0.0
    best = np.argsort(-rounded, kind="stable")[:MOST]
    return [
        Match(
            index.items[place],
            round(float(scores[place]), PLACES),
            float(by_message[place]),
            float(by_context[place]),
            index.shared(place, wanted),
            tuple(
                sorted(
                    ((feature, float(part[place])) for feature, part in parts if part[place]),
                    key=lambda reason: (-abs(reason[1]), reason[0].key),
                )
            ),
        )
        for place in best[rounded[best] > 0].tolist()
    ]


def _verdicts(index: ItemIndex, feature: Selected) -> Floats:
    """From -1 to 1: by the attributes of each item, else by its likeness to the words of the value.

    Words that are unwanted count against an item. A bare yes or no refers to the feature's name.
    """
    answer, rest = fold(feature.value), denied(feature.value)
    sign, meaning = 1.0, feature.meaning
    if not meaning and answer in _word_list("yes") | _word_list("no"):
        sign, meaning = (-1.0 if answer in _word_list("no") else 1.0), feature.name
    elif not meaning:
        sign, meaning = (-1.0, rest) if rest else (1.0, feature.value)
    suited = index.suited(feature)
    return np.where(suited != 0, suited * ATTRIBUTE, index.likeness(terms(meaning)) * sign)


def unused_attributes(
    items: Iterable[Item], features: Mapping[str, Sequence[str]]
) -> list[tuple[str, str, int]]:
    """The attributes of items that ``features`` (key → values, empty for an open feature) do not
    have: key, value and number of items that name it; the most frequent first.

    The value is "" if there is no such feature.
    """
    known = {
        key: {form for value in values for form in (normalise_value(value), denied(value)) if form}
        for key, values in features.items()
    }
    rows: Counter[tuple[str, str]] = Counter()
    for item in items:
        named = {
            (key, value if key in known else "")
            for attributes in (item.suits, item.avoids)
            for key, values in attributes.items()
            for value in values
            if key not in known or (known[key] and normalise_value(value) not in known[key])
        }
        rows.update(named)
    return sorted(((*named, n) for named, n in rows.items()), key=lambda row: (-row[2], row))
