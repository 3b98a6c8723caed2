"""Pages of imports (upload, columns, progress, result) and of the export."""

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.common.forms import show_refusal
from apps.exchange import readers
from apps.exchange.downloads import export_response
from apps.exchange.exporters import export_filters
from apps.exchange.forms import (
    EVERYTHING,
    ColumnsForm,
    ExportForm,
    UnknownLabelsForm,
    UploadForm,
    chosen_part,
)
from apps.exchange.saved.services import save_export
from apps.exchange.saved.views import saved_context
from apps.exchange.selectors import (
    export_counts,
    import_of,
    notes_of,
    preview_batch,
    recent_imports,
)
from apps.exchange.services.imports import cancel_upload, queue_import, receive_upload, store_upload
from apps.llm.selectors import list_models
from apps.projects.models import ImportBatch, Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project, role_in
from apps.reviews.queue.forms import read_id
from apps.reviews.queue.selectors import check_download, download_refusal
from labelhub.core.errors import InvalidInput, LabelhubError, Unavailable

MOVING = (ImportBatch.Status.QUEUED, ImportBatch.Status.RUNNING)
SHOWN_FAULTS = 50
STOP_POLLING = 286  # of htmx

PYTHON_EXAMPLE = """\
from labelhub_client import Client

project = Client("{server}", "YOUR KEY").project("{slug}")
frame = project.export().to_dataframe(per="label")
"""
REST_EXAMPLE = """\
curl -H "Authorization: Token YOUR_KEY" "{server}api/v1/projects/{slug}/items/"
"""


@login_required
@require_http_methods(["GET", "POST"])
def import_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Upload a file; its first rows are read at once."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            batch = _receive(project, request.user, form.cleaned_data["file"])
        except InvalidInput as error:
            form.add_error("file", error.message)
        else:
            return redirect("import_detail", slug, batch.pk)
    context = {
        **project_page(request, project, "import"),
        "form": form,
        "formats": readers.FORMATS.values(),
        "imports": recent_imports(project),
        "schema": current_schema(project).parsed,
    }
    status = 422 if form.errors else 200
    return render(request, "exchange/import_create.html", context, status=status)


def _receive(project: Project, actor: User, upload: UploadedFile) -> ImportBatch:
    path = store_upload(upload.chunks())
    batch = receive_upload(
        project=project,
        actor=actor,
        path=path,
        file_name=upload.name or "",
        content_type=upload.content_type or "",
    )
    try:
        preview_batch(batch)
    except InvalidInput:
        cancel_upload(batch)
        raise
    except Unavailable:
        pass  # the page of the upload tries again, without another upload
    return batch


@login_required
@require_http_methods(["GET", "POST"])
def import_detail(request: SignedInRequest, slug: str, batch_id: int) -> HttpResponse:
    """One import: its columns, then its progress, then its result."""
    project = get_project(request.user, slug, Right.MANAGE)
    batch = import_of(project, batch_id)
    context = {**project_page(request, project, "import"), "batch": batch}
    if batch.status == ImportBatch.Status.UPLOADED:
        return _choose_columns(request, batch, context)
    if batch.status in MOVING:
        return render(request, "exchange/import_progress.html", context | _progress(request, batch))
    return render(request, "exchange/import_result.html", context | _result(batch, project))


