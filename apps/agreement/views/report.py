"""Whom can I trust for what? The agreement page, its pictures as files, and the items behind it."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.report.charts import CHARTS
from apps.agreement.report.items import (
    Answers,
    Behind,
    answers,
    gold_words,
    places_behind,
    texts_said,
)
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.over_time import agreement_over_time, why_not_over_time
from apps.agreement.report.page import alone, report_page
from apps.agreement.report.services import agreement_report, is_stored, offline_kinds, turn
from apps.agreement.report.slices import Slice, SliceForm, annotator_called, compared, read_slice
from apps.agreement.report.truths import part_words
from apps.common.charts import Chart
from apps.common.charts.files import CONTENT_TYPES, attachment, chart_file
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
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
    return render(request, "agreement/agreement_report.html#over_time", context)


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
    return render(request, "agreement/agreement_report.html#annotators", context)


@login_required
@require_GET
def agreement_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """The whole report as one HTML file to send to a colleague: no script, nothing to load."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(project, request.GET)
    report = agreement_report(project, asked, user=request.user)
    context = report_page(project, report) | {"project": project, "alone": True}
    page = render_to_string("agreement/agreement_file.html", context, request)
    answer = HttpResponse(alone(page))
    answer["Content-Disposition"] = attachment((slug, "agreement"), asked.given, "html")
    return answer


def _measured(request: SignedInRequest, project: Project, asked: Slice) -> dict[str, Any]:
    """Context of everything that the one report of a slice says."""
    report = agreement_report(project, asked, user=request.user)
    context = report_page(project, report) | {"asked": asked, "query": asked.query}
    if asked.given and not is_stored(project, asked):
        # What is not kept would be computed a second time for the part that is fetched later.
        context["annotators"] = CHARTS["annotators"](report)
    return context


def _over_time(project: Project, asked: Slice) -> Chart | None:
    return agreement_over_time(project, asked, current_schema(project).task)


def _has_many_labels(project: Project) -> bool:
    labels = Label.objects.filter(annotator__project=project)
    return labels[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE


PAGE_SIZE = 50
#: Parameter of the address → field of ``Behind``.
PARAMETERS = {
    **{name: name for name in ("of", "other", "by", "about", "cell", "meant")},
    "said": "predicted",
}


@login_required
@require_GET
def agreement_items(request: SignedInRequest, slug: str) -> HttpResponse:
    """A page of them, without those that a reviewer is to audit blind."""
    project = get_project(request.user, slug, Right.VIEW)
    if not request.GET.get("of"):
        return redirect("agreement", slug)
    try:
        asked = read_slice(project, request.GET)
        behind = Behind(**{field: request.GET.get(name, "") for name, field in PARAMETERS.items()})
        with turn(project.pk):
            sheet = read_label_matrix(project, asked, reader=request.user.pk)
            places = places_behind(sheet, behind).tolist()
        places = _shown(project, request.user.pk, sheet, places)
    except InvalidInput as error:
        return _refused(request, project, error)
    page = Paginator(places, PAGE_SIZE).get_page(request.GET.get("page"))
    offline = offline_kinds(sheet)
    words = behind.words(offline)
    context = project_page(request, project, "agreement") | {
        "title": f"{words[:1].upper()}{words[1:]}",
        "offline": offline,
        "part": part_words({"slice": asked.given}, annotator_called(project, asked.annotator)),
        "query": asked.query,
        "page": page,
        "by_lot": bool(behind.other and behind.by),
        "rows": _rows(sheet, list(page), _texts(request, project, asked, sheet, list(page))),
    }
    return render(request, "agreement/agreement_items.html", context)


def _shown(project: Project, user_id: int, sheet: LabelMatrix, places: list[int]) -> list[int]:
    """As on the item's own page: who is yet to answer it does not learn what others say."""
    answered = opinions_hidden_from(user_id) & Q(state__labels_by_people__gt=0)
    withheld = Item.objects.filter(hidden_from(user_id) | answered, project=project)
    hidden = set(withheld.values_list("pk", flat=True))
    return [place for place in places if int(sheet.item_ids[place]) not in hidden]


def _refused(request: SignedInRequest, project: Project, error: InvalidInput) -> HttpResponse:
    """Why there are none, and the way back to the page that led here."""
    context = project_page(request, project, "agreement") | {
        "title": "These items cannot be told",
        "fault": error.message,
    }
    return render(request, "agreement/agreement_items.html", context, status=error.http_status)


def _texts(
    request: SignedInRequest, project: Project, asked: Slice, sheet: LabelMatrix, places: list[int]
) -> Mapping[int, Answers] | None:
    """Item → its free texts; None where answers are none."""
    if not sheet.task.written:
        return None
    ids = [int(sheet.item_ids[place]) for place in places]
    return texts_said(project, asked, sheet, ids, request.user.pk)


def _rows(
    sheet: LabelMatrix, places: list[int], texts: Mapping[int, Answers] | None
) -> list[dict[str, Any]]:
    ids = [int(sheet.item_ids[place]) for place in places]
    items = Item.objects.in_bulk(ids)
    return [
        {
            "item": items[key],
            "answers": answers(sheet, place, items[key]) if texts is None else texts.get(key, ()),
            "gold": gold_words(sheet, place, items[key]),
        }
        for key, place in zip(ids, places, strict=True)
        if key in items
    ]
