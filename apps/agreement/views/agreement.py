"""Whom can I trust for what? The agreement page, its pictures as files, and the whole as one."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.over_time import agreement_over_time, why_not_over_time
from apps.agreement.reporting import agreement_report, is_stored
from apps.agreement.sheets.slicing import Slice
from apps.agreement.slice_form import SliceForm, compared, read_slice
from apps.agreement.standing.alone import alone
from apps.agreement.standing.charts import CHARTS
from apps.agreement.standing.page import standing_page
from apps.common.charts import Chart
from apps.common.charts.files import CONTENT_TYPES, attachment, chart_file
from apps.labels.models import Label
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from labelhub.core.errors import InvalidInput, NotFound

#: With more labels the page comes first and the numbers when they are there.
MOST_AT_ONCE = 60_000
OVER_TIME = "over-time"


@login_required
@require_GET
def agreement(request: SignedInRequest, slug: str) -> HttpResponse:
    """Sentences, pictures and tables of a slice; ``part=report`` is what comes later."""
    project = get_project(request.user, slug, Right.VIEW)
    frame = project_page(request, project, "agreement")
    if request.GET.get("part") == "report":
        frame |= _measured(request, project, read_slice(project, request.GET))
        return render(request, "agreement/agreement_report.html", frame)
    form = SliceForm(project, request.GET)
    faulty = not form.is_valid()
    form.offer()
    many = _has_many_labels(project)
    frame |= {"form": form, "faulty": faulty, "query": form.slice.query}
    frame["suggested"] = [] if many else form.busiest()
    if faulty:
        return render(request, "agreement/agreement.html", frame, status=InvalidInput.http_status)
    if many and not is_stored(project, form.slice):
        frame |= {"later": True}
    else:
        frame |= _measured(request, project, form.slice)
        if many:
            frame["suggested"] = compared(frame["report"])
    return render(request, "agreement/agreement.html", frame)


@login_required
@require_GET
def agreement_over_time_part(request: SignedInRequest, slug: str) -> HttpResponse:
    """The picture over time, which is read period by period: fetched when the page is there."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(project, request.GET)
    figure = _over_time(project, asked)
    context = {"project": project, "figure": figure, "query": asked.query}
    if figure is None:
        context |= {"why_not": why_not_over_time(project, asked)}
    return render(request, "agreement/agreement_over_time.html", context)


@login_required
@require_GET
def agreement_figure(request: SignedInRequest, slug: str, picture: str, form: str) -> HttpResponse:
    """One picture as SVG or PNG, or its data as CSV."""
    project = get_project(request.user, slug, Right.VIEW)
    if picture not in (*CHARTS, OVER_TIME) or form not in CONTENT_TYPES:
        raise NotFound(f"There is no picture '{picture[:40]}.{form[:10]}'.")
    asked = read_slice(project, request.GET)
    if picture == OVER_TIME:
        figure = _over_time(project, asked)
    else:
        figure = CHARTS[picture](agreement_report(project, asked, user=request.user))
    if figure is None:
        raise NotFound("There is nothing to draw: the numbers for it are missing.")
    answer = HttpResponse(chart_file(figure, form), content_type=CONTENT_TYPES[form])
    answer["Content-Disposition"] = attachment((slug, picture), asked.given, form)
    return answer


@login_required
@require_GET
def agreement_annotators(request: SignedInRequest, slug: str) -> HttpResponse:
    """Annotator by annotator: a large picture, fetched when somebody scrolls there."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(project, request.GET)
    figure = CHARTS["annotators"](agreement_report(project, asked, user=request.user))
    context = {"project": project, "figure": figure, "query": asked.query}
    return render(request, "agreement/agreement_annotators.html", context)


@login_required
@require_GET
def agreement_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """The whole report as one HTML file to send to a colleague: no script, nothing to load."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(project, request.GET)
    report = agreement_report(project, asked, user=request.user)
    context = standing_page(project, report) | {"project": project, "alone": True}
    page = render_to_string("agreement/agreement_file.html", context, request)
    answer = HttpResponse(alone(page))
    answer["Content-Disposition"] = attachment((slug, "agreement"), asked.given, "html")
    return answer


def _measured(request: SignedInRequest, project: Project, asked: Slice) -> dict[str, Any]:
    """Context of everything that the one report of a slice says."""
    report = agreement_report(project, asked, user=request.user)
    context = standing_page(project, report) | {"asked": asked, "query": asked.query}
    if asked.given and not is_stored(project, asked):
        # What is not kept would be computed a second time for the part that is fetched later.
        context["annotators"] = CHARTS["annotators"](report)
    return context


def _over_time(project: Project, asked: Slice) -> Chart | None:
    return agreement_over_time(project, asked, current_schema(project).task)


def _has_many_labels(project: Project) -> bool:
    labels = Label.objects.filter(annotator__project=project)
    return labels[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE
