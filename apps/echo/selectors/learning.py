"""What a site's Echo has learnt: summaries for REST (:func:`summaries_of`), histories for pages
(:func:`histories_of`), and the state of learning.

Events that happened while learning was frozen, and withdrawn ones, are logged and not learnt.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.authors.models import Feature, Site
from apps.echo.models import Echo, LogEvent
from apps.echo.selectors.predictions import Tally, tallies_by_feature, total_tally
from apps.echo.selectors.prompt_searches import searches_mark
from labelhub.core.echo.models import PARTS, part_weights
from labelhub.core.echo.relevance import relevance_bounds
from labelhub.core.echo.state import EchoState, unpack_model, unpack_selector
from labelhub.core.errors import Conflict


def echo_of(site: Site) -> Echo | None:
    """The site's Echo, on or off; None if it was never on."""
    echo = Echo.objects.filter(site=site).first()
    if echo is not None:
        echo.site = site
    return echo


def get_echo(site: Site) -> Echo:
    """The site's Echo.

    Raises:
        Conflict: Echo was never on at this site.
    """
    echo = echo_of(site)
    if echo is None:
        raise Conflict("Echo was never on at this site; a manager can switch it on.")
    return echo


def echo_or_default(site: Site) -> Echo:
    """The site's Echo, or an unsaved one that is off."""
    return echo_of(site) or Echo(site=site, on=False)


#: The newest selections, whose predictions give the present uncertainty of a feature.
LATEST = 100


@dataclass(frozen=True, slots=True)
class RankedFeature:
    """A feature and its relevance: the gain in log-odds of success from a right prediction."""

    key: str
    name: str
    active: bool
    relevance: float


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """What Echo has learnt about one feature, without its history.

    relevance, low, high: expected gain in the log-odds of success from a right prediction, with its
    95 % interval. matters: probability that the relevance is positive. uncertainty: mean predicted
    probability that its latest predictions are wrong; None without predictions. answers: the
    learnt answers, each by its weight. accuracy: running share of answers that matched the
    prediction before learning, over about the last forty; None without answers.
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
    """What Echo has learnt about one feature, with its answers over time.

    low, high: 95 % interval of its relevance. prior: the site's prior, -1 to 1. tallies: its
    answers over time; all: their total, None without answers.
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
        """The mean σ before an answer."""
        return self.all.sigma / self.all.n if self.all else None


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A feature's model: the weight of each part, the count of each answer, known word parts."""

    weights: Mapping[str, float] = field(default_factory=dict)
    counts: Sequence[tuple[str, float]] = ()
    words: int = 0


def selector_of(echo: Echo) -> EchoState:
    """The learnt state without models, with a place for each of the site's features."""
    return _selector(echo, echo.site.features.values_list("key", flat=True))


def summaries_of(echo: Echo, features: Sequence[Feature]) -> Iterator[FeatureSummary]:
    """A summary of each feature, in order; a constant number of queries."""
    state = _selector(echo, [feature.key for feature in features])
    relevance, doubt = state.relevance, state.uncertainty
    expected, matters = relevance.expected, relevance.matters
    low, high = relevance_bounds(relevance)
    sigmas: dict[str, list[float]] = {}
    for predicted in echo.selections.values_list("predicted", flat=True)[:LATEST]:
        for key, prediction in predicted.items():
            sigmas.setdefault(key, []).append(prediction["sigma"])
    for feature in features:
        place = state.places[feature.key]
        answers = float(doubt.answers[place])
        yield FeatureSummary(
            feature=feature,
            relevance=float(expected[place]),
            low=float(low[place]),
            high=float(high[place]),
            matters=float(matters[place]),
            uncertainty=float(np.mean(sigmas[feature.key])) if feature.key in sigmas else None,
            answers=answers,
            accuracy=1 - float(doubt.mismatches[place]) if answers else None,
        )


def ranked_features(echo: Echo, state: EchoState, words: str = "") -> list[RankedFeature]:
    """The site's features: active ones first, then by relevance, then by number of answers."""
    rows = echo.site.features.values_list("key", "definition__name", "active")
    expected, sought = state.relevance.expected, words.casefold()
    answers = state.uncertainty.answers
    found = [
        RankedFeature(key, name or key, active, float(expected[state.places[key]]))
        for key, name, active in rows
        if sought in f"{key} {name}".casefold()
    ]

    def order(feature: RankedFeature) -> tuple[bool, float, float, str]:
        return (
            not feature.active,
            -feature.relevance,
            -answers[state.places[feature.key]],
            feature.key,
        )

    return sorted(found, key=order)


def histories_of(
    echo: Echo, state: EchoState, features: Sequence[RankedFeature]
) -> list[FeatureHistory]:
    """A history of each feature, in order; two queries for any number."""
    keys = [feature.key for feature in features]
    tallies = tallies_by_feature(echo, keys)
    rows = Feature.objects.filter(site=echo.site_id, key__in=keys)
    priors = dict(rows.values_list("key", "definition__prior"))
    low, high = relevance_bounds(state.relevance)
    found = []
    for feature in features:
        place, own = state.places[feature.key], tallies.get(feature.key, [])
        found.append(
            FeatureHistory(
                key=feature.key,
                name=feature.name,
                active=feature.active,
                relevance=feature.relevance,
                low=float(low[place]),
                high=float(high[place]),
                prior=float(priors.get(feature.key) or 0.0),
                tallies=own,
                all=total_tally(own) if own else None,
            )
        )
    return found


