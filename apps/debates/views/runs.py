"""Pages: runs, one run with its progress and debates, and one debate."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Select
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.common.lists import Column, list_page
from apps.debates import selectors, services, tasks
from apps.debates.conversation import conversation, records_of, summarize_debate
from apps.debates.forecast import faults_of, forecast
from apps.debates.forms import BudgetForm, RunForm
from apps.debates.models import Debate, Run
from apps.debates.naming import reason_words
from apps.debates.selectors import DebateFilter
from apps.debates.selectors.filters import FilterCounts
from apps.debates.selectors.runs import RunSetup
from apps.debates.transcripts import transcript_response
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_schema, get_project
from labelhub.core.errors import Conflict, LabelhubError, NotFound

RUNS_A_PAGE = 25
RUN_COLUMNS = (
    Column(_("Run")),
    Column(_("Status")),
    Column(_("Models")),
    Column(_("Progress")),
    Column(_("Cost"), numeric=True),
    Column(_("Started")),
)
DEBATE_COLUMNS = (
    Column(_("Item")),
    Column(_("Text")),
    Column(_("Outcome")),
    Column(_("Uncertainty"), numeric=True, sort="uncertainty"),
    Column(_("Reasons")),
)


def page_frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with "Runs" as the present page, and whether the user manages it."""
    page = project_page(request, project, "runs")
    return page | {"manages": page["role"] == Role.MANAGER}


@project_view(Right.VIEW, "GET", "HEAD")
def run_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """All runs of the project, newest first."""
    runs = list_page(
        request,
        selectors.runs_of(project),
        RUN_COLUMNS,
        caption=gettext("Runs of this project, newest first"),
        size=RUNS_A_PAGE,
        rows=selectors.run_rows,
    )
    return render(request, "debates/run_list.html", page_frame(request, project) | {"list": runs})


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def run_create(request: SignedInRequest, project: Project) -> HttpResponse:
    """Choose a protocol, models and items; see the estimate; start.

    A POST with ``show`` only updates the page, for browsers without scripts.
    """
    form = _run_form(project, request.POST, asked=request.GET)
    showing = "show" in request.POST
    if request.method == "POST" and not showing and form.is_valid():
        try:
            run = services.start_run(project=project, actor=request.user, plan=form.plan())
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            tasks.launch_run(run.pk)
            messages.success(request, gettext("Run %(number)s has started.") % {"number": run.pk})
            return redirect("run_detail", project.slug, run.pk)
    status = 422 if form.errors else 200
    context = page_frame(request, project) | {"form": form, "items": project.items.count()}
    if showing:
        context |= {"weighed": True} | _preview_context(project, form)
    return render(request, "debates/run_create.html", context, status=status)


@never_cache
@project_view(Right.MANAGE, "GET", "HEAD")
def run_parts(request: SignedInRequest, project: Project) -> HttpResponse:
    """The settings and roles of the protocol in the form; 204 if the page shows them already."""
    form = _run_form(project, request.GET)
    if form.shape == request.GET.get("shape"):
        return HttpResponse(status=204)
    return render(request, "debates/run_create.html#parts", {"form": form, "project": project})


@never_cache
@project_view(Right.MANAGE, "GET", "HEAD")
def run_preview(request: SignedInRequest, project: Project) -> HttpResponse:
    """The estimate for the run in the form: the part of the page that follows every change."""
    form = _run_form(project, request.GET)
    return render(
        request,
        "debates/run_create.html#preview",
        {"project": project} | _preview_context(project, form),
    )


