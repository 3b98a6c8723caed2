"""A feature's model predicts its value for a message, from that feature's author labels alone.

Three parts give a probability of each value: the rate of authors' answers, a linear classifier on
the message's words, and a language model if one was asked. They are blended by the losses of their
last predictions, each tested on an answer before learning from it (prequential; Dawid 1984).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.vectors import Ints, Sparse

Floats: TypeAlias = NDArray[np.float64]


def dot(rows: Floats, vector: Floats) -> Floats:
    """``rows @ vector``, (…, places) by (…, places): the sums over the last axis.

    Pairwise sums, in the same order on every processor and for every memory layout. ``@`` uses a
    linear algebra library whose order depends on the processor, but a state must equal that of its
    log bit by bit.
    """
    products: Floats = np.multiply(rows, vector, order="C")
    sums: Floats = products.sum(axis=-1)
    return sums


#: The probability that an answer has nothing to do with the message (a slip or mischief).
LAPSE = 0.03


class OnlineClassifier(NamedTuple):
    """The belief about the weights: ``mean`` and ``var``, both (…, values, places)."""

    mean: Floats
    var: Floats


def probabilities(head: OnlineClassifier, vector: Floats) -> Floats:
    """The probability of each value, (…, values); uncertain ones are closer to equal shares."""
    scores = dot(head.mean, vector)
    spread = dot(head.var, vector * vector)
    scores = scores / np.sqrt(1 + np.pi * spread / 8)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def learn(head: OnlineClassifier, vector: Floats, value: int, weight: float = 1.0) -> None:
    """Update one classifier, (values, places), in place with the answer ``value``.

    ``weight``: 0 to 1, how much the answer counts.
    """
    likely = probabilities(head, vector)
    values = len(likely)
    # An answer that a slip explains as well teaches less.
    honest = (1 - LAPSE) * likely[value]
    weight *= float(honest / (honest + LAPSE / values))
    step = head.var * vector
    spread = dot(step, vector)
    steepness = weight * likely * (1 - likely)
    shrink = 1 / (1 + steepness * spread)
    error = -weight * likely
    error[value] += weight
    head.mean[...] += step * (error * shrink)[:, None]
    head.var[...] -= step * step * (steepness * shrink)[:, None]


RATE, HEAD, LLM = "rate", "head", "llm"
PARTS = (RATE, HEAD, LLM)
#: The most values of an open feature that are learnt; later ones are not.
MOST_VALUES = 60
#: The prior variance of a classifier's weights; by trial on author labels (see docs/adr).
VARIANCE = 20.0
#: The prior count of each value.
_BEGUN = 1.0
#: The prior accuracy of a language model, and the number of answers that it counts for.
_LLM_RIGHT, _LLM_BEGUN = 0.6, 5.0
#: The discount of losses per answer: those of 50 answers ago count about a third.
_KEPT = 0.98
_LEAST = 1e-4


@dataclass(slots=True)
class FeatureModel:
    """The model of one feature.

    values: those seen or defined, each a row. counts: (values,), answers by value, each by how much
    it counts. places: the vector's places that were seen, ascending, a column each. mean, var: of
    the classifier, (values, places). losses: by part, its discounted log-loss. llm_right,
    llm_asked: how often a language model was right.
    """

    values: list[str] = field(default_factory=list)
    counts: Floats = field(default_factory=lambda: np.zeros(0))
    places: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    mean: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    var: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    losses: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    llm_right: float = 0.0
    llm_asked: float = 0.0


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one message.

    values: all possible ones. likely: their probabilities, (values,), sum to 1. parts: those of
    each part, (values,). disagreement: between the parts, 0 (they agree) to 1.
    """

    values: tuple[str, ...]
    likely: Floats
    parts: Mapping[str, Floats]
    disagreement: float

    @property
    def top(self) -> str:
        """The likeliest value; of equal ones the first."""
        return self.values[int(self.likely.argmax())] if self.values else ""

    @property
    def probability(self) -> float:
        """The probability of the likeliest value."""
        return float(self.likely.max()) if self.values else 0.0

    @property
    def margin(self) -> float:
        """The lead of the likeliest value over the next."""
        if len(self.values) < 2:
            return self.probability
        ordered = np.sort(self.likely)
        return float(ordered[-1] - ordered[-2])


