"""Pages of saved exports: list, download, verify and delete."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.audit import Action, record
from apps.exchange.models import SavedExport
from apps.exchange.saved.files import FileDigest, checksum, read_file
from apps.exchange.saved.services import (
    delete_export,
    readable_export,
    ready_export,
    saved_export,
    saved_exports,
    saved_format,
)
from apps.projects.models import Project
from apps.projects.selectors import get_project, role_in
from apps.reviews.queue.selectors import check_download
from labelhub.core.errors import Conflict

#: How many exports the page shows, the newest first.
SHOWN = 10


def saved_context(project: Project) -> dict[str, Any]:
    saved = list(saved_exports(project)[:SHOWN])
    return {"saved": saved, "moving": any(export.moving for export in saved)}


@login_required
@require_safe
def saved_list(request: SignedInRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    if not request.headers.get("HX-Request"):
        return redirect(f"{reverse('export_page', args=[slug])}#saved")
    role = role_in(request.user, project)
    context = {"project": project, "role": role} | saved_context(project)
    return render(request, "exchange/export_page.html#exports", context)


@login_required
@require_safe
def saved_file(request: SignedInRequest, slug: str, export_id: int) -> StreamingHttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    check_download(request.user, project)
    return file_response(readable_export(request.user, project, export_id))


@login_required
@require_safe
def saved_manifest(request: SignedInRequest, slug: str, export_id: int) -> HttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    return manifest_response(ready_export(project, export_id))


@login_required
@require_POST
def saved_verify(request: SignedInRequest, slug: str, export_id: int) -> HttpResponse:
    export = ready_export(get_project(request.user, slug, Right.VIEW), export_id)
    found = checksum(export.stored_name)
    if found == FileDigest(export.size, export.sha256):
        words = gettext("%(file)s is unchanged: %(checksum)s")
        given = {"file": export.file_name, "checksum": found.sha256}
        messages.success(request, words % given)
    else:
        words = gettext("%(file)s was changed or lost; save the export again.")
        messages.error(request, words % {"file": export.file_name})
    return redirect("export_page", slug)


@login_required
@require_POST
def saved_delete(request: SignedInRequest, slug: str, export_id: int) -> HttpResponse:
    project = get_project(request.user, slug, Right.MANAGE)
    export = saved_export(project, export_id)
    delete_export(export=export)
    messages.success(request, gettext("%(file)s was deleted.") % {"file": export.file_name})
    return redirect("export_page", slug)


def file_response(export: SavedExport) -> StreamingHttpResponse:
    """The stored file as a download; Conflict if it was removed from the disk."""
    try:
        pieces = read_file(export.stored_name)
    except FileNotFoundError:
        raise Conflict("The file is gone from the server's disk; save the export again.") from None
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, export)
    content_type = saved_format(export.format).content_type
    headers = {
        "Content-Disposition": f'attachment; filename="{export.file_name}"',
        "Content-Length": str(export.size),
    }
    return StreamingHttpResponse(pieces, content_type=content_type, headers=headers)


def manifest_response(export: SavedExport) -> HttpResponse:
    name = f"{export.file_name}.manifest.json"
    shown = {"ensure_ascii": False, "indent": 2}
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(export.manifest, json_dumps_params=shown, headers=headers)