def model_summary(echo: Echo, key: str) -> ModelSummary:
    """A summary of a feature's model; empty without answers about it."""
    row = echo.models.filter(feature=key).first()
    if row is None:
        return ModelSummary()
    model = unpack_model(bytes(row.packed))
    weights = part_weights(model)
    pairs = zip(model.values, model.counts.tolist(), strict=True)
    return ModelSummary(
        {name: weights[name] for name in PARTS if name != "llm" or model.llm_asked},
        sorted(pairs, key=lambda pair: -pair[1]),
        len(model.places),
    )


def _selector(echo: Echo, keys: Iterable[str]) -> EchoState:
    state = unpack_selector(bytes(echo.state)) if echo.state else EchoState()
    for key in keys:
        state.index(key)  # a new feature starts from the prior
    return state


_KIND = LogEvent.Kind
#: The newest rewards that count.
MOST_REWARDS = 1_000


@dataclass(frozen=True, slots=True)
class EchoStatus:
    """The state of learning.

    lag: events that are not processed yet. learnt_at: time of the newest processed event.
    answers, rewards: learnt ones that still count; ``…_logged``: all in the log.
    """

    frozen: bool
    lag: int
    learnt_at: datetime | None
    answers: int
    answers_logged: int
    rewards: int
    rewards_logged: int


@dataclass(frozen=True, slots=True)
class OfferResults:
    """Results of the newest offers.

    rated: offers that authors rated; helpful: those rated helpful. since, until: times of the
    first and the last reward.
    """

    offers: int = 0
    clicked: int = 0
    rated: int = 0
    helpful: int = 0
    since: datetime | None = None
    until: datetime | None = None


def status_of(echo: Echo) -> EchoStatus:
    """The state of learning, in five queries."""
    log = echo.log.order_by("number")
    freezes = [
        (number, data["on"])
        for number, data in log.filter(kind=_KIND.FROZEN).values_list("number", "data")
        if "on" in data  # otherwise the event is damaged
    ]
    learnt = echo.log.filter(_outside(freezes), number__lte=echo.learnt)
    logged, all_learnt = _counts(echo.log.all()), _counts(learnt)
    later = echo.log.filter(about=OuterRef("about"), number__gt=OuterRef("number"))
    withdrawn = _counts(
        learnt.filter(ref__in=echo.log.filter(~Exists(later), kind=_KIND.WITHDRAWN).values("about"))
    )
    return EchoStatus(
        frozen=bool(freezes and freezes[-1][1]),
        lag=echo.logged - echo.learnt,
        learnt_at=log.filter(number__lte=echo.learnt).values_list("at", flat=True).last(),
        answers=all_learnt["answers"] - withdrawn["answers"],
        answers_logged=logged["answers"],
        rewards=all_learnt["rewards"] - withdrawn["rewards"],
        rewards_logged=logged["rewards"],
    )


def offer_results_of(echo: Echo) -> OfferResults:
    """The results of the newest :data:`MOST_REWARDS` rewards."""
    rewards = echo.log.filter(kind=_KIND.REWARDED).order_by("-number")
    newest = list(rewards.values_list("ref", "data__value", "at")[:MOST_REWARDS])
    offers = [value for ref, value, _ in newest if ref.startswith("reward-")]
    ratings = [value for ref, value, _ in newest if ref.startswith("helpful-")]
    moments = [rewarded_at for ref, _, rewarded_at in newest if ref.startswith("reward-")]
    span = (min(moments), max(moments)) if moments else (None, None)
    return OfferResults(len(offers), _successes(offers), len(ratings), _successes(ratings), *span)


def mark_of(echo: Echo) -> str:
    """A mark that changes with the changing parts of the page; two queries."""
    newest = echo.selections.order_by("-pk").values_list("pk", flat=True).first()
    searched = sorted(searches_mark(echo).items())
    shown = (echo.on, echo.logged, echo.learnt, echo.era, echo.k, newest, searched)
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def _outside(freezes: list[tuple[int, bool]]) -> Q:
    """A filter for events that happened while learning was not frozen."""
    found = Q()
    for (start, frozen), (end, _) in pairwise([*freezes, (None, False)]):
        if frozen:
            within = Q(number__gt=start) if end is None else Q(number__range=(start, end))
            found &= ~within
    return found


def _counts(rows: QuerySet[LogEvent]) -> dict[str, int]:
    return rows.aggregate(
        answers=Count("pk", filter=Q(kind=_KIND.ANSWERED)),
        rewards=Count("pk", filter=Q(kind=_KIND.REWARDED)),
    )


def _successes(values: list[Any]) -> int:
    return sum(value >= 0.5 for value in values)
