"""What Echo knows of each feature: how much it matters, how far its predictions are believed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from apps.authors.models import Feature
from apps.echo.models import Echo
from labelhub.core.echo.credible import relevance_bounds
from labelhub.core.echo.packing import unpack_selector
from labelhub.core.echo.state import EchoState

#: Selections whose predictions say how uncertain a feature is now.
LATEST = 100


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of one feature.

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


def known_of(echo: Echo, features: Sequence[Feature]) -> Iterator[Knowledge]:
    """What is known of each of the ``features``, in their order; two queries whatever they are."""
    state = unpack_selector(bytes(echo.state)) if echo.state else EchoState()
    for feature in features:
        state.index(feature.key)  # of a new one what is believed before anything was learnt
    relevance, doubt = state.relevance, state.uncertainty
    expected, matters = relevance.expected, relevance.matters
    low, high = relevance_bounds(relevance)
    sigmas = _latest_sigmas(echo)
    for feature in features:
        at = state.places[feature.key]
        answers = float(doubt.answers[at])
        yield Knowledge(
            feature=feature,
            relevance=float(expected[at]),
            low=float(low[at]),
            high=float(high[at]),
            matters=float(matters[at]),
            uncertainty=sigmas.get(feature.key),
            answers=answers,
            accuracy=1 - float(doubt.mismatches[at]) if answers else None,
        )


def _latest_sigmas(echo: Echo) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for predicted in echo.selections.values_list("predicted", flat=True)[:LATEST]:
        for key, told in predicted.items():
            found.setdefault(key, []).append(told["sigma"])
    return {key: float(np.mean(each)) for key, each in found.items()}
