"""A site's overview, its live feed and the test console."""

import hashlib
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.forms import ConsoleForm
from apps.authors.models import Feature, Site
from apps.authors.pages import WINDOW_WORDS, chosen_days, site_page
from apps.authors.pictures import (
    alert_words,
    charts,
    dropped_rates,
    figure_of,
    funnel_steps,
    side_rates,
)
from apps.authors.selectors.funnel import (
    WINDOWS,
    answers_since,
    funnels_by_feature,
    position_check_of,
    site_traffic,
    start_of,
)
from apps.authors.selectors.messages import ASKED, SHOWN, WAITING, feed
from apps.authors.selectors.sites import get_site, use_of_today
from apps.authors.services.console import dry_run
from apps.authors.stages import STAGES, reason_words, stage_name, stage_row
from labelhub.core.interview.funnel import rates

#: Features that the page lists.
MOST_ROWS = 12


@login_required
@require_safe
def site_overview(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.VIEW)
    days, now = chosen_days(request), timezone.now()
    start = start_of(days, now)
    traffic, answers = site_traffic(site, days, now), answers_since(site, start)
    features = list(site.features.order_by("-active", "position"))
    found, rows = rates(traffic.now), feature_rows(site, features, days)
    asked = sorted((row for row in rows if row["asked"]), key=lambda row: -row["asked"])[:MOST_ROWS]
    listed = sum(bool(row["asked"] or row["feature"].active) for row in rows)
    context = site_page(request, site, "overview") | {
        "days": days,
        "use": use_of_today(site),
        "windows": WINDOW_WORDS.items(),
        "traffic": traffic,
        "answers": answers,
        "seconds": None if answers.median_ms is None else answers.median_ms / 1000,
        "label_cost": (traffic.cost_nanousd / answers.labels if answers.labels else None),
        "answered": figure_of(found["answered"]),
        "nofit": figure_of(found["nofit"]),
        "funnel": funnel_steps(traffic),
        "side_rates": side_rates(traffic.now),
        "dropped": dropped_rates(traffic.now),
        "charts": charts(traffic.bars, weeks=WINDOWS[days] > 1),
        "week_bars": WINDOWS[days] > 1,
        "alerts": alert_words(traffic.now, traffic.before),
        "position": position_check_of(site, features, start),
        "features": asked,
        "features_left": listed - len(asked),
    }
    return render(request, "authors/site_overview.html", context)


def feature_rows(site: Site, features: list[Feature], days: int) -> list[dict[str, Any]]:
    """Each feature with the funnel of its questions of the last ``days``."""
    counted = funnels_by_feature(site, start_of(days, timezone.now()))
    rows = []
    for feature in features:
        asked, funnel = counted.get(feature.pk, (0, None))
        found = rates(funnel) if funnel else {}
        rows.append(
            {
                "feature": feature,
                "asked": asked,
                "shown": funnel.shown if funnel else 0,
                "answered": figure_of(found["answered"]) if found else {},
                "nofit": figure_of(found["nofit"]) if found else {},
            }
        )
    return rows


@login_required
@require_safe
def site_live(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The latest messages with the verdict of every stage; the list refreshes itself."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    context = site_page(request, site, "live") | _feed_context(request, site)
    context["filters"] = [
        ("", _("All")),
        (ASKED, _("Asked about")),
        (WAITING, _("In progress")),
        *(
            (stage, gettext("Dropped: %(stage)s") % {"stage": words.name})
            for stage, words in STAGES.items()
        ),
    ]
    return render(request, "authors/site_live.html", context)


@login_required
@require_safe
def site_live_rows(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The list alone; 204 if the page already shows this state."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    context = {"project": site.project, "site": site} | _feed_context(request, site)
    if request.GET.get("seen") == context["state"]:
        return HttpResponse(status=204)
    return render(request, "authors/site_live.html#feed", context)


def _feed_context(request: SignedInRequest, site: Site) -> dict[str, Any]:
    only = request.GET.get("stage", "")
    only = only if only in {ASKED, WAITING, *STAGES} else ""
    rows = feed(site, only)
    shown = [
        (
            row.message.pk,
            row.status,
            [(question.status, question.early) for question in row.questions],
        )
        for row in rows
    ]
    return {
        "only": only,
        "rows": rows,
        "most": SHOWN,
        "state": hashlib.sha256(repr(shown).encode()).hexdigest()[:16],
    }


#: Example messages, with their titles.
SAMPLES = (
    (_("A wish"), "I want to buy a quiet laptop for the train, and it must not cost too much."),
    (_("A greeting"), "hi there!"),
    (
        _("Personal data"),
        "Please call me at +1 415 555 2671 or write to jo@example.org about my order.",
    ),
    (_("A sensitive topic"), "Which chair is best for my herniated disc and my depression?"),
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_console(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Try a message: the verdict of every stage, and the questions for its author."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    form = ConsoleForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"form": form, "samples": SAMPLES}
    if request.method == "POST" and form.is_valid():
        run = dry_run(site, form.cleaned_data["text"])
        context |= {
            "run": run,
            "stages": [stage_row(stage) for stage in run.stages],
            "dropped": stage_name(run.dropped_at) if run.dropped_at else "",
            "reason": reason_words(run.reason),
        }
    if getattr(request, "htmx", False):
        return render(request, "authors/site_console.html#result", context)
    context |= site_page(request, site, "console")
    return render(request, "authors/site_console.html", context, status=422 if form.errors else 200)
