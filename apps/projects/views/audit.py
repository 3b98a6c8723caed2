"""The audit log: the whole one for operators, a project's for its managers; also as CSV."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.audit import Action, address_of, record
from apps.common.lists import ROWS_AT_ONCE, Column, list_file, list_page
from apps.common.models import AuditEntry
from apps.projects.audit_log import (
    COLUMNS,
    OPERATOR_COLUMNS,
    AuditFilter,
    action_label,
    all_entries,
    change_words,
    entries_of,
)
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view

PAGE_SIZE = 30


@login_required
@require_safe
def audit_log(request: SignedInRequest) -> HttpResponseBase:
    """What was done on this server, newest first."""
    entries = all_entries(request.user)
    if "csv" in request.GET:
        return _file(request, entries, OPERATOR_COLUMNS)
    context = {"list": _list(request, entries, with_address=True)}
    return render(request, "projects/audit_log.html", context)


@project_view(Right.MANAGE, "GET", "HEAD")
def project_audit(request: SignedInRequest, project: Project) -> HttpResponseBase:
    """What was done in the project, newest first."""
    if "csv" in request.GET:
        return _file(request, entries_of(project), COLUMNS, project)
    shown = _list(request, entries_of(project))
    context = project_page(request, project, "audit") | {"list": shown}
    return render(request, "projects/project_audit.html", context)


def _list(
    request: SignedInRequest, entries: QuerySet[AuditEntry], *, with_address: bool = False
) -> Any:
    filters = AuditFilter(request.GET, entries)

    def rows(page: Sequence[AuditEntry]) -> list[dict[str, Any]]:
        return [
            {
                "entry": entry,
                "action": action_label(entry),
                "changes": change_words(entry),
                "address": address_of(entry) if with_address else "",
            }
            for entry in page
        ]

    return list_page(
        request,
        filters.qs,
        COLUMNS,
        caption=gettext("What was done, newest first"),
        size=PAGE_SIZE,
        rows=rows,
        filters=filters,
        file_url=f"{filters.query or '?'}&csv=",
    )


def _file(
    request: SignedInRequest,
    entries: QuerySet[AuditEntry],
    columns: Sequence[Column],
    project: Project | None = None,
) -> HttpResponseBase:
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, project, changes={"format": (None, "csv")})
    rows = AuditFilter(request.GET, entries).qs.iterator(chunk_size=ROWS_AT_ONCE)
    return list_file(rows, columns, f"{project.slug}-audit" if project else "audit")
