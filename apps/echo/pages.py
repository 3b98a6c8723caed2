"""The context of the pages about Echo and about offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.http import SignedInRequest
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.services.limits import budget_spent
from apps.common.figures import range_words, share_words
from apps.common.lists import requested_page
from apps.echo.charts import (
    accuracy_chart,
    feature_rows,
    reliability_chart,
    right_figure,
    share_figure,
)
from apps.echo.models import Echo, PromptSearch
from apps.echo.selectors.learning import (
    MOST_REWARDS,
    RankedFeature,
    histories_of,
    mark_of,
    model_summary,
    offer_results_of,
    ranked_features,
    selector_of,
    status_of,
)
from apps.echo.selectors.predictions import (
    WINDOW,
    Tally,
    answers_about,
    calibration_error,
    choices_of,
    merged_tallies,
    reliability,
    tallies_of,
    total_tally,
    value_words,
)
from apps.echo.selectors.prompt_searches import SHOWN, instruction_about, searches_now
from apps.echo.services.prompt_search import LEAST_ANSWERS, NEW_ANSWERS, calls_left
from labelhub.core.echo.plateau import Plateau, Stretch, answers_left
from labelhub.core.echo.prompt_search import LEAST_AUTHORS

_NONE = {"value": None, "reason": _("there was no comparison")}
_TONES: Mapping[str, tuple[str, str]] = {
    PromptSearch.Status.BETTER: ("ok", "check"),
    PromptSearch.Status.UNCHANGED: ("", "close"),
    PromptSearch.Status.STOPPED: ("", "stop"),
}


@dataclass(frozen=True, slots=True)
class ShownSearch:
    """A search: accuracy of the previous instruction (``before``) and of the best candidate, their
    difference, and the tone and icon of its status."""

    search: PromptSearch
    before: Mapping[str, Any]
    best: Mapping[str, Any]
    difference: str
    tone: str
    icon: str


def searching_parts(echo: Echo) -> dict[str, Any]:
    """The state of the site's searches, and why the running one pauses, if it does."""
    now = searches_now(echo)
    return {"searches": now, "resting": _resting(echo) if now.running else ""}


def instruction_parts(echo: Echo, feature: str) -> dict[str, Any]:
    """The instruction of a feature and its searches; a constant number of queries."""
    about, parts = instruction_about(echo, feature), searching_parts(echo)
    running = parts["searches"].running
    return parts | {
        "used": shown_search(about.used) if about.used else None,
        "fault": about.fault,
        "running": running if running and running.feature == feature else None,
        "past": [shown_search(search) for search in about.past],
        "past_count": about.count,
        "past_shown": SHOWN,
        "least_answers": LEAST_ANSWERS,
        "least_authors": LEAST_AUTHORS,
        "new_answers": NEW_ANSWERS,
    }


def shown_search(search: PromptSearch) -> ShownSearch:
    """A search with its stored figures."""
    figures = search.found.get("figures", {})
    return ShownSearch(
        search,
        figures.get("present") or _NONE,
        figures.get("best") or _NONE,
        _difference(figures.get("difference") or {}),
        *_TONES[search.status],
    )


def _resting(echo: Echo) -> str:
    """Why the running search makes no more calls today; empty if it may make some."""
    if not calls_left(echo):
        return gettext("Today's calls are used up; the search continues tomorrow (UTC).")
    if budget_spent(echo.site):
        return gettext("The site's budget for today is spent; the search continues tomorrow (UTC).")
    return ""


def _difference(figure: Mapping[str, Any]) -> str:
    """The difference in points, with its interval and its method, as its confidence level differs
    from that of the other figures."""
    value, low, high = (figure.get(name) for name in ("value", "low", "high"))
    if value is None:
        return ""
    points = gettext("%(number)s points") % {"number": _points(value)}
    if low is None or high is None:
        return f"{points}; {gettext(figure.get('doubt') or 'no interval')}"
    interval = range_words(_points(low), _points(high))
    return f"{points}, {interval} ({gettext(figure['method'])})"


