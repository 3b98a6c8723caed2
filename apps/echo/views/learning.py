"""A site's Echo pages: what Echo asks, what it has learnt, and its settings.

They refresh themselves: a page that sends the mark that it shows (``X-Seen``) gets no content (204)
if nothing has changed since.
"""

import copy
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_stubs_ext import StrOrPromise

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.selectors.sites import get_site
from apps.common.figures import share_words
from apps.common.lists import requested_page
from apps.echo.charts import (
    accuracy_chart,
    feature_rows,
    reliability_chart,
    right_figure,
    share_figure,
)
from apps.echo.forms import EchoSettingsForm
from apps.echo.models import Echo
from apps.echo.selectors.learning import (
    echo_of,
    feature_summaries,
    get_echo,
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
    value_words,
)
from apps.echo.services.configuration import freeze, switch_echo, update_echo
from labelhub.core.echo.models import LLM, FeatureModel, part_weights
from labelhub.core.echo.state import unpack_model
from labelhub.core.errors import Conflict, InvalidInput, NotFound

PAGE_SIZE = 12
#: Above this calibration error the page shows a hint.
_MISLED = 0.1
_PART_NAMES = {
    "rate": _("frequency of each value"),
    "head": _("the words of the message"),
    "llm": _("the language model"),
}
_SWITCHED = {
    "on": _("Echo is on. It chooses questions from the next message on."),
    "off": _("Echo is off within seconds; the site asks as before. Nothing learnt is lost."),
    "freeze": _("Learning is frozen: Echo logs events and does not learn from them."),
    "thaw": _(
        "Echo learns again. It does not learn from events that happened while it was frozen."
    ),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def site_echo(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Show the page; a POST with ``do`` switches Echo, or freezes or thaws learning."""
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    site = get_site(request.user, slug, site_id, right)
    if request.method == "POST":
        try:
            messages.success(request, _done(site, request.POST.get("do", "")))
        except Conflict as error:
            messages.warning(request, error.message)
        return redirect("site_echo", slug, site.pk)
    return _page(request, site)


@login_required
@require_POST
def site_echo_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Save Echo's settings."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    # A copy: the form changes its instance before it is valid.
    form = EchoSettingsForm(request.POST, instance=copy.copy(echo))
    if not form.is_valid():
        return _page(request, site, settings=form)
    update_echo(echo, **form.cleaned_data)
    messages.success(request, _("The settings are saved and apply from the next message on."))
    return redirect("site_echo", slug, site.pk)


@login_required
@require_safe
@never_cache
def site_echo_feature(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """One feature: its curves, its model, and the last answers, whose texts only managers see."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = get_echo(site)
    row = site.features.filter(key=feature_key).first()
    if row is None:
        raise NotFound("This site has no such feature.")
    if request.headers.get("X-Seen") == (mark := mark_of(echo)):
        return HttpResponse(status=204)
    context = site_page(request, site, "echo") | _curves(echo, feature_key)
    (summary,), known = feature_summaries(echo, [row]), row.parsed
    stored = echo.models.filter(feature=feature_key).first()
    model = unpack_model(bytes(stored.packed)) if stored else FeatureModel()
    weights = part_weights(model) if stored else {}
    counts = sorted(zip(model.values, model.counts.tolist(), strict=True), key=lambda of: -of[1])
    context |= {
        "mark": mark,
        "row": feature_rows([summary], tallies_by_feature(echo, [feature_key]))[0],
        "weights": [
            (_PART_NAMES[name], share_words(weight))
            for name, weight in weights.items()
            if name != LLM or model.llm_asked
        ],
        "counts": [(value_words(known, value), round(n)) for value, n in counts],
        "model_words": len(model.places),
        "given": answers_about(echo, known) if context["manages"] else [],
    }
    return render(request, "echo/feature.html", context)


def _page(
    request: SignedInRequest, site: Site, settings: EchoSettingsForm | None = None
) -> HttpResponse:
    """Echo's page; a constant number of queries for any number of events and features."""
    echo, context = echo_of(site), site_page(request, site, "echo")
    if echo is None:
        context["has_features"] = site.features.filter(active=True).exists()
        return render(request, "echo/nothing.html", context)
    if request.headers.get("X-Seen") == (mark := mark_of(echo)):
        return HttpResponse(status=204)
    words = " ".join(request.GET.get("q", "").split())[:60]
    page = requested_page(request.GET.dict(), ranked_features(echo, words), PAGE_SIZE)
    results = offer_results_of(echo)
    context |= _curves(echo) | {
        "mark": mark,
        "q": words,
        "page": page,
        "searched": bool(words) or page.paginator.num_pages > 1,
        "rows": feature_rows(page, tallies_by_feature(echo, [row["key"] for row in page])),
        "results": results,
        "clicks": share_figure(
            results["clicked"], results["offers"], gettext("no results of offers yet")
        ),
        "choices": choices_of(echo),
        "echo": echo,
        "status": status_of(echo),
    }
    if context["manages"]:
        context["settings"] = settings or EchoSettingsForm(instance=copy.copy(echo))
    return render(request, "echo/echo.html", context, status=422 if settings else 200)


def _curves(echo: Echo, feature: str = "") -> dict[str, Any]:
    """The curves of all answers, or of those about a feature."""
    tallies, parts = tallies_of(echo, feature), reliability(echo, feature)
    error = calibration_error(parts)
    return {
        "all": right_figure(tallies),
        "newest": right_figure(merged_tallies(tallies)[-1:]),
        "accuracy": accuracy_chart(tallies),
        "reliability": reliability_chart(parts),
        "ece_words": None
        if error is None
        else gettext("%(number)s points") % {"number": f"{100 * error:.0f}"},
        "misled": error is not None and round(error, 2) > _MISLED,
        "window": WINDOW if echo.logged > WINDOW else None,
    }


def _done(site: Site, step: str) -> StrOrPromise:
    """Take the step, and return the message about it."""
    if step not in _SWITCHED:
        raise InvalidInput("do: must be one of %(steps)s.", steps=", ".join(_SWITCHED))
    if step in ("on", "off"):
        switch_echo(site, on=step == "on")
    elif not freeze(get_echo(site), on=step == "freeze"):
        raise Conflict("Nothing changed: somebody else has done this already.")
    return _SWITCHED[step]
