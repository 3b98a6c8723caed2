"""The state of Echo at a site: a function of its log, bit for bit.

Author labels go to their own feature's model and to the uncertainty, rewards to relevance; no event
goes to both (paper 004, section 3.4). Events of authors whom the site does not trust, or whose
answers or clicks look random, are in the log but not learnt from.
"""

import hashlib
import json
import math
import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo import trust
from labelhub.core.echo.events import CLICK, DISMISSED, Answered, Expected, Rewarded
from labelhub.core.echo.models import FeatureModel, OnlineClassifier, Prediction, teach
from labelhub.core.echo.relevance import (
    PRIOR_MATTERS,
    PRIOR_VARIANCE,
    PRIOR_WEIGHT,
    Relevance,
    Signal,
    expected_success,
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
Lesson: TypeAlias = Answered | Rewarded | Expected

_USUAL_ODDS = math.log(PRIOR_MATTERS / (1 - PRIOR_MATTERS))
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
            self._grow(key)
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

    def _grow(self, key: str) -> None:
        self.places[key] = len(self.features)
        self.features.append(key)
        relevance, doubt = self.relevance, self.uncertainty
        relevance.odds = np.append(relevance.odds, _USUAL_ODDS)
        relevance.prior_odds = np.append(relevance.prior_odds, _USUAL_ODDS)
        relevance.weight = np.append(relevance.weight, PRIOR_WEIGHT)
        relevance.variance = np.append(relevance.variance, PRIOR_VARIANCE)
        doubt.mismatches = np.append(doubt.mismatches, BEGUN_RATE)
        doubt.answers = np.append(doubt.answers, 0.0)


def signs_of(state: EchoState, key: str, prediction: Prediction) -> Floats:
    """The signs of a known feature's prediction, (signs,): see ``uncertainty.SIGNS``."""
    place, doubt = state.places[key], state.uncertainty
    rows = prediction_signs(
        np.array([prediction.probability]),
        np.array([prediction.margin]),
        np.array([prediction.disagreement]),
        doubt.mismatches[[place]],
        doubt.answers[[place]],
    )
    signs: Floats = rows[0]
    return signs


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
        case Rewarded():
            if lesson.trusted and lesson.shown:
                _learn_reward(state, lesson)
        case Expected():
            place = state.index(lesson.feature)
            prior = _USUAL_ODDS + _MOST_PRIOR * max(-1.0, min(1.0, lesson.prior))
            state.relevance.odds[place] += prior - state.relevance.prior_odds[place]
            state.relevance.prior_odds[place] = prior


def _learn_answer(state: EchoState, answer: Answered) -> None:
    place, signs = state.index(answer.feature), np.array(answer.signs)
    if answer.value:
        state.trusts[answer.author] = trust.answered(
            state.trust(answer.author),
            sigma=float(sigma(state.uncertainty, signs[None, :])[0]),
            matched=answer.loss < 0.5,
            values=len(answer.values),
        )
    known = state.trust(answer.author)
    if not known.answers_teach:
        return
    weight = known.answers_weigh
    if answer.value:
        model = state.models.setdefault(answer.feature, FeatureModel())
        teach(
            model,
            answer.vector,
            answer.value,
            answer.values,
            answer.llm_value,
            llm_shares=answer.llm_shares,
            weight=weight,
        )
    learn_mismatch(state.uncertainty, place, signs, answer.loss, weight)


def _learn_reward(state: EchoState, rewarded: Rewarded) -> None:
    places = np.array([state.index(key) for key, _ in rewarded.shown])
    right = np.array([chance for _, chance in rewarded.shown])
    known = state.trust(rewarded.author)
    if rewarded.signal == CLICK:
        chance = expected_success(state.relevance, places, right, CLICK)
        known = trust.offered(known, chance=chance, value=rewarded.value)
        state.trusts[rewarded.author] = known
    if known.clicks_teach:
        weight = known.clicks_weigh
        reward(state.relevance, places, right, rewarded.value, rewarded.signal, weight=weight)
        if rewarded.dismissed is not None:
            dismissed = float(rewarded.dismissed)
            reward(state.relevance, places, right, dismissed, DISMISSED, weight=weight)


Arrays: TypeAlias = Mapping[str, NDArray[Any]]

#: Raise it if later code cannot read packed states, or makes other states from the same log; its
#: migration must also increase ``erased``, so that states are made again.
FORMAT = 2
_LENGTH, _TRUST = struct.Struct("<I"), struct.Struct("<5d")
_TYPES = {"d": "<f8", "i": "<i4"}


def pack_selector(state: EchoState) -> bytes:
    """A state without its models and trusts, as bytes."""
    relevance, doubt = state.relevance, state.uncertainty
    fields = {
        "features": state.features,
        "signals": relevance.signals,
    }
    arrays: Arrays = {
        "odds": relevance.odds,
        "weight": relevance.weight,
        "variance": relevance.variance,
        "prior_odds": relevance.prior_odds,
        "signs": doubt.weight,
        "covariance": doubt.covariance,
        "mismatches": doubt.mismatches,
        "answers": doubt.answers,
    }
    return _pack(fields, arrays)


def unpack_selector(packed: bytes) -> EchoState:
    """The state that :func:`pack_selector` packed, without models and trusts.

    Raises:
        InvalidInput: another version packed it, or it is damaged.
    """
    fields, arrays = _unpack(packed)
    return EchoState(
        features=list(fields["features"]),
        relevance=Relevance(
            odds=arrays["odds"],
            weight=arrays["weight"],
            variance=arrays["variance"],
            prior_odds=arrays["prior_odds"],
            signals={kind: Signal(*known) for kind, known in fields["signals"].items()},
        ),
        uncertainty=Uncertainty(
            weight=arrays["signs"],
            covariance=arrays["covariance"],
            mismatches=arrays["mismatches"],
            answers=arrays["answers"],
        ),
    )


def pack_model(model: FeatureModel) -> bytes:
    """One feature's model, as bytes."""
    fields = {
        "values": model.values,
        "losses": model.losses,
        "llm_right": model.llm_right,
        "llm_asked": model.llm_asked,
    }
    arrays: Arrays = {
        "counts": model.counts,
        "places": model.places,
        "mean": model.head.mean,
        "var": model.head.var,
    }
    return _pack(fields, arrays)


def unpack_model(packed: bytes) -> FeatureModel:
    """The model that :func:`pack_model` packed; raises as :func:`unpack_selector`."""
    fields, arrays = _unpack(packed)
    return FeatureModel(
        values=list(fields["values"]),
        counts=arrays["counts"],
        places=arrays["places"],
        head=OnlineClassifier(arrays["mean"], arrays["var"]),
        losses=dict(fields["losses"]),
        llm_right=fields["llm_right"],
        llm_asked=fields["llm_asked"],
    )


def digest(state: EchoState) -> str:
    """SHA-256 of a whole state in hexadecimal digits: equal for equal states, to the last bit."""
    parts = [pack_selector(state)]
    for key in sorted(state.models):
        parts += [json.dumps(["model", key]).encode(), pack_model(state.models[key])]
    for author in sorted(state.trusts):
        parts += [json.dumps(["trust", author]).encode(), _TRUST.pack(*state.trusts[author])]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _pack(fields: Mapping[str, Any], arrays: Arrays) -> bytes:
    shapes = {name: [array.dtype.char, *array.shape] for name, array in arrays.items()}
    head = json.dumps([FORMAT, fields, shapes], sort_keys=True).encode()
    # In the order of their names, as in the header.
    parts = [arrays[name].astype(_TYPES[shapes[name][0]]).tobytes() for name in sorted(arrays)]
    return b"".join([_LENGTH.pack(len(head)), head, *parts])


def _unpack(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        (length,) = _LENGTH.unpack_from(packed)
        offset = _LENGTH.size + length
        version, fields, shapes = json.loads(packed[_LENGTH.size : offset])
        if version != FORMAT:
            raise InvalidInput("Another version wrote this state; it is made again.")
        arrays = {}
        for name, (kind, *shape) in shapes.items():
            count = int(np.prod(shape))
            flat = np.frombuffer(packed, _TYPES[kind], count, offset)
            arrays[name] = flat.reshape(shape).astype(kind)
            offset += flat.nbytes
        if offset != len(packed):
            raise InvalidInput("This state cannot be read: it has the wrong length.")
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"This state cannot be read: {error}.") from None
    return fields, arrays
