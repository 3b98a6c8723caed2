"""What the page on Echo shows, part by part."""

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator

from apps.authors.models import Site
from apps.common.figures import share_words
from apps.echo.charts.learning import (
    accuracy_chart,
    reliability_chart,
    right_figure,
    rows,
    share_figure,
)
from apps.echo.models import Echo
from apps.echo.pages.instructions import instruction_parts, searching_parts
from apps.echo.selectors.choices import answers_about, choices_of
from apps.echo.selectors.learnt import (
    RankedFeature,
    histories_of,
    model_summary,
    ranked_features,
    selector_of,
)
from apps.echo.selectors.scored import (
    WINDOW,
    Tally,
    calibration_error,
    curve,
    points,
    reliability,
    whole,
)
from apps.echo.selectors.status import MOST_REWARDS, mark_of, offer_results_of, status_of
from apps.echo.values import value_words
from labelhub.core.echo.plateau import Plateau, Stretch, answers_left

PAGE_SIZE = 12
#: From which difference between doubt and what came on the page says so.
_MISLED = 0.1
PART_NAMES: Mapping[str, str] = {
    "rate": "how often authors gave each value",
    "head": "the words of the message",
    "llm": "a language model",
}


def moving_parts(echo: Echo, given: Mapping[str, str]) -> dict[str, Any]:
    """All that moves while one watches; as many queries for any number of events and features."""
    state, words = selector_of(echo), " ".join(given.get("q", "").split())[:60]
    found = ranked_features(echo, state, words)
    page = Paginator(found, PAGE_SIZE).get_page(given.get("page"))
    results = offer_results_of(echo)
    return (
        {
            "mark": mark_of(echo),
            "q": words,
            "page": page,
            "searched": bool(words) or page.paginator.num_pages > 1,
            "rows": rows(histories_of(echo, state, list(page))),
            "results": results,
            "clicks": share_figure(
                results.clicked, results.offers, "no offer has had its time yet"
            ),
            "most_rewards": MOST_REWARDS,
            "choices": choices_of(echo),
            "echo": echo,
            "status": status_of(echo),
        }
        | searching_parts(echo)
        | _curves(echo)
    )


def feature_parts(echo: Echo, feature: RankedFeature, *, manages: bool) -> dict[str, Any]:
    """One feature: its curve and calibration, what is in its model, the last answers."""
    state = selector_of(echo)
    learnt = histories_of(echo, state, [feature])
    told = model_summary(echo, feature.key)
    known = echo.site.features.get(key=feature.key).parsed
    return (
        _curves(echo, feature.key)
        | instruction_parts(echo, feature.key)
        | {
            "mark": mark_of(echo),
            "row": rows(learnt)[0],
            "weights": [
                (PART_NAMES[name], share_words(part)) for name, part in told.weights.items()
            ],
            "counts": [(value_words(known, value), round(n)) for value, n in told.counts],
            "model_words": told.words,
            "given": answers_about(echo, known) if manages else [],
        }
    )


def ranked_feature(echo: Echo, key: str) -> RankedFeature | None:
    """One of the site's features; None where there is no such."""
    found = ranked_features(echo, selector_of(echo), key)
    return next((each for each in found if each.key == key), None)


def nothing_yet(site: Site) -> dict[str, Any]:
    """Where Echo was never on: whether there is anything it could ask about."""
    return {"echo": None, "has_features": site.features.filter(active=True).exists()}


def _curves(echo: Echo, feature: str = "") -> dict[str, Any]:
    tallies, parts = curve(echo, feature), reliability(echo, feature)
    error = calibration_error(parts)
    return {
        "all": right_figure(whole(tallies) if tallies else None),
        "newest": right_figure(points(tallies)[-1] if tallies else None),
        "accuracy": accuracy_chart(tallies),
        "reliability": reliability_chart(parts),
        "ece": error,
        "ece_words": "" if error is None else f"{100 * error:.0f} points",
        "misled": error is not None and round(error, 2) > _MISLED,
        "left": plateau(tallies),
        "window": WINDOW if echo.logged > WINDOW else None,
    }


def plateau(tallies: list[Tally]) -> Plateau:
    """How many answers are left until the gain flattens."""
    return answers_left([Stretch(each.n, each.wrong) for each in tallies])
