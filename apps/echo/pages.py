"""The context of the pages about Echo and about offers."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.http import SignedInRequest
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.common.figures import share_words
from apps.common.lists import requested_page
from apps.echo.charts import (
    accuracy_chart,
    feature_rows,
    reliability_chart,
    right_figure,
    share_figure,
)
from apps.echo.models import Echo
from apps.echo.selectors.learning import (
    feature_summaries,
    mark_of,
    offer_results_of,
    ranked_features,
    status_of,
)
from apps.echo.selectors.predictions import (
    WINDOW,
    answers_about,
    calibration_error,
    choices_of,
    merged_tallies,
    reliability,
    tallies_by_feature,
    tallies_of,
    total_tally,
    value_words,
)
from labelhub.core.echo.models import LLM, FeatureModel, part_weights
from labelhub.core.echo.state import unpack_model
from labelhub.core.errors import NotFound

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
    words = " ".join(given.get("q", "").split())[:60]
    page = requested_page(given, ranked_features(echo, words), PAGE_SIZE)
    tallies = tallies_by_feature(echo, [feature.key for feature in page])
    results = offer_results_of(echo)
    none_yet = gettext("no results of offers yet")
    return curve_parts(echo) | {
        "mark": mark_of(echo),
        "q": words,
        "page": page,
        "searched": bool(words) or page.paginator.num_pages > 1,
        "rows": feature_rows(list(page), tallies),
        "results": results,
        "clicks": share_figure(results["clicked"], results["offers"], none_yet),
        "choices": choices_of(echo),
        "echo": echo,
        "status": status_of(echo),
    }


def feature_parts(echo: Echo, key: str, *, manages: bool) -> dict[str, Any]:
    """One feature: its curve, calibration, model and last answers.

    Raises:
        NotFound: the site has no such feature.
    """
    row = echo.site.features.filter(key=key).first()
    if row is None:
        raise NotFound("This site has no such feature.")
    (summary,), known = feature_summaries(echo, [row]), row.parsed
    stored = echo.models.filter(feature=key).first()
    model = unpack_model(bytes(stored.packed)) if stored else FeatureModel()
    weights = part_weights(model) if stored else {}
    counts = sorted(zip(model.values, model.counts.tolist(), strict=True), key=lambda of: -of[1])
    return curve_parts(echo, key) | {
        "mark": mark_of(echo),
        "echo": echo,
        "feature": summary,
        "row": feature_rows([summary], tallies_by_feature(echo, [key]))[0],
        "weights": [
            (PART_NAMES[name], share_words(weight))
            for name, weight in weights.items()
            if name != LLM or model.llm_asked
        ],
        "counts": [(value_words(known, value), round(n)) for value, n in counts],
        "model_words": len(model.places),
        "given": answers_about(echo, known) if manages else [],
    }


def curve_parts(echo: Echo, feature: str = "") -> dict[str, Any]:
    """The curves of all answers, or of those about a feature."""
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
        "window": WINDOW if echo.logged > WINDOW else None,
    }


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
