"""What a site's Echo has learnt, feature by feature, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from apps.authors.models import Feature
from apps.echo.models import Echo
from apps.echo.selectors.scored import Tally, curves, whole
from labelhub.core.echo.credible import relevance_bounds
from labelhub.core.echo.models import PARTS, FeatureModel, part_weights
from labelhub.core.echo.packing import unpack_model, unpack_selector
from labelhub.core.echo.state import EchoState


@dataclass(frozen=True, slots=True)
class Ranked:
    """A feature and how much being right about it adds to the log-odds of success."""

    key: str
    name: str
    active: bool
    relevance: float


@dataclass(frozen=True, slots=True)
class Learnt:
    """What has been learnt about one feature.

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
class Inside:
    """A feature's model: how much each of its parts counts, and what authors answered how often."""

    weights: Mapping[str, float] = field(default_factory=dict)
    counts: Sequence[tuple[str, float]] = ()
    words: int = 0


def selector_of(echo: Echo) -> EchoState:
    """What has been learnt, without the models, with a place for each of the site's features."""
    state = unpack_selector(bytes(echo.state)) if echo.state else EchoState()
    for key in echo.site.features.values_list("key", flat=True):
        state.index(key)
    return state


def ranked_features(echo: Echo, state: EchoState, words: str = "") -> list[Ranked]:
    """The site's features by relevance, those that are asked about first; of
    equals the one with more answers."""
    told = echo.site.features.values_list("key", "definition__name", "active")
    expected, sought = state.relevance.expected, words.casefold()
    answers = state.uncertainty.answers
    found = [
        Ranked(key, name or key, active, float(expected[state.places[key]]))
        for key, name, active in told
        if sought in f"{key} {name}".casefold()
    ]

    def order(each: Ranked) -> tuple[bool, float, float, str]:
        return not each.active, -each.relevance, -answers[state.places[each.key]], each.key

    return sorted(found, key=order)


def learnt_about(echo: Echo, state: EchoState, features: Sequence[Ranked]) -> list[Learnt]:
    """What has been learnt about these, in their order; two queries for any number."""
    keys = [each.key for each in features]
    tallies = curves(echo, keys)
    rows = Feature.objects.filter(site=echo.site_id, key__in=keys)
    priors = dict(rows.values_list("key", "definition__prior"))
    low, high = relevance_bounds(state.relevance)
    found = []
    for each in features:
        at, own = state.places[each.key], tallies.get(each.key, [])
        bounds = float(low[at]), float(high[at])
        found.append(_learnt(each, bounds, own, priors.get(each.key)))
    return found


def inside(echo: Echo, key: str) -> Inside:
    """What is in a feature's model; empty where nobody has answered about it."""
    row = echo.models.filter(feature=key).first()
    if row is None:
        return Inside()
    model = unpack_model(bytes(row.packed))
    weights = part_weights(model)
    return Inside(
        {name: weights[name] for name in _heard(model)}, _counts(model), len(model.places)
    )


def _heard(model: FeatureModel) -> Sequence[str]:
    """The parts that have spoken: a language model only where one was asked."""
    return [name for name in PARTS if name != "llm" or model.llm_asked]


def _counts(model: FeatureModel) -> list[tuple[str, float]]:
    pairs = zip(model.values, model.counts.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def _learnt(
    feature: Ranked, bounds: tuple[float, float], tallies: Sequence[Tally], prior: float | None
) -> Learnt:
    low, high = bounds
    return Learnt(
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