def _points(share: float) -> str:
    return f"{100 * share + 0.0:+.0f}".replace("-", "−")


PAGE_SIZE = 12
#: Above this calibration error the page shows a hint.
_MISLED = 0.1
PART_NAMES: Mapping[str, StrOrPromise] = {
    "rate": _("frequency of each value"),
    "head": _("the words of the message"),
    "llm": _("the language model"),
}


def moving_parts(echo: Echo, given: Mapping[str, str]) -> dict[str, Any]:
    """The parts that change; a constant number of queries for any number of events and features."""
    state, words = selector_of(echo), " ".join(given.get("q", "").split())[:60]
    found = ranked_features(echo, state, words)
    page = requested_page(given, found, PAGE_SIZE)
    results = offer_results_of(echo)
    return (
        {
            "mark": mark_of(echo),
            "q": words,
            "page": page,
            "searched": bool(words) or page.paginator.num_pages > 1,
            "rows": feature_rows(histories_of(echo, state, list(page))),
            "results": results,
            "clicks": share_figure(
                results.clicked, results.offers, gettext("no results of offers yet")
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
    """One feature: its curve, calibration, model, instruction and last answers."""
    state = selector_of(echo)
    learnt = histories_of(echo, state, [feature])
    model = model_summary(echo, feature.key)
    known = echo.site.features.get(key=feature.key).parsed
    return (
        _curves(echo, feature.key)
        | instruction_parts(echo, feature.key)
        | {
            "mark": mark_of(echo),
            "row": feature_rows(learnt)[0],
            "weights": [
                (PART_NAMES[name], share_words(part)) for name, part in model.weights.items()
            ],
            "counts": [(value_words(known, value), round(n)) for value, n in model.counts],
            "model_words": model.words,
            "given": answers_about(echo, known) if manages else [],
        }
    )


def ranked_feature(echo: Echo, key: str) -> RankedFeature | None:
    """One of the site's features; None if there is no such feature."""
    found = ranked_features(echo, selector_of(echo), key)
    return next((feature for feature in found if feature.key == key), None)


def nothing_yet(site: Site) -> dict[str, Any]:
    """The context of a site where Echo was never on."""
    return {"echo": None, "has_features": site.features.filter(active=True).exists()}


def _curves(echo: Echo, feature: str = "") -> dict[str, Any]:
    tallies, parts = tallies_of(echo, feature), reliability(echo, feature)
    error = calibration_error(parts)
    return {
        "all": right_figure(total_tally(tallies) if tallies else None),
        "newest": right_figure(merged_tallies(tallies)[-1] if tallies else None),
        "accuracy": accuracy_chart(tallies),
        "reliability": reliability_chart(parts),
        "ece": error,
        "ece_words": ""
        if error is None
        else gettext("%(number)s points") % {"number": f"{100 * error:.0f}"},
        "misled": error is not None and round(error, 2) > _MISLED,
        "left": plateau(tallies),
        "window": WINDOW if echo.logged > WINDOW else None,
    }


def plateau(tallies: list[Tally]) -> Plateau:
    """The number of answers until the accuracy hardly grows."""
    return answers_left([Stretch(tally.n, tally.wrong) for tally in tallies])


_VIEWS = (
    ("offers", _("Offers"), "site_offers"),
    ("catalogue", _("Catalogue"), "site_catalogue"),
    ("experiments", _("Experiments"), "offer_experiment_list"),
)


def offers_page(
    request: SignedInRequest, site: Site, echo: Echo | None, view: str
) -> dict[str, Any]:
    """The context of a page about offers: tabs, Echo, and whether it is on."""
    place = [site.project.slug, site.pk]
    views = [
        {"url": reverse(name, args=place), "text": words, "current": key == view}
        for key, words, name in _VIEWS
    ]
    frame = site_page(request, site, "offers")
    return frame | {"views": views, "echo": echo, "echo_on": echo is not None and echo.on}
