"""What a site's Echo has learnt about its features, and the state of learning.

Events that happened while learning was frozen, and withdrawn ones, are logged and not learnt.
"""

import hashlib
from collections.abc import Iterable
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


def feature_summaries(echo: Echo, rows: Iterable[Feature]) -> list[dict[str, Any]]:
    """What Echo has learnt about each feature, in order, with the fields that
    ``FeatureSummarySerializer`` describes; at most two queries."""
    features = list(rows)
    state = readable_selector(echo) or EchoState()
    # A new feature starts from the prior.
    places = [state.index(feature.key) for feature in features]
    relevance, doubt = state.relevance, state.uncertainty
    low, high = relevance_bounds(relevance)
    gain, gain_low, gain_high = click_gains(relevance, np.stack([relevance.expected, low, high]))
    numbers = {
        "relevance": relevance.expected, "low": low, "high": high,
        "gain": gain, "gain_low": gain_low, "gain_high": gain_high,
        "matters": relevance.matters, "answers": doubt.answers,
    }  # fmt: skip
    sigmas: dict[str, list[float]] = {}
    for predicted in echo.selections.values_list("predicted", flat=True)[:LATEST]:
        for key, prediction in predicted.items():
            sigmas.setdefault(key, []).append(prediction["sigma"])
    return [
        {
            "key": feature.key,
            "name": feature.definition.get("name") or feature.key,
            "active": feature.active,
            "prior": feature.definition.get("prior"),
            "uncertainty": float(np.mean(sigmas[feature.key])) if feature.key in sigmas else None,
            "accuracy": 1 - float(doubt.mismatches[place]) if doubt.answers[place] else None,
        }
        | {name: float(values[place]) for name, values in numbers.items()}
        for feature, place in zip(features, places, strict=True)
    ]


def ranked_features(echo: Echo, words: str = "") -> list[dict[str, Any]]:
    """The site's features with these words in key or name: active ones first, then by relevance,
    then by number of answers."""
    found = [
        feature
        for feature in feature_summaries(echo, echo.site.features.order_by())
        if words.casefold() in "{key} {name}".format_map(feature).casefold()
    ]
    return sorted(
        found, key=lambda row: (not row["active"], -row["relevance"], -row["answers"], row["key"])
    )


def status_of(echo: Echo) -> dict[str, Any]:
    """The state of learning, in five queries.

    ``lag``: events that are not processed yet. ``learnt_at``: time of the newest processed event.
    ``answers``, ``rewards``: learnt ones that still count; ``…_logged``: all in the log.
    """
    logged, learnt = (
        rows.aggregate(
            answers=Count("pk", filter=Q(kind=_KIND.ANSWERED)),
            rewards=Count("pk", filter=Q(kind=_KIND.REWARDED)),
        )
        for rows in (echo.log, counted_events(echo, echo.learnt))
    )
    until = echo.log.filter(number__lte=echo.learnt).order_by("number")
    return learnt | {
        "frozen": is_frozen(echo),
        "lag": echo.logged - echo.learnt,
        "learnt_at": until.values_list("at", flat=True).last(),
        "answers_logged": logged["answers"],
        "rewards_logged": logged["rewards"],
    }


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


def is_frozen(echo: Echo) -> bool:
    """Whether learning is frozen."""
    freezes = _freezes(echo)
    return bool(freezes) and freezes[-1][1]


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
