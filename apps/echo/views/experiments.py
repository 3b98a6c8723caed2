"""Experiments with offers: their design, start, results and end."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.selectors.sites import get_site
from apps.common.lists import Column, list_page
from apps.common.methods import method_words
from apps.echo.forms import ExperimentForm
from apps.echo.models import Experiment
from apps.echo.offer_words import arm_words, policy_words
from apps.echo.pages import offers_page
from apps.echo.reporting.click_through import experiment_mark, make_report
from apps.echo.reporting.off_policy import evaluate_candidates
from apps.echo.selectors.learning import echo_of, get_echo
from apps.echo.selectors.offers import experiments_of, get_experiment, running_experiment
from apps.echo.services.experiments import (
    arms_of,
    create_experiment,
    end_experiment,
    start_experiment,
)
from labelhub.core.echo.experiments.click_through import percent_change
from labelhub.core.errors import InvalidInput

PAGE_SIZE = 25
EXPERIMENT_COLUMNS = (
    Column(_("Name")),
    Column(_("State")),
    Column(_("Started")),
    Column(_("Planned days"), numeric=True),
    Column(_("Messages"), numeric=True),
)


@login_required
@require_safe
def offer_experiment_list(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """All experiments, newest first, and the evaluation of other policies from the log."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = echo_of(site)
    context = offers_page(request, site, echo, "experiments")
    if echo is not None:
        context["list"] = list_page(
            request,
            experiments_of(site),
            EXPERIMENT_COLUMNS,
            caption=_("Experiments with offers, newest first"),
            size=PAGE_SIZE,
        )
        context["off_policy"] = evaluate_candidates(echo)
    return render(request, "echo/offer_experiment_list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def offer_experiment_create(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Design an experiment; the design is fixed when it is saved, and starts later."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    form = ExperimentForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        made = create_experiment(echo, **form.design())
        return redirect("offer_experiment_detail", slug, site.pk, made.pk)
    context = offers_page(request, site, echo, "experiments") | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "echo/offer_experiment_create.html", context, status=status)


@login_required
@require_safe
@never_cache
def offer_experiment_detail(
    request: SignedInRequest, slug: str, site_id: int, offer_experiment_id: int
) -> HttpResponse:
    """The design, and the results so far; no content (204) if nothing changed since the client's
    mark."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    experiment = get_experiment(site, offer_experiment_id)
    context = offers_page(request, site, experiment.echo, "experiments")
    context |= _design(experiment)
    if request.headers.get("X-Seen") == context["mark"]:
        return HttpResponse(status=204)
    context |= _results(experiment)
    return render(request, "echo/offer_experiment_detail.html", context)


@login_required
@require_POST
def offer_experiment_change(
    request: SignedInRequest, slug: str, site_id: int, offer_experiment_id: int
) -> HttpResponse:
    """Start or end an experiment; neither can be undone."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    experiment = get_experiment(site, offer_experiment_id)
    wanted = request.POST.get("do", "")
    if wanted == "start":
        start_experiment(experiment)
        messages.success(request, _("The experiment is running."))
    elif wanted == "end":
        end_experiment(experiment)
        messages.success(request, _("The experiment has ended; its results stay."))
    else:
        raise InvalidInput("Choose an action of this page.")
    return redirect("offer_experiment_detail", slug, site.pk, experiment.pk)


def _design(experiment: Experiment) -> dict[str, Any]:
    """The design and its progress; ``mark`` changes with the progress and the results."""
    start, now = experiment.started_at, timezone.now()
    day = (now - start).days + 1 if start else 0
    over = start is not None and now > start + timedelta(days=experiment.planned_days)
    shown = (start, experiment.ended_at, day, over, experiment_mark(experiment))
    return {
        "mark": hashlib.sha256(repr(shown).encode()).hexdigest()[:16],
        "experiment": experiment,
        "arms": [
            (arm_words(arm.name), policy_words(arm.policy), 100 * arm.share)
            for arm in arms_of(experiment)
        ],
        "control": arm_words(experiment.design["control"]),
        "runs": start is not None and experiment.ended_at is None,
        "day": day,
        "over": over,
    }


def _results(experiment: Experiment) -> dict[str, Any]:
    """The results so far; before the start, the experiment that has to end first."""
    if experiment.started_at is None:
        return {"running": running_experiment(experiment.echo)}
    report = make_report(experiment.echo, experiment)
    return {
        "report": report,
        "units": _("Turns") if report["assigned_by"] == "window" else _("Authors"),
        "arm_figures": [(arm_words(arm["name"]), arm["figures"]) for arm in report["arms"]],
        "compared": [_compared(comparison) for comparison in report["comparisons"]],
    }


def _compared(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """An arm against the control; the last look is the present conclusion, valid for any number of
    looks."""
    ratio, looks = comparison["assigned"]["ratio"], comparison["looks"]
    value, last = ratio["value"], looks[-1]["look"] if looks else None
    return {
        "arm": arm_words(comparison["arm"]),
        "ratio": ratio,
        "change": None if value is None else f"{percent_change(value):+.0f}".replace("-", "−"),
        "look": last,
        "looks": looks,
        "reason": method_words(last["ratio"].get("reason", "")) if last else "",
    }
