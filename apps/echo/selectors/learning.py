"""What a site's Echo has learnt about its features, and the state of learning.

Events that happened while learning was frozen, and withdrawn ones, are logged and not learnt.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.authors.models import Feature, Site
from apps.echo.models import Echo, LogEvent
from apps.echo.states import readable_selector
from labelhub.core.echo.relevance import click_gains, relevance_bounds
from labelhub.core.echo.state import EchoState
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


#: The newest selections, whose predictions give the present uncertainty of a feature; and the
#: newest rewards that count.
LATEST, MOST_REWARDS = 100, 1_000
_KIND = LogEvent.Kind


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """What Echo has learnt about one feature.

    prior: the owner's, -1 to 1. relevance, low, high: expected gain in the log-odds of success from
    a right prediction, with its 95 % interval. gain, gain_low, gain_high: the same as a change of
    the probability of a click. matters: probability that the relevance is positive.
    uncertainty: mean predicted probability that its latest predictions are wrong; None without
    predictions. answers: the learnt answers, each by its weight. accuracy: running share of answers
    that matched the prediction before learning, over about the last forty; None without answers.
    """

    key: str
    name: str
    active: bool
    prior: float | None
    relevance: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float
    matters: float
    uncertainty: float | None
    answers: float
    accuracy: float | None


def feature_summaries(echo: Echo, rows: Iterable[Feature]) -> list[FeatureSummary]:
    """A summary of each feature, in order; at most two queries."""
    features = list(rows)
    state = readable_selector(echo) or EchoState()
    # A new feature starts from the prior.
    places = [state.index(feature.key) for feature in features]
    relevance, doubt = state.relevance, state.uncertainty
    low, high = relevance_bounds(relevance)
    gain, gain_low, gain_high = click_gains(relevance, np.stack([relevance.expected, low, high]))
    sigmas: dict[str, list[float]] = {}
    for predicted in echo.selections.values_list("predicted", flat=True)[:LATEST]:
        for key, prediction in predicted.items():
            sigmas.setdefault(key, []).append(prediction["sigma"])
    return [
        FeatureSummary(
            key=feature.key,
            name=feature.definition.get("name") or feature.key,
            active=feature.active,
            prior=feature.definition.get("prior"),
            relevance=float(relevance.expected[place]),
            low=float(low[place]),
            high=float(high[place]),
            gain=float(gain[place]),
            gain_low=float(gain_low[place]),
            gain_high=float(gain_high[place]),
            matters=float(relevance.matters[place]),
            uncertainty=float(np.mean(sigmas[feature.key])) if feature.key in sigmas else None,
            answers=float(doubt.answers[place]),
            accuracy=1 - float(doubt.mismatches[place]) if doubt.answers[place] else None,
        )
        for feature, place in zip(features, places, strict=True)
    ]


def ranked_features(echo: Echo, words: str = "") -> list[FeatureSummary]:
    """The site's features with these words in key or name: active ones first, then by relevance,
    then by number of answers."""
    sought = words.casefold()
    found = [
        feature
        for feature in feature_summaries(echo, echo.site.features.order_by())
        if sought in f"{feature.key} {feature.name}".casefold()
    ]
    return sorted(
        found,
        key=lambda feature: (
            not feature.active, -feature.relevance, -feature.answers, feature.key,
        ),
    )  # fmt: skip


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


def status_of(echo: Echo) -> EchoStatus:
    """The state of learning, in five queries."""
    logged, learnt = (
        rows.aggregate(
            answers=Count("pk", filter=Q(kind=_KIND.ANSWERED)),
            rewards=Count("pk", filter=Q(kind=_KIND.REWARDED)),
        )
        for rows in (echo.log, counted_events(echo, echo.learnt))
    )
    freezes, until = _freezes(echo), echo.log.filter(number__lte=echo.learnt)
    return EchoStatus(
        frozen=bool(freezes and freezes[-1][1]),
        lag=echo.logged - echo.learnt,
        learnt_at=until.order_by("number").values_list("at", flat=True).last(),
        answers=learnt["answers"],
        answers_logged=logged["answers"],
        rewards=learnt["rewards"],
        rewards_logged=logged["rewards"],
    )


def counted_events(echo: Echo, until: int) -> QuerySet[LogEvent]:
    """The events up to a number that are learnt from: not withdrawn, or restored since, and not
    from a time when learning was frozen."""
    withdrawn = withdrawals(until).filter(echo=echo).values("about")
    log = echo.log.filter(number__lte=until)
    counted = log.exclude(kind__in=LogEvent.CONTROLS).exclude(ref__in=withdrawn)
    for (start, frozen), (end, _) in pairwise([*_freezes(echo), (until + 1, False)]):
        if frozen:
            counted = counted.exclude(number__range=(start, end))
    return counted


def withdrawals(until: int | None = None) -> QuerySet[LogEvent]:
    """Withdrawals of all sites that were not restored, by the events up to a number."""
    log = LogEvent.objects.order_by()
    log = log if until is None else log.filter(number__lte=until)
    later = log.filter(
        echo=OuterRef("echo"), about=OuterRef("about"), number__gt=OuterRef("number")
    )
    return log.filter(~Exists(later), kind=_KIND.WITHDRAWN)


def _freezes(echo: Echo) -> list[tuple[int, bool]]:
    """The numbers of the freezes and thaws in order, without damaged ones."""
    rows = echo.log.filter(kind=_KIND.FROZEN).order_by("number").values_list("number", "data")
    return [(number, data["on"]) for number, data in rows if isinstance(data.get("on"), bool)]


def offer_results_of(echo: Echo) -> dict[str, Any]:
    """Results of the newest :data:`MOST_REWARDS` rewards: the numbers of ``offers``, ``clicked``,
    ``rated`` and ``helpful`` ones, and the times ``since`` and ``until``."""
    rewards = echo.log.filter(kind=_KIND.REWARDED).order_by("-number")
    newest = list(rewards.values_list("ref", "data__value", "at")[:MOST_REWARDS])
    offers = [
        (value, rewarded_at) for ref, value, rewarded_at in newest if ref.startswith("reward-")
    ]
    ratings = [value for ref, value, _ in newest if ref.startswith("helpful-")]
    return {
        "offers": len(offers),
        "clicked": sum(value >= 0.5 for value, _ in offers),
        "rated": len(ratings),
        "helpful": sum(value >= 0.5 for value in ratings),
        "since": min((rewarded_at for _, rewarded_at in offers), default=None),
        "until": max((rewarded_at for _, rewarded_at in offers), default=None),
    }


def mark_of(echo: Echo) -> str:
    """A mark that changes with the changing parts of the page; one query."""
    newest = echo.selections.order_by("-pk").values_list("pk", flat=True).first()
    shown = (echo.on, echo.logged, echo.learnt, echo.era, echo.k, newest)
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]
