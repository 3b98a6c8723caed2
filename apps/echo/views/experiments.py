"""Experiments with offers: their design, start, results and end."""

import hashlib
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
from apps.common.forms import show_refusal
from apps.common.lists import Column, list_page
from apps.common.methods import method_words
from apps.echo.charts import daily_ratio_chart, impression_tables, ratio_chart
from apps.echo.forms import ExperimentForm
from apps.echo.models import Echo, Experiment
from apps.echo.offer_words import arm_words, policy_words
from apps.echo.pages import offers_page
from apps.echo.reporting.click_through import ArmComparison, experiment_mark, make_report
from apps.echo.reporting.off_policy import evaluate_candidates
from apps.echo.selectors.learning import echo_of, get_echo
from apps.echo.selectors.offers import experiments_of, get_experiment, running_experiment
from apps.echo.services.experiments import (
    create_experiment,
    design_of,
    end_experiment,
    start_experiment,
)
from labelhub.core.echo.experiments.click_through import percent_change
from labelhub.core.errors import InvalidInput, LabelhubError

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
        made = _created(echo, form)
        if made is not None:
            return redirect("offer_experiment_detail", slug, site.pk, made.pk)
    context = offers_page(request, site, echo, "experiments") | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "echo/offer_experiment_create.html", context, status=status)


@login_required
@require_safe
def offer_experiment_detail(
    request: SignedInRequest, slug: str, site_id: int, offer_experiment_id: int
) -> HttpResponse:
    """The design, and the results so far."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = get_echo(site)
    experiment = get_experiment(site, offer_experiment_id)
    context = offers_page(request, site, echo, "experiments") | _design(experiment)
    if experiment.started_at is not None:
        context |= _results(experiment) | {"off_policy": evaluate_candidates(echo)}
    else:
        context["running"] = running_experiment(echo)
    return render(request, "echo/offer_experiment_detail.html", context)


@login_required
@require_safe
@never_cache
def offer_experiment_parts(
    request: SignedInRequest, slug: str, site_id: int, offer_experiment_id: int
) -> HttpResponse:
    """The parts that change; no content (204) if nothing changed since the client's mark."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    experiment = get_experiment(site, offer_experiment_id)
    design = _design(experiment)
    if request.headers.get("X-Seen") == design["mark"]:
        return HttpResponse(status=204)
    context = offers_page(request, site, get_echo(site), "experiments") | design
    if experiment.started_at is not None:
        context |= _results(experiment)
    return render(request, "echo/offer_experiment_detail.html#parts", context)


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


def _created(echo: Echo, form: ExperimentForm) -> Experiment | None:
    data = form.cleaned_data
    try:
        return create_experiment(
            echo,
            name=data["name"],
            arms=form.arms(),
            control=data["control"],
            planned_days=data["planned_days"],
        )
    except LabelhubError as error:
        show_refusal(form, error)
        return None


def _design(experiment: Experiment) -> dict[str, Any]:
    """The design and its progress; ``mark`` changes with the progress and the results."""
    found = design_of(experiment)
    start, now = experiment.started_at, timezone.now()
    day = (now - start).days + 1 if start else 0
    over = start is not None and now > start + timedelta(days=experiment.planned_days)
    shown = (start, experiment.ended_at, day, over, experiment_mark(experiment))
    return {
        "mark": hashlib.sha256(repr(shown).encode()).hexdigest()[:16],
        "experiment": experiment,
        "arms": [
            (arm_words(arm.name), policy_words(arm.policy), 100 * arm.share) for arm in found.arms
        ],
        "control": arm_words(found.control),
        "runs": start is not None and experiment.ended_at is None,
        "day": day,
        "over": over,
    }


def _results(experiment: Experiment) -> dict[str, Any]:
    """The results so far."""
    report = make_report(experiment.echo, experiment)
    return {
        "report": report,
        "findings": [_finding(comparison) for comparison in report.comparisons],
        "compared": [
            (arm_words(comparison.arm), comparison.looks) for comparison in report.comparisons
        ],
        "forest": ratio_chart(report.comparisons),
        "curves": [
            drawn
            for comparison in report.comparisons
            if (drawn := daily_ratio_chart(comparison, arm_words(comparison.control)))
        ],
        "parts": impression_tables(report),
    }


def _finding(comparison: ArmComparison) -> dict[str, Any]:
    """The present conclusion about an arm, valid for any number of looks."""
    look = comparison.last_look
    ratio = look.ratio["value"] if look else None
    return {
        "arm": arm_words(comparison.arm),
        "look": look,
        "change": None if ratio is None else f"{percent_change(ratio):+.0f}",
        "reason": method_words(look.ratio.get("reason", "")) if look else "",
    }