def _choose_columns(
    request: SignedInRequest, batch: ImportBatch, context: dict[str, Any]
) -> HttpResponse:
    """The columns, and the values that are no labels; ``again``: read with other columns."""
    project, data = context["project"], request.POST or None
    head = preview_batch(batch)
    form = ColumnsForm(head, data)
    if (sent := form.sent_columns()) is not None:
        head = preview_batch(batch, sent)
    again = "again" in request.POST
    schema = current_schema(project).parsed
    # Another choice of columns has other values, so that the choices for the old ones are void.
    unknown = UnknownLabelsForm(head.unknown, schema, None if again else data)
    if data and not again and form.is_valid() and unknown.is_valid():
        new_labels, label_map = unknown.choices()
        policy = ImportBatch.UnknownLabels
        try:
            queue_import(
                batch,
                columns=form.columns(),
                strict=form.cleaned_data["strict"],
                unknown_labels=policy.IGNORE if unknown.cleaned_data["others"] else policy.REFUSE,
                label_map=label_map,
                new_labels=new_labels,
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            return redirect("import_detail", project.slug, batch.pk)
    context |= {"head": head, "form": form, "unknown": unknown, "schema": schema}
    status = 422 if data and not again else 200
    return render(request, "exchange/import_columns.html", context, status=status)


@login_required
@require_GET
def import_progress(request: SignedInRequest, slug: str, batch_id: int) -> HttpResponse:
    """The progress, once a second; at the end the page is reloaded."""
    project = get_project(request.user, slug, Right.MANAGE)
    batch = import_of(project, batch_id)
    if batch.status not in MOVING:
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    context = {"project": project, "batch": batch} | _progress(request, batch)
    return render(request, "exchange/import_progress.html#progress", context)


def _progress(request: SignedInRequest, batch: ImportBatch) -> dict[str, Any]:
    """Percent and time left, from the speed since this page was opened."""
    now, done = time.time(), batch.bytes_done
    since, first = _number(request, "since", now), _number(request, "first", done)
    speed = (done - first) / (now - since) if now > since else 0
    left = (batch.bytes_total - done) / speed if speed > 0 else None
    return {"since": since, "first": first, "seconds_left": left}


def _number(request: SignedInRequest, name: str, default: float) -> float:
    try:
        return float(request.GET.get(name, default))
    except ValueError:
        return default


def _result(batch: ImportBatch, project: Project) -> dict[str, Any]:
    errors, conflicts = (notes_of(batch.errors, kind) for kind in ("error", "conflict"))
    if batch.unknown:
        errors = errors[1:]  # their summary, which the page shows as a list
    # A model that is set up and was not used yet saves people work.
    waits = not project.runs.exists() and not all(model.offline for model in list_models(project))
    return {
        "failed": batch.status == ImportBatch.Status.FAILED,
        "remarks": notes_of(batch.errors, "remark"),
        "unknown": sorted(batch.unknown.get("values", {}).items(), key=lambda pair: -pair[1]),
        "tables": [
            (
                gettext("Rows with faults"),
                group_faults(errors),
                batch.failed - batch.unknown.get("rows", 0),
            ),
            (gettext("Rows in conflict"), group_faults(conflicts), batch.conflicts),
        ],
        "next": "run" if waits else "review",
    }


def group_faults(faults: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The faults by kind, the most frequent first: those of a kind differ only in quoted values,
    numbers and places."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for fault in faults:
        field = re.sub(r"\[\d+\]", "", fault["field"])
        words = re.sub(r"'[^']*'|\d[\d,.]*", "…", fault["message"])
        groups.setdefault((field, words), []).append(fault)
    kinds = sorted(groups.items(), key=lambda pair: -len(pair[1]))
    return [
        {
            "field": field,
            "message": found[0]["message"],
            "rows": found[:SHOWN_FAULTS],
            "count": len(found),
        }
        for (field, _), found in kinds
    ]


@login_required
@require_http_methods(["GET", "POST"])
def export_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """The choice of a file, and the saved exports; a manager's POST downloads or saves the file."""
    saves = request.method == "POST"
    project = get_project(request.user, slug, Right.MANAGE if saves else Right.VIEW)
    manages = role_in(request.user, project) == Role.MANAGER
    form = ExportForm(
        project,
        request.POST if saves else None,
        manages=manages,
        initial={"only": chosen_part(request.GET) or EVERYTHING},
    )
    if saves and form.is_valid():
        if not form.cleaned_data["keep"]:
            asked = {name: value for name, value in form.cleaned_data.items() if value}
            return redirect(f"{reverse('export_download', args=[slug])}?{urlencode(asked)}")
        try:
            save_export(
                project=project,
                actor=request.user,
                format_name=form.cleaned_data["format"],
                filters=form.filters(project),
            )
        except LabelhubError as error:
            form.add_error(None, error.message)
        else:
            return redirect(f"{reverse('export_page', args=[slug])}#saved")
    context = {
        **project_page(request, project, "export"),
        **saved_context(project),
        "form": form,
        "counts": export_counts(project),
        "withheld": download_refusal(request.user, project),
    }
    status = 422 if form.errors else 200
    return render(request, "exchange/export_page.html", context, status=status)


@login_required
@require_GET
def project_api(request: SignedInRequest, slug: str) -> HttpResponse:
    """How programs reach the project."""
    project = get_project(request.user, slug, Right.VIEW)
    server = request.build_absolute_uri("/")
    context = project_page(request, project, "api") | {
        "server": server,
        "python": PYTHON_EXAMPLE.format(server=server, slug=project.slug),
        "rest": REST_EXAMPLE.format(server=server, slug=project.slug),
    }
    return render(request, "exchange/project_api.html", context)


@login_required
@require_GET
def export_download(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    check_download(request.user, project)
    chosen = read_id(request.GET, "filter") if request.GET.get("filter") else None
    return export_response(
        project,
        format_name=request.GET.get("format", "jsonl"),
        filters=export_filters(project, only=chosen_part(request.GET), filter_id=chosen),
    )
