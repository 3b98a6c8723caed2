"""Exports as streamed responses."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.http import StreamingHttpResponse

from apps.common.audit import Action, record
from apps.exchange.exporters import export_format, export_pieces, file_name
from apps.projects.models import Project


def export_response(
    project: Project, *, format_name: str, filters: Mapping[str, Any]
) -> StreamingHttpResponse:
    """The export as a download.

    Raises:
        InvalidInput: an unknown format, or filters that cannot be used.
    """
    wanted = export_format(format_name)
    pieces = export_pieces(project, wanted, filters=filters)
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, project, changes={"format": (None, format_name)})
    response = StreamingHttpResponse(pieces, content_type=wanted.content_type)
    name = file_name(project, wanted, filters=filters)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
