"""Pages: runs, one run as it goes, one debate."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.common.forms import show_refusal
from apps.debates import selectors, services, tasks
from apps.debates.conversation import conversation
from apps.debates.forms import RunForm
from apps.debates.models import Debate, Run
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.errors import Conflict, LabelhubError

RUNS_A_PAGE = 25
DEBATES_A_PAGE = 50


@login_required
@require_safe
def run_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """All runs of the project, newest first."""
    project = get_project(request.user, slug, Right.VIEW)
    page = Paginator(selectors.runs_of(project), RUNS_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "rows": selectors.run_rows(page.object_list)}
    return render(request, "debates/run_list.html", _frame(request, project) | context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose a protocol, a model per role, how many items; see the cost; start."""
    project = get_project(request.user, slug, Right.MANAGE)
    ensure_builtin()
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            run = services.start_run(project=project, actor=request.user, plan=form.plan())
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            tasks.launch_run(run.pk)
            messages.success(request, f"Run {run.pk} has started.")
            return redirect("run_detail", slug, run.pk)
    status = 422 if form.errors else 200
    context = _frame(request, project) | {"form": form, "items": project.items.count()}
    return render(request, "debates/run_create.html", context, status=status)


@login_required
@require_safe
@never_cache
def run_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the run in the form would take: the part of the page that follows every change."""
    project = get_project(request.user, slug, Right.MANAGE)
    ensure_builtin()
    form = RunForm(request.GET)
    context: dict[str, Any] = {"project": project}
    if form.is_valid():
        try:
            context["preview"] = services.preview(project=project, plan=form.plan())
        except LabelhubError as error:
            context["refusal"] = error.message
    return render(request, "debates/_preview.html", context)


@login_required
@require_safe
def run_detail(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """A run as it goes: progress, what limits it, what went wrong, its debates."""
    project = get_project(request.user, slug, Right.VIEW)
    run = selectors.get_run(project, run_id)
    wanted = request.GET.get("status", "")
    debates = selectors.debates_of(run)
    if wanted in Debate.Status.values:
        debates = debates.filter(status=wanted)
    page = Paginator(debates, DEBATES_A_PAGE).get_page(request.GET.get("page"))
    context = _frame(request, project) | _progress(run) | {"page": page, "wanted": wanted}
    context |= {"roles": selectors.roles_of(run), "statuses": Debate.Status.choices}
    return render(request, "debates/run_detail.html", context)


@login_required
@require_safe
@never_cache
def run_progress(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """The moving part of the run's page."""
    project = get_project(request.user, slug, Right.VIEW)
    run = selectors.get_run(project, run_id)
    return render(request, "debates/_progress.html", _frame(request, project) | _progress(run))


@login_required
@require_POST
def run_pause(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Stop starting calls."""
    return _steer(request, slug, run_id, services.pause_run)


@login_required
@require_POST
def run_resume(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Go on, and try failed debates again."""
    response = _steer(request, slug, run_id, services.resume_run)
    tasks.launch_run(run_id)
    return response


@login_required
@require_POST
def run_cancel(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """End the run for good."""
    return _steer(request, slug, run_id, services.cancel_run)


@login_required
@require_safe
def debate_detail(request: SignedInRequest, slug: str, debate_id: int) -> HttpResponse:
    """Who said what, and who changed their mind."""
    project = get_project(request.user, slug, Right.VIEW)
    debate = selectors.debate_with_turns(project, debate_id)
    context = {"debate": debate, "run": debate.run, "talk": conversation(debate)}
    context["steps"] = selectors.neighbours(debate)
    return render(request, "debates/debate_detail.html", _frame(request, project) | context)


def _steer(
    request: SignedInRequest, slug: str, run_id: int, change: Callable[..., Run]
) -> HttpResponse:
    project = get_project(request.user, slug, Right.MANAGE)
    run = selectors.get_run(project, run_id)
    try:
        change(run=run)
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("run_detail", slug, run_id)


def _frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    page = project_page(request, project, "runs")
    return page | {"manages": page["role"] == Role.MANAGER}


def _progress(run: Run) -> dict[str, Any]:
    return {"run": run, "progress": selectors.progress(run), "going": run.going}
