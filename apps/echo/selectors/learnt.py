"""What a site's Echo has learnt of each feature, from its stored state: in short, as REST tells it
(:func:`summaries_of`), and with its answers over time, as pages show it (:func:`histories_of`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from apps.authors.models import Feature
from apps.echo.models import Echo
from apps.echo.selectors.scored import Tally, curves, whole
from labelhub.core.echo.models import PARTS, FeatureModel, part_weights
from labelhub.core.echo.relevance import relevance_bounds
from labelhub.core.echo.snapshot import unpack_model, unpack_selector
from labelhub.core.echo.state import EchoState

#: Selections whose predictions say how uncertain a feature is now.
LATEST = 100


@dataclass(frozen=True, slots=True)
class RankedFeature:
    """A feature and how much being right about it adds to the log-odds of success."""

    key: str
    name: str
    active: bool
    relevance: float


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """What has been learnt about one feature, in short.

    relevance, low, high: what being right about it is expected to add to the log-odds of success
    downstream, with the bounds that hold 95 % of the belief. matters: chance that it adds
    anything. uncertainty: mean chance that its latest predictions were wrong; None where it has
    none. answers: learnt from, each as far as it counted. accuracy: running share of answers that
    matched what was expected before they were learnt from, over the last forty or so; None without
    any.
    """

    feature: Feature
    relevance: float
    low: float
    high: float
    matters: float
    uncertainty: float | None
    answers: float
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class FeatureHistory:
    """What has been learnt about one feature, with its answers over time.

    low, high: 95 % interval of its relevance. prior: the owner's expectation, -1 to 1. tallies:
    its answers over time; all: together, None without answers.
    """

    key: str
    name: str
    active: bool
    relevance: float
    low: float
    high: float
    prior: float
    tallies: Sequence[Tally] = ()
    all: Tally | None = None

    @property
    def sigma(self) -> float | None:
        """The mean σ that was told before an answer."""
        return self.all.sigma / self.all.n if self.all else None


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A feature's model: how much each of its parts counts, and what authors answered how often."""

    weights: Mapping[str, float] = field(default_factory=dict)
    counts: Sequence[tuple[str, float]] = ()
    words: int = 0


def selector_of(echo: Echo) -> EchoState:
    """What has been learnt, without the models, with a place for each of the site's features."""
    return _selector(echo, echo.site.features.values_list("key", flat=True))


def summaries_of(echo: Echo, features: Sequence[Feature]) -> Iterator[FeatureSummary]:
    """In short, for each of the features, in their order; one query for any number."""
    state = _selector(echo, [each.key for each in features])
    relevance, doubt = state.relevance, state.uncertainty
    expected, matters = relevance.expected, relevance.matters
    low, high = relevance_bounds(relevance)
    sigmas = _latest_sigmas(echo)
    for feature in features:
        at = state.places[feature.key]
        answers = float(doubt.answers[at])
        yield FeatureSummary(
            feature=feature,
            relevance=float(expected[at]),
            low=float(low[at]),
            high=float(high[at]),
            matters=float(matters[at]),
            uncertainty=sigmas.get(feature.key),
            answers=answers,
            accuracy=1 - float(doubt.mismatches[at]) if answers else None,
        )


def ranked_features(echo: Echo, state: EchoState, words: str = "") -> list[RankedFeature]:
    """The site's features by relevance, those that are asked about first; of
    equals the one with more answers."""
    told = echo.site.features.values_list("key", "definition__name", "active")
    expected, sought = state.relevance.expected, words.casefold()
    answers = state.uncertainty.answers
    found = [
        RankedFeature(key, name or key, active, float(expected[state.places[key]]))
        for key, name, active in told
        if sought in f"{key} {name}".casefold()
    ]

    def order(each: RankedFeature) -> tuple[bool, float, float, str]:
        return not each.active, -each.relevance, -answers[state.places[each.key]], each.key

    return sorted(found, key=order)


def histories_of(
    echo: Echo, state: EchoState, features: Sequence[RankedFeature]
) -> list[FeatureHistory]:
    """With their answers over time, in their order; two queries for any number."""
    keys = [each.key for each in features]
    tallies = curves(echo, keys)
    rows = Feature.objects.filter(site=echo.site_id, key__in=keys)
    priors = dict(rows.values_list("key", "definition__prior"))
    low, high = relevance_bounds(state.relevance)
    found = []
    for each in features:
        at, own = state.places[each.key], tallies.get(each.key, [])
        bounds = float(low[at]), float(high[at])
        found.append(_history(each, bounds, own, priors.get(each.key)))
    return found


def model_summary(echo: Echo, key: str) -> ModelSummary:
    """What is in a feature's model; empty where nobody has answered about it."""
    row = echo.models.filter(feature=key).first()
    if row is None:
        return ModelSummary()
    model = unpack_model(bytes(row.packed))
    weights = part_weights(model)
    return ModelSummary(
        {name: weights[name] for name in _heard(model)}, _counts(model), len(model.places)
    )


def _selector(echo: Echo, keys: Iterable[str]) -> EchoState:
    state = unpack_selector(bytes(echo.state)) if echo.state else EchoState()
    for key in keys:
        state.index(key)  # of a new one what is believed before anything was learnt
    return state


def _latest_sigmas(echo: Echo) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for predicted in echo.selections.values_list("predicted", flat=True)[:LATEST]:
        for key, told in predicted.items():
            found.setdefault(key, []).append(told["sigma"])
    return {key: float(np.mean(each)) for key, each in found.items()}


def _heard(model: FeatureModel) -> Sequence[str]:
    """The parts that have spoken: a language model only where one was asked."""
    return [name for name in PARTS if name != "llm" or model.llm_asked]


def _counts(model: FeatureModel) -> list[tuple[str, float]]:
    pairs = zip(model.values, model.counts.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def _history(
    feature: RankedFeature,
    bounds: tuple[float, float],
    tallies: Sequence[Tally],
    prior: float | None,
) -> FeatureHistory:
    low, high = bounds
    return FeatureHistory(
        key=feature.key,
        name=feature.name,
        active=feature.active,
        relevance=feature.relevance,
        low=low,
        high=high,
        prior=float(prior or 0.0),
        tallies=tallies,
        all=whole(tallies) if tallies else None,
    )