def predict(
    model: FeatureModel,
    vector: Sparse,
    values: Sequence[str] = (),
    llm_value: str = "",
    *,
    llm_shares: Sequence[float] = (),
) -> Prediction:
    """The model's prediction; it does not change the model.

    Args:
        model: of the feature.
        vector: of the message.
        values: all values of a closed feature; empty for an open one, which has those seen.
        llm_value: a language model's value for the message; "" without one.
        llm_shares: its probability of each of ``values``, positive and summing to 1; empty if it
            gave none.
    """
    seen = [*model.values, llm_value] if llm_value else model.values
    possible = tuple(values) or tuple(dict.fromkeys(seen))
    if not possible:
        return Prediction((), np.zeros(0), {}, 0.0)
    known = dict(zip(model.values, model.counts.tolist(), strict=True))
    counts = np.array([known.get(value, 0.0) + _BEGUN for value in possible])
    shares: Floats = counts / counts.sum()
    parts = {RATE: shares, HEAD: _head_shares(model, possible, vector)}
    if llm_value in possible:
        parts[LLM] = _llm_part(model, possible, llm_value, parts[HEAD])
        if llm_shares and len(llm_shares) == len(possible):
            # Its own probabilities are not calibrated, unlike those of its value: the loss of the
            # mean exceeds that of the better one by at most log 2.
            parts[LLM] = (parts[LLM] + np.array(llm_shares, np.float64)) / 2
    weights = part_weights(model, tuple(parts))
    likely: Floats = np.sum([weights[name] * part for name, part in parts.items()], axis=0)
    # Mean total variation distance of the parts to the blend.
    apart = [weights[name] * float(np.abs(part - likely).sum()) / 2 for name, part in parts.items()]
    return Prediction(possible, likely, parts, min(1.0, sum(apart)))


def teach(
    model: FeatureModel,
    vector: Sparse,
    value: str,
    values: Sequence[str] = (),
    llm_value: str = "",
    *,
    llm_shares: Sequence[float] = (),
    weight: float = 1.0,
) -> None:
    """Learn, in place, from one author's answer; the arguments are those of :func:`predict`.

    ``weight``: 0 to 1, how much the answer counts.
    """
    before = predict(model, vector, values, llm_value, llm_shares=llm_shares)
    row, kept = _row_of(model, value), _KEPT**weight
    if row is None:
        return
    if value in before.values:  # else no part could have predicted it
        place = before.values.index(value)
        for name in PARTS:
            # A part without a prediction gets the loss of the blend.
            likely = float(before.parts.get(name, before.likely)[place])
            loss = -math.log(max(likely, _LEAST))
            model.losses[name] = kept * model.losses[name] + weight * loss
    if llm_value:
        model.llm_asked = kept * model.llm_asked + weight
        model.llm_right = kept * model.llm_right + weight * (llm_value == value)
    for known_value in values:
        _row_of(model, known_value)
    model.counts[row] += weight
    new = np.setdiff1d(vector.places, model.places)
    if len(new):
        columns = np.searchsorted(model.places, new)
        model.places = np.insert(model.places, columns, new)
        model.mean = np.insert(model.mean, columns, 0.0, axis=1)
        model.var = np.insert(model.var, columns, VARIANCE, axis=1)
    columns = np.searchsorted(model.places, vector.places)
    seen = OnlineClassifier(model.mean[:, columns], model.var[:, columns])
    learn(seen, vector.values, row, weight)
    model.mean[:, columns], model.var[:, columns] = seen


def part_weights(model: FeatureModel, parts: Sequence[str] = PARTS) -> dict[str, float]:
    """The weights of these parts by their discounted losses (exponential weights, Vovk 1990); they
    sum to 1."""
    least = min(model.losses[name] for name in parts)
    raised = {name: float(np.exp(least - model.losses[name])) for name in parts}
    whole = sum(raised.values())
    return {name: share / whole for name, share in raised.items()}


def _head_shares(model: FeatureModel, possible: Sequence[str], vector: Sparse) -> Floats:
    """The classifier's probabilities of the possible values; unseen ones have no score yet."""
    mean = np.zeros((len(possible), len(vector.places)))
    var = np.full(mean.shape, VARIANCE)
    rows = {value: row for row, value in enumerate(model.values)}
    columns = np.searchsorted(model.places, vector.places)
    found = columns < len(model.places)
    found[found] = model.places[columns[found]] == vector.places[found]
    for place, value in enumerate(possible):
        if value in rows:
            mean[place, found] = model.mean[rows[value], columns[found]]
            var[place, found] = model.var[rows[value], columns[found]]
    return probabilities(OnlineClassifier(mean, var), vector.values)


def _llm_part(
    model: FeatureModel, possible: Sequence[str], llm_value: str, others: Floats
) -> Floats:
    """A language model's part: its value has its accuracy so far, the others follow ``others``."""
    right = (model.llm_right + _LLM_RIGHT * _LLM_BEGUN) / (model.llm_asked + _LLM_BEGUN)
    place = possible.index(llm_value)
    rest = others.copy()
    rest[place] = 0.0
    spread = rest.sum()
    if spread <= 0:
        certain: Floats = np.eye(len(possible))[place]
        return certain
    shares: Floats = rest * ((1 - right) / spread)
    shares[place] = right
    return shares


def _row_of(model: FeatureModel, value: str) -> int | None:
    """The row of a value, added if it is new; None if there are too many."""
    if value in model.values:
        return model.values.index(value)
    if len(model.values) >= MOST_VALUES:
        return None
    model.values.append(value)
    model.counts = np.append(model.counts, 0.0)
    model.mean = np.pad(model.mean, ((0, 1), (0, 0)))
    model.var = np.pad(model.var, ((0, 1), (0, 0)), constant_values=VARIANCE)
    return len(model.values) - 1
