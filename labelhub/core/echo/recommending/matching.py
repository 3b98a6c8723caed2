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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from labelhub.core.echo.recommending.item_index import (
    Floats,
    ItemIndex,
    Selected,
    denied,
    is_no,
    is_yes,
    terms,
)
from labelhub.core.echo.recommending.items import Item

#: The decimal places of scores, so that rounding errors of sums do not decide the order.
PLACES = 9
#: The characters of a message and of its context that are read.
READ = 4_000
#: The weights of the similarity to the message and to its context, besides those of the features.
MESSAGE, CONTEXT = 4.0, 1.0
#: The verdict for an item that suits a value, or negated for one that contradicts it.
ATTRIBUTE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanings:
    """The meanings of a site's feature values.

    Args:
        words: by key of a feature, words for each value ("lowest": "cheap, affordable"); a value
            without any is compared by its own words.
        open_keys: features that are answered in any words: an item that names others than the
            predicted one does not contradict it.
    """

    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    open_keys: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """The contribution of one feature to an item's score.

    Args:
        key, name: of the feature.
        value: the predicted one.
        part: of the score.
    """

    key: str
    name: str
    value: str
    part: float


@dataclass(frozen=True, slots=True)
class Match:
    """An item with its score and the parts of it.

    Args:
        item: of the catalogue.
        score: ``from_message + from_context`` and the parts of all reasons; at most 1.
        from_message: part of the similarity to the message.
        from_context: part of the similarity to the context.
        shared: stems that the message and the item have in common.
        reasons: the features with a part, the largest first.
        propensity: probability of this item, if it was drawn at random; else 1.
    """

    item: Item
    score: float
    from_message: float = 0.0
    from_context: float = 0.0
    shared: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    propensity: float = 1.0


def match(
    index: ItemIndex,
    message_text: str,
    context: Sequence[str],
    selected: Sequence[Selected],
    *,
    meanings: Meanings | None = None,
    exclude: Collection[str] = (),
    count: int = 5,
) -> list[Match]:
    """At most ``count`` items with a score above 0, the best first; equal ones as catalogued.

    ``context`` has the latest message last; ``exclude`` has ids of items that must not match.
    """
    wanted = terms(message_text[:READ])
    before = terms(" ".join(reversed(context))[:READ])
    heard = [feature for feature in selected if _weight_of(feature) > 0]
    voices = [_voice(index, feature, meanings or Meanings()) for feature in heard]
    whole = MESSAGE + (CONTEXT if before else 0.0)
    whole += sum(voice.weight for voice in voices)
    by_message = index.likeness(wanted) * (MESSAGE / whole)
    by_context = index.likeness(before) * (CONTEXT / whole)
    scores = by_message + by_context
    for voice in voices:
        scores += voice.verdicts * (voice.weight / whole)
    best = _best(scores, index, exclude, count)
    return [
        Match(
            index.items[place],
            round(float(scores[place]), PLACES),
            float(by_message[place]),
            float(by_context[place]),
            index.shared(place, wanted),
            _reasons(voices, place, whole),
        )
        for place in best
    ]


@dataclass(frozen=True, slots=True)
class _Voice:
    """A feature with its verdict on every item."""

    feature: Selected
    weight: float
    verdicts: Floats


def _weight_of(feature: Selected) -> float:
    """Probability x relevance; 0 where either is no number, or below 0."""
    weight = feature.probability * feature.relevance
    if not np.isfinite(weight) or feature.probability < 0:
        return 0.0
    return max(0.0, float(weight))


def _voice(index: ItemIndex, feature: Selected, meanings: Meanings) -> _Voice:
    suited = index.suited(feature, is_open=feature.key in meanings.open_keys)
    sign, words = _words_of(feature, meanings)
    alike = index.likeness(terms(words)) * sign
    verdicts = np.where(suited != 0, suited * ATTRIBUTE, alike)
    return _Voice(feature, _weight_of(feature), verdicts)


def _words_of(feature: Selected, meanings: Meanings) -> tuple[float, str]:
    """The sign and words of a predicted value; the sign is -1 if the words are unwanted.

    A bare yes or no refers to the feature's name.
    """
    given = meanings.words.get(feature.key, {}).get(feature.value, "")
    if given:
        return 1.0, given
    if is_yes(feature.value) or is_no(feature.value):
        return (-1.0 if is_no(feature.value) else 1.0), feature.name
    rest = denied(feature.value)
    return (-1.0, rest) if rest else (1.0, feature.value)


def _reasons(voices: Sequence[_Voice], place: int, whole: float) -> tuple[Reason, ...]:
    found = []
    for voice in voices:
        verdict = float(voice.verdicts[place])
        if verdict:
            key, name, value = voice.feature.key, voice.feature.name, voice.feature.value
            found.append(Reason(key, name, value, verdict * voice.weight / whole))
    return tuple(sorted(found, key=lambda reason: (-abs(reason.part), reason.key)))


def _best(scores: Floats, index: ItemIndex, exclude: Collection[str], count: int) -> list[int]:
    """The places of the highest scores above 0; of equal ones the first."""
    rounded = np.round(scores, PLACES)
    rounded[[index.places[item_id] for item_id in exclude if item_id in index.places]] = 0.0
    among = np.flatnonzero(rounded > 0)
    if 0 < count < len(among):
        # Sort all scores that reach the last place, so that ties keep the order of the catalogue.
        bar = np.partition(rounded[among], len(among) - count)[len(among) - count]
        among = among[rounded[among] >= bar]
    order = np.lexsort((among, -rounded[among]))[: max(0, count)]
    return [int(place) for place in among[order]]
