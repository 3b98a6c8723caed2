"""The items behind a number of the agreement page, with what each kind says of them."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.naming import annotator_called
from apps.agreement.reporting import offline_kinds
from apps.agreement.sheets.reading import read_sheet
from apps.agreement.sheets.slicing import Slice
from apps.agreement.sheets.wordings import Answers, texts_said
from apps.agreement.slice_form import read_slice
from apps.agreement.standing.behind import Behind, answers, gold_words, places_behind
from apps.agreement.standing.part import part_words
from apps.agreement.turns import turn
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.projects.models import Item, Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.errors import InvalidInput

PAGE_SIZE = 50
NAMES = ("of", "other", "by", "about", "cell", "said", "meant")


@login_required
@require_GET
def agreement_items(request: SignedInRequest, slug: str) -> HttpResponse:
    """A page of them, without those that a reviewer is to audit blind."""
    project = get_project(request.user, slug, Right.VIEW)
    if not request.GET.get("of"):
        return redirect("agreement", slug)
    try:
        asked = read_slice(project, request.GET)
        behind = Behind(**{name: request.GET.get(name, "") for name in NAMES})
        with turn(project.pk):
            sheet = read_sheet(project, asked, reader=request.user.pk)
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


def _shown(project: Project, user_id: int, sheet: Sheet, places: list[int]) -> list[int]:
    """As on the item's own page: who is yet to answer it does not learn what others say."""
    said = opinions_hidden_from(user_id) & Q(state__labels_by_people__gt=0)
    withheld = Item.objects.filter(hidden_from(user_id) | said, project=project)
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
    request: SignedInRequest, project: Project, asked: Slice, sheet: Sheet, places: list[int]
) -> Mapping[int, Answers] | None:
    """Item → its free texts; None where answers are none."""
    if not sheet.task.written:
        return None
    ids = [int(sheet.item_ids[place]) for place in places]
    return texts_said(project, asked, sheet, ids, request.user.pk)


def _rows(
    sheet: Sheet, places: list[int], texts: Mapping[int, Answers] | None
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
