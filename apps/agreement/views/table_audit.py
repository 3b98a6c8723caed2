"""Do the numbers of a published table follow from each other? A page of nobody's project."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.agreement.table_audit import words
from apps.agreement.table_audit.repairing import csv_text, repaired
from apps.agreement.table_audit.reports import Report, reports_of
from apps.agreement.table_audit.showing import (
    groups,
    headline,
    held_against,
    repaired_sheet,
    sheet,
    verdict,
)
from apps.agreement.table_audit.words import TableAuditForm
from apps.common.forms import show_refusal
from labelhub.core.errors import InvalidInput


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def table_audit(request: SignedInRequest) -> HttpResponse:
    """The form, and below it the audit of what was sent with it; ``?sample`` shows one of ours."""
    form, reports = _asked(request)
    if "which" in request.POST and reports:
        return _download(reports, request.POST["which"])
    context = {
        "form": form,
        "results": [_shown(at, report) for at, report in enumerate(reports)],
        "faulty": form.is_bound and not form.is_valid(),
        # Pairs, since a template takes ``.items`` of a mapping for its key of that name.
        "sent": list(form.cleaned_data.items()) if reports else [],
        "can_find": words.CAN_FIND,
        "limits": words.LIMITS,
    }
    part = request.method == "POST" and getattr(request, "htmx", False)
    name = "table_audit_result" if part else "table_audit"
    return render(request, f"agreement/{name}.html", context)


def _asked(request: SignedInRequest) -> tuple[TableAuditForm, list[Report]]:
    if request.method == "POST":
        form = TableAuditForm(request.POST, request.FILES)
    elif "sample" in request.GET:
        form = TableAuditForm({"table": words.SAMPLE})
    else:
        return TableAuditForm(), []
    if not form.is_valid():
        return form, []
    try:
        return form, reports_of(form.asked())
    except InvalidInput as error:
        show_refusal(form, error)
        return form, []


def _shown(at: int, report: Report) -> dict[str, Any]:
    mended = repaired(report.table, report.found)
    changes = len(mended.changed) + bool(mended.renamed)
    return {
        "at": at,
        "report": report,
        "headline": headline(report.found),
        "verdict": verdict(report.found),
        "held": held_against(report.found),
        "sheet": sheet(report.table, report.found),
        "groups": groups(report.found),
        "changes": changes,
        "repaired": repaired_sheet(mended) if changes else None,
        "csv": csv_text(mended) if changes else "",
    }


def _download(reports: Sequence[Report], which: str) -> HttpResponse:
    at = int(which) if which.isdecimal() and len(which) < 5 else 0
    report = reports[min(at, len(reports) - 1)]
    text = csv_text(repaired(report.table, report.found))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="repaired-table.csv"'
    return response
