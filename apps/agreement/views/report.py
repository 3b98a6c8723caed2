"""The agreement page, its charts as files, and the items behind its numbers."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import get_language, gettext, override

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.report.charts import CHARTS
from apps.agreement.report.items import (
    ItemSelection,
    answers_by_kind,
    gold_words,
    select_places,
    texts_by_kind,
    withheld_items,
)
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.page import TABS, details, file_context, overview, standalone_page
from apps.agreement.report.services import (
    agreement_report,
    offline_kinds,
    report_at_hand,
    report_turn,
)
from apps.agreement.report.slices import Slice, SliceForm, annotator_title, read_slice
from apps.agreement.report.truths import part_words
from apps.common.charts.files import CONTENT_TYPES, attachment, chart_file
from apps.common.lists import requested_page
from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.projects.pages import project_page, project_view
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.errors import InvalidInput, NotFound

#: With more labels than these the page comes first, and the numbers when they are computed.
MOST_AT_ONCE = 1_000


@project_view(Right.VIEW)
def agreement(request: SignedInRequest, project: Project) -> HttpResponse:
    """The overview of a slice, from the stored report.

    Where none is stored the page answers without numbers and asks for them: ``part=report``.
    """
    form = SliceForm(project, request.GET)
    faulty = not form.is_valid()
    form.offer()
    asked, report = form.slice, None
    if not faulty:
        report = report_at_hand(project, asked, form.schema, request.user)
        labels = Label.objects.filter(annotator__project=project)[: MOST_AT_ONCE + 1]
        if report is None and (
            request.GET.get("part") == "report" or labels.count() <= MOST_AT_ONCE
        ):
            report = agreement_report(project, asked, user=request.user, schema=form.schema)
    frame = project_page(request, project, "agreement")
    frame |= {"form": form, "faulty": faulty, "query": asked.query}
    if report is not None:
        frame |= overview(project, report, asked, request.user)
    if report is not None and "HX-Request" in request.headers:
        return render(request, "agreement/agreement_report.html", frame)
    status = InvalidInput.http_status if faulty else 200
    return render(request, "agreement/agreement.html", frame, status=status)


@project_view(Right.VIEW)
def agreement_detail(request: SignedInRequest, project: Project, tab: str) -> HttpResponse:
    """One tab of the details: the part that the page fetches, or a page of its own."""
    if tab not in TABS:
        raise NotFound("There is no tab '%(tab)s'.", tab=tab[:40])
    asked, schema = read_slice(project, request.GET)
    part = "HX-Request" in request.headers
    context = project_page(request, project, "agreement") | {"tab": tab, "in_page": part}
    report = agreement_report(project, asked, user=request.user, schema=schema)
    context |= details(project, report, asked, tab)
    template = "agreement/agreement_details.html"
    return render(request, f"{template}#panel" if part else template, context)


@project_view(Right.VIEW)
def agreement_figure(
    request: SignedInRequest, project: Project, picture: str, form: str
) -> HttpResponse:
    """One picture as SVG or PNG, or its data as CSV."""
    if picture not in CHARTS or form not in CONTENT_TYPES:
        raise NotFound(
            "There is no picture '%(picture)s.%(form)s'.", picture=picture[:40], form=form[:10]
        )
    asked, schema = read_slice(project, request.GET)
    # Data are English, whoever reads them; a picture speaks the language of its page.
    with override("en" if form == "csv" else get_language()):
        report = agreement_report(project, asked, user=request.user, schema=schema)
        figure = CHARTS[picture](report)
    if figure is None:
        raise NotFound("There is nothing to draw: the numbers for it are missing.")
    answer = HttpResponse(chart_file(figure, form), content_type=CONTENT_TYPES[form])
    answer["Content-Disposition"] = attachment((project.slug, picture), asked.given, form)
    return answer


@project_view(Right.VIEW)
def agreement_file(request: SignedInRequest, project: Project) -> HttpResponse:
    """The whole report as one HTML file to send to a colleague: no script, nothing to load."""
    asked, schema = read_slice(project, request.GET)
    report = agreement_report(project, asked, user=request.user, schema=schema)
    context = file_context(project, report, asked, request.user)
    page = render_to_string("agreement/agreement_file.html", context, request)
    answer = HttpResponse(standalone_page(page))
    answer["Content-Disposition"] = attachment((project.slug, "agreement"), asked.given, "html")
    return answer


PAGE_SIZE = 15
#: Parameter of the address → field of ``ItemSelection``.
PARAMETERS = {
    **{name: name for name in ("of", "other", "by", "about", "cell", "meant")},
    "said": "predicted",
}


@project_view(Right.VIEW)
def agreement_items(request: SignedInRequest, project: Project) -> HttpResponse:
    """A page of them, without those that a reviewer is to audit blind."""
    if not request.GET.get("of"):
        return redirect("agreement", project.slug)
    try:
        asked, schema = read_slice(project, request.GET)
        behind = ItemSelection(
            **{field: request.GET.get(name, "") for name, field in PARAMETERS.items()}
        )
        with report_turn(project.pk):
            sheet = read_label_matrix(project, asked, schema=schema, reader=request.user.pk)
            places = select_places(sheet, behind).tolist()
        hidden = set(withheld_items(project, request.user.pk).values_list("pk", flat=True))
        places = [place for place in places if int(sheet.item_ids[place]) not in hidden]
    except InvalidInput as error:
        context = project_page(request, project, "agreement") | {
            "title": gettext("These items cannot be shown"),
            "fault": error.message,
        }
        return render(request, "agreement/agreement_items.html", context, status=error.http_status)
    page = requested_page(request.GET, places, PAGE_SIZE)
    offline = offline_kinds(sheet)
    context = project_page(request, project, "agreement") | {
        "title": behind.words(offline),
        "offline": offline,
        "part": part_words({"slice": asked.given}, annotator_title(project, asked.annotator)),
        "query": asked.query,
        "page": page,
        "right_in_part": bool(behind.other and behind.by),
        "rows": _rows(project, asked, sheet, list(page), request.user.pk),
    }
    return render(request, "agreement/agreement_items.html", context)


def _rows(
    project: Project, asked: Slice, sheet: LabelMatrix, places: list[int], user_id: int
) -> list[dict[str, Any]]:
    ids = [int(sheet.item_ids[place]) for place in places]
    items = Item.objects.in_bulk(ids)
    written = sheet.task.written
    texts = texts_by_kind(project, asked, sheet, ids, user_id) if written else {}
    return [
        {
            "item": items[key],
            "answers": texts.get(key, ()) if written else answers_by_kind(sheet, place, items[key]),
            "gold": gold_words(sheet, place, items[key]),
        }
        for key, place in zip(ids, places, strict=True)
        if key in items
    ]
