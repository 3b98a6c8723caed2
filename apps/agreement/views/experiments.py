"""Which set-up should we use? Pages that plan experiments, watch them and compare their arms."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRefresh

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.agreement.experiments.answers import author_labels, letter_of
from apps.agreement.experiments.forms import ExperimentForm, UseForm
from apps.agreement.experiments.page import comparison_page, expected_width, with_texts
from apps.agreement.experiments.report import KIND_WORDS, readings_of, report_of
from apps.common.forms import show_refusal
from apps.common.lists import Column, list_page, requested_page
from apps.debates import services, tasks
from apps.debates.forecast import faults_of, forecast
from apps.debates.selectors import experiments as selectors
from apps.debates.services.experiments import sample_verified_items
from apps.llm.services import ensure_builtin
from apps.projects.changes import comparable_versions
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_schema
from labelhub.core.errors import LabelhubError, NotFound

EXPERIMENTS_A_PAGE = 25
EXPERIMENT_COLUMNS = (
    Column(_("Experiment")),
    Column(_("Set-ups"), numeric=True),
    Column(_("Progress")),
    Column(_("Cost"), numeric=True),
    Column(_("Started")),
)
DEBATES_A_PAGE = 25


@project_view(Right.VIEW, "GET", "HEAD")
def experiment_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """All experiments of the project, newest first."""
    experiments = list_page(
        request,
        selectors.experiments_of(project),
        EXPERIMENT_COLUMNS,
        caption=gettext("Experiments of this project, newest first"),
        size=EXPERIMENTS_A_PAGE,
        rows=selectors.experiment_rows,
    )
    context = _frame(request, project) | {"list": experiments}
    return render(request, "agreement/experiment_list.html", context)


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def experiment_create(request: SignedInRequest, project: Project) -> HttpResponse:
    """Choose protocols and models, see the costs and the expected precision, and start.

    A POST with ``show`` starts nothing: it shows the costs to people without scripts.
    """
    ensure_builtin()
    form = ExperimentForm(project, request.POST or None)
    showing = "show" in request.POST
    if request.method == "POST" and not showing and form.is_valid():
        try:
            made = services.start_experiment(
                project=project,
                actor=request.user,
                title=form.cleaned_data["title"],
                arms=form.arms(),
                equal_budget_votes=form.cleaned_data["equal_budget"],
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            for run_id in made.runs.values_list("pk", flat=True):
                tasks.launch_run(run_id)
            return redirect("experiment_detail", project.slug, made.pk)
    own = author_labels(project, comparable_versions(current_schema(project)))
    context: dict[str, Any] = {
        "form": form,
        "verified": len(sample_verified_items(project, None)),
        "answered": own.values("item").distinct().count(),
    }
    if showing:
        context |= {"weighed": True} | _preview_context(project, form)
    page = _frame(request, project) | context
    status = 422 if form.errors else 200
    return render(request, "agreement/experiment_create.html", page, status=status)


@never_cache
@project_view(Right.MANAGE, "GET", "HEAD")
def experiment_preview(request: SignedInRequest, project: Project) -> HttpResponse:
    """The costs of the experiment in the form, and its expected precision."""
    ensure_builtin()
    form = ExperimentForm(project, request.GET)
    context = {"project": project} | _preview_context(project, form)
    return render(request, "agreement/experiment_create.html#preview", context)


@project_view(Right.VIEW, "GET", "HEAD")
def experiment_detail(
    request: SignedInRequest, project: Project, experiment_id: int
) -> HttpResponse:
    """An experiment: as it goes its progress, in the end its comparison."""
    experiment = selectors.get_experiment(project, experiment_id)
    arms = selectors.arms_of(experiment)
    context = _frame(request, project) | _progress(experiment_id, arms) | {"experiment": experiment}
    if arms and not context["going"]:
        report = report_of(experiment, arms)
        context |= comparison_page(report, arms, sort=request.GET.get("sort", ""))
    return render(request, "agreement/experiment_detail.html", context)


@never_cache
@project_view(Right.VIEW, "GET", "HEAD")
def experiment_progress(
    request: SignedInRequest, project: Project, experiment_id: int
) -> HttpResponse:
    """The moving part of the page; when all is done, the whole page anew."""
    experiment = selectors.get_experiment(project, experiment_id)
    arms = selectors.arms_of(experiment)
    context = _progress(experiment_id, arms)
    if not context["going"]:
        if arms:  # compared while the old page still shows, so that the new one is there at once
            report_of(experiment, arms)
        return HttpResponseClientRefresh()
    page = _frame(request, project) | context | {"experiment": experiment}
    return render(request, "agreement/experiment_detail.html#progress", page)


@project_view(Right.VIEW, "GET", "HEAD")
def experiment_debates(
    request: SignedInRequest, project: Project, experiment_id: int
) -> HttpResponse:
    """The debates behind a number, of all arms or of one."""
    experiment = selectors.get_experiment(project, experiment_id)
    every = selectors.arms_of(experiment)
    wanted, kind = request.GET.get("arm", ""), request.GET.get("kind", "wrong")
    arms = [arm for arm in every if not wanted or str(arm.run.pk) == wanted]
    letters = {arm.run.pk: letter_of(place) for place, arm in enumerate(every)}
    if not arms:
        raise NotFound("There is no such arm in this experiment.")
    page = requested_page(request.GET, readings_of(experiment, arms, kind), DEBATES_A_PAGE)
    context = _frame(request, project) | {
        "experiment": experiment,
        "title": KIND_WORDS[kind],
        "kinds": KIND_WORDS.items(),
        "kind": kind,
        "of": (letters[arms[0].run.pk], arms[0]) if wanted else None,
        "page": page,
        "rows": with_texts(list(page), letters),
    }
    return render(request, "agreement/experiment_debates.html", context)


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def experiment_use(
    request: SignedInRequest, project: Project, experiment_id: int, run_id: int
) -> HttpResponse:
    """Show the costs of an arm's set-up on the project's items, or start it."""
    experiment = selectors.get_experiment(project, experiment_id)
    arm = next((arm for arm in selectors.arms_of(experiment) if arm.run.pk == run_id), None)
    if arm is None:
        raise NotFound("There is no arm %(run_id)s in this experiment.", run_id=str(run_id))
    plan = services.plan_of(arm.run, arm.roles)
    form = UseForm(request.POST if request.method == "POST" else request.GET)
    context = _frame(request, project) | {"experiment": experiment, "arm": arm, "form": form}
    if not form.is_valid():
        context |= faults_of(form)
    else:
        narrowed = form.narrowed(plan)
        context |= forecast(project, narrowed)
        if request.method == "POST":
            try:
                run = services.start_run(project=project, actor=request.user, plan=narrowed)
            except LabelhubError as error:
                show_refusal(form, error)
            else:
                tasks.launch_run(run.pk)
                messages.success(
                    request, gettext("Run %(number)s has started.") % {"number": run.pk}
                )
                return redirect("run_detail", project.slug, run.pk)
    # A GET follows the fields as they are filled in: a fault in one is no fault of the request.
    status = 422 if request.method == "POST" else 200
    return render(request, "agreement/experiment_use.html", context, status=status)


def _preview_context(project: Project, form: ExperimentForm) -> dict[str, Any]:
    """The costs of the experiment in the form, or why they are not known."""
    if not form.is_valid():
        return {}
    try:
        arms = form.arms()
        planned = services.preview_experiment(
            project=project, arms=arms, equal_budget_votes=form.cleaned_data["equal_budget"]
        )
    except LabelhubError as error:
        return {"refusal": error.message}
    return expected_width(planned, len(arms))


def _frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    page = project_page(request, project, "experiments")
    return page | {"manages": page["role"] == Role.MANAGER}


def _progress(experiment_id: int, arms: list[selectors.Arm]) -> dict[str, Any]:
    return {
        "experiment_id": experiment_id,
        "arms": arms,
        "going": any(arm.going for arm in arms),
        "held": [arm for arm in arms if arm.run.status in ("paused", "cancelled")],
        "total": sum(arm.total for arm in arms),
        "finished": sum(arm.finished for arm in arms),
    }
