"""Bulk pages: choose items and action, preview, confirm, watch, undo."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.lists import Column, list_page
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from apps.reviews.bulk.forms import OptionsForm
from apps.reviews.bulk.jobs import plan_job, start_job, undo_job
from apps.reviews.bulk.plan import get_job, jobs_of, preview, reasons_in_words
from apps.reviews.models import BulkJob
from apps.reviews.search.query import Query, read_query
from apps.reviews.search.views import asked_of, query_string
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError

UNEXPECTED_END = 286  # htmx: take the content and stop polling

JOB_COLUMNS = (
    Column(_("What")),
    Column(_("Who")),
    Column(_("When")),
    Column(_("Items"), numeric=True),
    Column(_("State")),
)


@login_required
@require_GET
def bulk_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The options of an action, then exact counts and examples of its effect."""
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "items")
    try:
        query = _query(request.GET)
        context |= _shown(request, project, query)
    except InvalidInput as error:
        context["faults"] = [error.message]
        return render(request, "reviews/bulk_new.html", context, status=422)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context["form"].errors else HTTPStatus.OK
    return render(request, "reviews/bulk_new.html", context, status=status)


def _query(data: QueryDict) -> Query:
    """The search, or the selected items."""
    if "ticked" not in (only := data.getlist("only")) or "all" in only:
        return read_query(asked_of(data))
    ticked = data.getlist("item")
    if not ticked:
        raise InvalidInput.at("items", "No item is selected. Select some, or all results.")
    return Query(items=read_query({"items": ticked}).items)


def _shown(request: SignedInRequest, project: Project, query: Query) -> dict[str, Any]:
    action = request.GET.get("do", "")
    given = "options" in request.GET
    form = OptionsForm(project, action, request.GET if given else None)
    shown: dict[str, Any] = {
        "form": form,
        "query": query,
        "action": action,
        "action_words": dict(BulkJob.Action.choices).get(action, ""),
        "back": query_string(query),
    }
    if form.fields and not given:
        return shown
    try:
        plan = plan_job(
            project, request.user, action=form.action, query=query, options=form.options()
        )
    except InvalidInput as error:
        if not form.take(error):
            raise
        return shown
    return shown | {
        "plan": plan,
        "preview": preview(plan),
        "schema": current_schema(project).parsed,
    }


@login_required
@require_http_methods(["GET", "POST"])
def bulk_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """All jobs, newest first; POST starts one from a confirmed preview."""
    project = get_project(request.user, slug, Right.MANAGE)
    if request.method == "POST":
        # With the frozen values of the preview.
        form = OptionsForm(project, request.POST.get("do", ""), request.POST)
        try:
            plan = plan_job(
                project,
                request.user,
                action=form.action,
                query=read_query(asked_of(request.POST)),
                options=form.options(),
                frozen=request.POST,
            )
            job = start_job(plan)
        except (InvalidInput, Conflict) as error:
            messages.error(request, error.message)
            return redirect("item_list", project.slug)
        return redirect("bulk_detail", project.slug, job.pk)
    jobs = list_page(
        request, jobs_of(project), JOB_COLUMNS, caption=gettext("Bulk edits, newest first")
    )
    context = project_page(request, project, "bulk") | {"list": jobs}
    return render(request, "reviews/bulk_list.html", context)


@login_required
@require_GET
def bulk_detail(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """One job: progress, result and undo."""
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "bulk") | _job(project, job_id)
    context["back"] = query_string(read_query(context["job"].query))
    return render(request, "reviews/bulk_detail.html", context)


@login_required
@require_GET
def bulk_progress(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """The moving part of the page, once a second; the whole page when it has ended."""
    project = get_project(request.user, slug, Right.MANAGE)
    context = {"project": project} | _job(project, job_id)
    if not context["moving"]:
        return HttpResponse(status=UNEXPECTED_END, headers={"HX-Refresh": "true"})
    return render(request, "reviews/bulk_detail.html#progress", context)


@login_required
@require_POST
def bulk_undo(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Undo the job, where nobody has changed the items since."""
    project = get_project(request.user, slug, Right.MANAGE)
    job = get_job(project, job_id)
    try:
        undo_job(job=job, actor=request.user)
    except LabelhubError as error:
        messages.error(request, error.message)
    return redirect("bulk_detail", slug, job_id)


def _job(project: Project, job_id: int) -> dict[str, Any]:
    job = get_job(project, job_id)
    undoing = job.status == BulkJob.Status.UNDOING
    settled = job.counts.get("undone", 0) + job.counts.get("kept", 0)
    counts = {name: n for name, n in job.counts.items() if isinstance(n, int)}
    return {
        "job": job,
        "moving": job.status in BulkJob.UNFINISHED,
        "undoing": undoing,
        "undoable": job.done and job.status in BulkJob.UNDOABLE,
        "passed": reasons_in_words(
            {name: n for name, n in counts.items() if name not in ("undone", "kept")}
        ),
        "settled": settled if undoing else job.done + job.passed_over,
        "of": job.done if undoing else job.total,
    }
