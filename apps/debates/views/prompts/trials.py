"""Pages: trying a variant on ten items beside the present prompt, and how that came out."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.debates import selectors, tasks
from apps.debates.models import PromptVariant
from apps.debates.prompt_forms import TrialForm
from apps.debates.selectors.prompts import Trial, get_trial, trial_rows, trial_sides
from apps.debates.services import prompts
from apps.debates.views.prompts.frame import frame
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.selectors import get_project
from labelhub.core.errors import LabelhubError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def prompt_try(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Choose the models that try a variant, see the cost, start.

    A POST with ``show`` starts nothing: without scripts it is how one sees what it takes.
    """
    project = get_project(request.user, slug, Right.MANAGE)
    variant = selectors.get_variant(project, pk)
    ensure_builtin()
    form = TrialForm(request.POST, variant=variant)
    showing = "show" in request.POST
    if request.method == "POST" and not showing and form.is_valid():
        try:
            plans = prompts.trial_plans(project, variant, form.models)
            runs = prompts.start_trial(project=project, actor=request.user, plans=plans)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            for run in runs:
                tasks.launch_run(run.pk)
            return redirect("prompt_trial", slug, runs[0].pk)
    context = frame(request, project) | {
        "variant": variant,
        "key": prompts.key_of(variant.name),
        "form": form,
    }
    if showing:
        context |= {"weighed": True} | _weighed(project, variant, form)
    status = 422 if form.errors else 200
    return render(request, "debates/prompt_try.html", context, status=status)


@login_required
@require_safe
@never_cache
def prompt_try_preview(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """What the trial in the form would take: the part of the page that follows every change."""
    project = get_project(request.user, slug, Right.MANAGE)
    variant = selectors.get_variant(project, pk)
    ensure_builtin()
    form = TrialForm(request.GET, variant=variant)
    context = {"project": project} | _weighed(project, variant, form)
    return render(request, "debates/prompt_try_preview.html", context)


@login_required
@require_safe
def prompt_trial(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """A trial: item by item what the variant and the present prompt came to."""
    project = get_project(request.user, slug, Right.VIEW)
    context = frame(request, project) | _came_to(request, get_trial(project, run_id))
    return render(request, "debates/prompt_trial.html", context)


@login_required
@require_safe
@never_cache
def prompt_trial_part(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """The moving part of a trial's page."""
    project = get_project(request.user, slug, Right.VIEW)
    context = {"project": project} | _came_to(request, get_trial(project, run_id))
    return render(request, "debates/prompt_trial_part.html", context)


def _weighed(project: Project, variant: PromptVariant, form: TrialForm) -> dict[str, Any]:
    if not form.is_valid():
        return {"refusal": "Choose a model for every role."}
    try:
        plans = prompts.trial_plans(project, variant, form.models)
        found = prompts.preview_trial(project, plans)
    except LabelhubError as error:
        return {"refusal": error.message}
    return {"previews": list(zip((variant.title, "Present text"), found, strict=True))}


def _came_to(request: SignedInRequest, trial: Trial) -> dict[str, Any]:
    found = trial_rows(trial, request.user)
    rows = [row for row in found if not row.hidden]
    return {
        "trial": trial,
        "variant": trial.variant,
        "key": prompts.key_of(trial.variant.name),
        "rows": rows,
        "left_out": len(found) - len(rows),
        "sides": trial_sides(trial, rows),
        "ended": sum(row.ended for row in rows),
        "differing": sum(row.differs for row in rows),
    }
