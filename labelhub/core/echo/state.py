"""The state of Echo at a site: a function of its log, bit for bit.

Author labels go to their own feature's model and to the uncertainty, rewards to relevance; no event
goes to both (paper 004, section 3.4). Events of authors whom the site does not trust, or whose
answers or clicks look random, are in the log but not learnt from.
"""

import hashlib
import json
import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo import trust
from labelhub.core.echo.events import CLICK, DISMISSED, Answered, Expected, Named, Rewarded
from labelhub.core.echo.models import FeatureModel, Prediction, teach
from labelhub.core.echo.relevance import (
    PRIOR_ODDS,
    PRIOR_VARIANCE,
    PRIOR_WEIGHT,
    Relevance,
    Signal,
    expected_success,
    learn_named,
    new_relevance,
    reward,
)
from labelhub.core.echo.trust import AuthorBelief
from labelhub.core.echo.uncertainty import (
    BEGUN_RATE,
    Uncertainty,
    learn_mismatch,
    new_uncertainty,
    prediction_signs,
    sigma,
)
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Record = TypeVar("Record", Relevance, Uncertainty, FeatureModel)
Lesson: TypeAlias = Answered | Rewarded | Named | Expected

#: The largest effect of a prior on the log-odds that a feature matters.
_MOST_PRIOR = 3.0


@dataclass(slots=True)
class EchoState:
    """The learnt state.

    features: keys in the order of their first event; the arrays of ``relevance`` and
    ``uncertainty`` follow it. models: by key, of features with answers. trusts: by author. places:
    key → place in ``features``.
    """

    features: list[str] = field(default_factory=list)
    relevance: Relevance = field(default_factory=lambda: new_relevance(0))
    uncertainty: Uncertainty = field(default_factory=lambda: new_uncertainty(0))
    models: dict[str, FeatureModel] = field(default_factory=dict)
    trusts: dict[str, AuthorBelief] = field(default_factory=dict)
    places: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {key: place for place, key in enumerate(self.features)}

    def index(self, key: str) -> int:
        """The place of a feature, added if it is new."""
        if key not in self.places:
            self.places[key] = len(self.features)
            self.features.append(key)
            relevance, doubt = self.relevance, self.uncertainty
            relevance.odds = np.append(relevance.odds, PRIOR_ODDS)
            relevance.prior_odds = np.append(relevance.prior_odds, PRIOR_ODDS)
            relevance.weight = np.append(relevance.weight, PRIOR_WEIGHT)
            relevance.variance = np.append(relevance.variance, PRIOR_VARIANCE)
            doubt.mismatches = np.append(doubt.mismatches, BEGUN_RATE)
            doubt.answers = np.append(doubt.answers, 0.0)
        return self.places[key]

    def model(self, key: str) -> FeatureModel:
        """The feature's model; an empty one without answers."""
        return self.models.get(key) or FeatureModel()

    def trust(self, author: str) -> AuthorBelief:
        """The belief about an author."""
        return self.trusts.get(author, trust.NEW)

    def knowing(self, keys: Collection[str]) -> "EchoState":
        """A copy that has these features too; other threads may be reading this state."""
        if all(key in self.places for key in keys):
            return self
        grown = replace(
            self,
            features=list(self.features),
            relevance=replace(self.relevance),
            uncertainty=replace(self.uncertainty),
        )
        for key in keys:
            grown.index(key)
        return grown


def signs_of(state: EchoState, key: str, prediction: Prediction) -> Floats:
    """The signs of a known feature's prediction, (signs,): see ``uncertainty.SIGNS``."""
    parts = prediction.probability, prediction.margin, prediction.disagreement
    return prediction_signs(state.uncertainty, state.places[key], *parts)


def pooled_prior(states: Iterable[EchoState], key: str) -> float:
    """The prior of a feature, -1 to 1, from what other sites have learnt about it; 0 if nothing.

    A hierarchical prior: the mean of the evidence of sites that have some, their log-odds less
    those that they began with, shrunk to none as if one more site had none. Priors themselves are
    no evidence.
    """
    known = [(state.relevance, state.places[key]) for state in states if key in state.places]
    learnt = [float(beliefs.odds[place] - beliefs.prior_odds[place]) for beliefs, place in known]
    # A changed prior may leave the rounding error of a sum.
    evidence = [odds for odds in learnt if abs(odds) > 1e-9]
    return max(-1.0, min(1.0, sum(evidence) / (len(evidence) + 1) / _MOST_PRIOR))


def learn(state: EchoState, lesson: Lesson) -> None:
    """Learn from one event, in place; the result depends on ``state`` and ``lesson`` only."""
    match lesson:
        case Answered():
            if lesson.trusted:
                _learn_answer(state, lesson)
        case Rewarded() | Named():
            if lesson.trusted and lesson.shown:
                _learn_from_offer(state, lesson)
        case Expected():
            place = state.index(lesson.feature)
            prior = PRIOR_ODDS + _MOST_PRIOR * max(-1.0, min(1.0, lesson.prior))
            state.relevance.odds[place] += prior - state.relevance.prior_odds[place]
            state.relevance.prior_odds[place] = prior


