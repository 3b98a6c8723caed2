"""Whom can I trust for what? The agreement page, its pictures as files, and the whole as one."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.figures.download import CONTENT_TYPES, content
from apps.agreement.over_time import agreement_over_time
from apps.agreement.reporting import agreement_report, is_stored
from apps.agreement.sheets.slicing import Slice
from apps.agreement.standing.alone import alone
from apps.agreement.standing.page import slice_choices, standing_page
from apps.agreement.standing.pictures import PICTURES
from apps.labels.models import Label
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from labelhub.core.errors import InvalidInput, NotFound

#: With more labels the page comes first and the numbers when they are there.
MOST_AT_ONCE = 60_000
NUMBERS = ("annotator", "run", "replicate")
DAYS = ("since", "until")


@login_required
@require_GET
def agreement(request: SignedInRequest, slug: str) -> HttpResponse:
    """Sentences, pictures and tables of a slice; ``part=report`` is what comes later."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(request.GET)
    frame = project_page(request, project, "agreement") | {
        "asked": asked,
        "choices": slice_choices(project),
        "query": asked.query,
    }
    later = request.GET.get("part") == "report"
    if not later and _takes_long(project, asked):
        return render(request, "agreement/agreement.html", frame | {"later": True})
    context = frame | standing_page(project, agreement_report(project, asked, user=request.user))
    template = "agreement/agreement_report.html" if later else "agreement/agreement.html"
    return render(request, template, context)


@login_required
@require_GET
def agreement_over_time_part(request: SignedInRequest, slug: str) -> HttpResponse:
    """The picture over time, which is read period by period: fetched when the page is there."""
    project = get_project(request.user, slug, Right.VIEW)
    task = str(current_schema(project).parsed.task)
    figure = agreement_over_time(project, read_slice(request.GET), task)
    return render(request, "agreement/agreement_over_time.html", {"figure": figure})


@login_required
@require_GET
def agreement_figure(request: SignedInRequest, slug: str, picture: str, form: str) -> HttpResponse:
    """One picture as SVG or PNG, or its data as CSV."""
    project = get_project(request.user, slug, Right.VIEW)
    draw = PICTURES.get(picture)
    if draw is None or form not in CONTENT_TYPES:
        raise NotFound(f"There is no picture '{picture[:40]}.{form[:10]}'.")
    figure = draw(agreement_report(project, read_slice(request.GET), user=request.user))
    if figure is None:
        raise NotFound("There is nothing to draw: the numbers for it are missing.")
    answer = HttpResponse(content(figure, form), content_type=CONTENT_TYPES[form])
    answer["Content-Disposition"] = f'attachment; filename="{slug}-{picture}.{form}"'
    return answer


@login_required
@require_GET
def agreement_annotators(request: SignedInRequest, slug: str) -> HttpResponse:
    """Annotator by annotator: a large picture, fetched when somebody scrolls there."""
    project = get_project(request.user, slug, Right.VIEW)
    asked = read_slice(request.GET)
    figure = PICTURES["annotators"](agreement_report(project, asked, user=request.user))
    context = {"project": project, "figure": figure, "query": asked.query}
    return render(request, "agreement/agreement_annotators.html", context)


@login_required
@require_GET
def agreement_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """The whole report as one HTML file to send to a colleague: no script, nothing to load."""
    project = get_project(request.user, slug, Right.VIEW)
    report = agreement_report(project, read_slice(request.GET), user=request.user)
    context = standing_page(project, report) | {"project": project, "alone": True}
    page = render_to_string("agreement/agreement_file.html", context, request)
    answer = HttpResponse(alone(page))
    answer["Content-Disposition"] = f'attachment; filename="{slug}-agreement.html"'
    return answer


def read_slice(given: Mapping[str, str]) -> Slice:
    """The slice that an address means.

    Raises:
        InvalidInput: a number that is none, or a day that is none.
    """
    numbers = {name: _number(name, given[name]) for name in NUMBERS if given.get(name)}
    days = {name: _day(name, given[name]) for name in DAYS if given.get(name)}
    words = {name: given[name] for name in ("kind", "label", "tag") if given.get(name)}
    values: dict[str, Any] = {**numbers, **days, **words}
    return Slice(**values)


def _takes_long(project: Project, asked: Slice) -> bool:
    many = Label.objects.filter(annotator__project=project)[: MOST_AT_ONCE + 1].count()
    return many > MOST_AT_ONCE and not is_stored(project, asked)


def _number(name: str, raw: str) -> int:
    if not (raw.isascii() and raw.isdecimal()) or len(raw) > 9:
        raise InvalidInput(f"{name}: must be a number, not '{raw[:40]}'.")
    return int(raw)


def _day(name: str, raw: str) -> date:
    try:
        return date.fromisoformat(raw)
    except ValueError:
        raise InvalidInput(f"{name}: '{raw[:40]}' is no day, such as 2026-11-01.") from None