@project_view(Right.VIEW, "GET", "HEAD")
def run_detail(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """A run: progress, limits, errors, debates and specification."""
    return _run_page(request, project, selectors.get_run(project, run_id))


@project_view(Right.VIEW, "GET", "HEAD")
def run_transcripts(
    request: SignedInRequest, project: Project, run_id: int
) -> StreamingHttpResponse:
    """Its complete debates as a file."""
    return transcript_response(selectors.get_run(project, run_id), request.user)


@never_cache
@project_view(Right.VIEW, "GET", "HEAD")
def run_progress(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """The part of the run's page that follows its progress."""
    run = selectors.get_run(project, run_id)
    return render(
        request, "debates/run_detail.html#progress", page_frame(request, project) | _progress(run)
    )


@never_cache
@project_view(Right.VIEW, "GET", "HEAD")
def run_troubles(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """The errors so far, by cause: a part of the page that is updated less often."""
    run = selectors.get_run(project, run_id)
    context = page_frame(request, project) | {
        "run": run,
        "troubles": selectors.troubles(run, request.user),
    }
    return render(request, "debates/run_detail.html#troubles", context)


@login_required
@require_POST
def run_pause(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Pause the run."""
    return _change_run(request, slug, run_id, services.pause_run)


@login_required
@require_POST
def run_resume(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Resume the run, and try failed debates again."""
    response = _change_run(request, slug, run_id, services.resume_run)
    tasks.launch_run(run_id)
    return response


@login_required
@require_POST
def run_cancel(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """End the run for good."""
    return _change_run(request, slug, run_id, services.cancel_run)


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def run_budget(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """Raise the budget of a paused run and resume it. A GET comes from a link on the page with a
    rejected amount."""
    run = selectors.get_run(project, run_id)
    if request.method != "POST":
        address = reverse("run_detail", args=[project.slug, run_id])
        return redirect(f"{address}?{request.GET.urlencode()}")
    form = BudgetForm(request.POST)
    if form.is_valid():
        try:
            services.set_budget(run=run, budget_nanousd=form.nanousd)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            return run_resume(request, project.slug, run_id)
    return _run_page(request, project, run, form)


def _run_form(
    project: Project, data: Mapping[str, Any], asked: Mapping[str, Any] | None = None
) -> RunForm:
    """The form; a link may have ``asked`` for a protocol and versions of its prompts."""
    ensure_builtin()
    return RunForm(
        data,
        task=current_schema(project).parsed.task,
        project=project,
        variants=selectors.variants_of(project).filter(retired=False),
        initial={
            name: value
            for name, value in (asked or {}).items()
            if name == "protocol" or name.startswith("prompt_")
        },
    )


def _preview_context(project: Project, form: RunForm) -> dict[str, Any]:
    """The estimate for the plan in the form, or why there is none."""
    return forecast(project, form.plan()) if form.is_valid() else faults_of(form)


def _run_page(
    request: SignedInRequest, project: Project, run: Run, budget: BudgetForm | None = None
) -> HttpResponse:
    filters = DebateFilter(request.GET, selectors.comparable_debates(run, request.user))
    asked = selectors.run_setup(run)
    _fit_filters(filters, selectors.count_choices(run, request.user), asked)
    context = page_frame(request, project) | _progress(run)
    context["list"] = list_page(
        request,
        filters.qs,
        DEBATE_COLUMNS,
        caption=gettext("Debates of this run"),
        filters=filters,
        size=15,
    )
    context["asked"] = asked
    context["troubles"] = selectors.troubles(run, request.user)
    if budget is not None:
        context["budget"] = budget
    status = 422 if budget is not None else 200
    return render(request, "debates/run_detail.html", context, status=status)


def _fit_filters(filters: DebateFilter, counted: FilterCounts, asked: RunSetup) -> None:
    """Offer the statuses, reasons and flags of the run with their numbers of debates."""
    fields, given = filters.form.fields, filters.given
    for name, counts, words_of in (
        ("status", counted.statuses, dict(Debate.Status.choices).get),
        ("reason", counted.reasons, reason_words),
        ("flag", counted.flags, reason_words),
    ):
        codes = dict(counts.most_common())
        if name in given:
            codes.setdefault(given[name], 0)
        options = [(code, f"{words_of(code)} ({count_words(n)})") for code, n in codes.items()]
        fields[name].widget = Select(choices=[("", gettext("Any")), *options])
    critic = any(role.role.endswith("critic") for role in asked.roles)
    for name, offered in (("overruled", critic), ("disagrees", False)):
        if not offered and name not in given:
            del fields[name]


def _change_run(
    request: SignedInRequest, slug: str, run_id: int, change: Callable[..., Run]
) -> HttpResponse:
    project = get_project(request.user, slug, Right.MANAGE)
    run = selectors.get_run(project, run_id)
    try:
        change(run=run)
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("run_detail", slug, run_id)


def _progress(run: Run) -> dict[str, Any]:
    found = selectors.progress(run)
    context = {"run": run, "progress": found, "going": run.going}
    if run.status == Run.Status.PAUSED and run.pause_code == "budget":
        context["budget"] = BudgetForm(initial={"budget": selectors.budget_to_finish(run, found)})
    return context


@project_view(Right.VIEW, "GET", "HEAD")
def debate_detail(request: SignedInRequest, project: Project, debate_id: int) -> HttpResponse:
    """A debate: contributions, changed answers and the verdict."""
    debate = selectors.debate_with_turns(project, debate_id, request.user)
    filters = DebateFilter(request.GET, selectors.comparable_debates(debate.run, request.user))
    context = {"debate": debate, "run": debate.run, "filters": filters}
    context |= {"talk": conversation(debate), "standing": summarize_debate(debate)}
    context["neighbours"] = selectors.neighbours(debate, filters)
    return render(request, "debates/debate_detail.html", page_frame(request, project) | context)


@login_required
@require_safe
@vary_on_headers("HX-Request")
def debate_calls(request: SignedInRequest, slug: str, debate_id: int) -> HttpResponse:
    """The calls of a debate, or one of them: messages as sent, parameters and raw answer."""
    project = get_project(request.user, slug, Right.VIEW)
    debate = selectors.calls_of(project, debate_id, request.user, _turn(request))
    context = {"debate": debate, "run": debate.run, "records": records_of(debate.turns.all())}
    if "HX-Request" in request.headers:
        return render(request, "debates/debate_calls.html#calls", context)
    return render(request, "debates/debate_calls.html", page_frame(request, project) | context)


def _turn(request: SignedInRequest) -> int | None:
    """The call in the query; None for all."""
    wanted = request.GET.get("turn", "")
    if not wanted:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < len(str(2**63))):
        raise NotFound("There is no such call in this debate.")
    return int(wanted)