def _learn_answer(state: EchoState, answer: Answered) -> None:
    place, signs = state.index(answer.feature), np.array(answer.signs)
    weight = state.trust(answer.author).answer_weight
    if answer.value:
        weight = trust_answer(
            state,
            answer.author,
            sigma=float(sigma(state.uncertainty, signs)),
            matched=answer.loss < 0.5,
            values=len(answer.values),
        )
    if not weight:
        return
    if answer.value:
        teach(
            state.models.setdefault(answer.feature, FeatureModel()),
            answer.vector,
            answer.value,
            answer.values,
            answer.llm_value,
            llm_shares=answer.llm_shares,
            weight=weight,
        )
    learn_mismatch(state.uncertainty, place, signs, answer.loss, weight)


def trust_answer(
    state: EchoState, author: str, *, sigma: float, matched: bool, values: int
) -> float:
    """Learn about an author from one answer, see :func:`.trust.answered`; returns its weight."""
    known = trust.answered(state.trust(author), sigma=sigma, matched=matched, values=values)
    state.trusts[author] = known
    return known.answer_weight


def learn_reward(
    state: EchoState, author: str, shown: Ints, right: Floats, *, value: float, signal: str
) -> None:
    """Learn from a reward of an author; the arguments are those of :func:`.relevance.reward`."""
    known = state.trust(author)
    if signal == CLICK:
        chance = expected_success(state.relevance, shown, right, CLICK)
        known = state.trusts[author] = trust.offered(known, chance=chance, value=value)
    if weight := known.click_weight:
        reward(state.relevance, shown, right, value, signal, weight=weight)


def learn_name(
    state: EchoState, author: str, shown: Ints, right: Floats, named: int | None
) -> None:
    """Learn what an author named; the arguments are those of :func:`.relevance.learn_named`."""
    if weight := state.trust(author).click_weight:
        learn_named(state.relevance, shown, right, named, weight=weight)


def _learn_from_offer(state: EchoState, lesson: Rewarded | Named) -> None:
    author, keys = lesson.author, [key for key, _ in lesson.shown]
    shown = np.array([state.index(key) for key in keys])
    right = np.array([chance for _, chance in lesson.shown])
    if isinstance(lesson, Named):
        learn_name(state, author, shown, right, keys.index(lesson.named) if lesson.named else None)
        return
    learn_reward(state, author, shown, right, value=lesson.value, signal=lesson.signal)
    if lesson.dismissed is not None:
        value = float(lesson.dismissed)
        learn_reward(state, author, shown, right, value=value, signal=DISMISSED)


#: Raise it if later code cannot read packed states, or makes other states from the same log; its
#: migration must also increase ``erased``, so that states are made again.
FORMAT = 2
_LENGTH, _TRUST = struct.Struct("<I"), struct.Struct("<5d")
_TYPES = {"d": "<f8", "i": "<i4"}


def pack_selector(state: EchoState) -> bytes:
    """A state without its models and trusts, as bytes."""
    return _pack(features=state.features, **_parts(state.relevance), **_parts(state.uncertainty))


def unpack_selector(packed: bytes) -> EchoState:
    """The state that :func:`pack_selector` packed, without models and trusts.

    Raises:
        InvalidInput: another version packed it, or it is damaged.
    """
    stored = _unpack(packed)
    stored["signals"] = {kind: Signal(*known) for kind, known in stored["signals"].items()}
    return EchoState(stored["features"], _made(Relevance, stored), _made(Uncertainty, stored))


def pack_model(model: FeatureModel) -> bytes:
    """One feature's model, as bytes."""
    return _pack(**_parts(model))


def unpack_model(packed: bytes) -> FeatureModel:
    """The model that :func:`pack_model` packed; raises as :func:`unpack_selector`."""
    return _made(FeatureModel, _unpack(packed))


def digest(state: EchoState) -> str:
    """SHA-256 of a whole state in hexadecimal digits: equal for equal states, to the last bit."""
    parts = [pack_selector(state)]
    for key in sorted(state.models):
        parts += [json.dumps(["model", key]).encode(), pack_model(state.models[key])]
    for author in sorted(state.trusts):
        parts += [json.dumps(["trust", author]).encode(), _TRUST.pack(*state.trusts[author])]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _parts(record: Any) -> dict[str, Any]:
    return {part.name: getattr(record, part.name) for part in fields(record)}


def _made(kind: type[Record], stored: Mapping[str, Any]) -> Record:
    return kind(**{part.name: stored[part.name] for part in fields(kind)})


def _pack(**parts: Any) -> bytes:
    """A header with what is JSON and the shapes of the arrays, and the arrays."""
    arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    plain = {name: part for name, part in parts.items() if name not in arrays}
    shapes = {name: [array.dtype.char, *array.shape] for name, array in arrays.items()}
    head = json.dumps([FORMAT, plain, shapes], sort_keys=True).encode()
    # In the order of their names, as in the header.
    packed = [arrays[name].astype(_TYPES[shapes[name][0]]).tobytes() for name in sorted(arrays)]
    return b"".join([_LENGTH.pack(len(head)), head, *packed])


def _unpack(packed: bytes) -> dict[str, Any]:
    try:
        (length,) = _LENGTH.unpack_from(packed)
        offset = _LENGTH.size + length
        version, stored, shapes = json.loads(packed[_LENGTH.size : offset])
        if version != FORMAT:
            raise InvalidInput("Another version wrote this state; it is made again.")
        for name, (kind, *shape) in shapes.items():
            count = int(np.prod(shape))
            flat = np.frombuffer(packed, _TYPES[kind], count, offset)
            stored[name] = flat.reshape(shape).astype(kind)
            offset += flat.nbytes
        if offset != len(packed):
            raise InvalidInput("This state cannot be read: it has the wrong length.")
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"This state cannot be read: {error}.") from None
    return dict(stored)
