"""Exports as HTTP responses, sent while they are read."""

from django.http import StreamingHttpResponse

from apps.exchange.exporters import export_format, export_pieces, file_name
from apps.projects.models import Project


def export_response(project: Project, *, format_name: str, only: str = "") -> StreamingHttpResponse:
    """The export as a download.

    Raises:
        InvalidInput: an unknown format or ``only``.
    """
    wanted = export_format(format_name)
    pieces = export_pieces(project, wanted, only=only)
    response = StreamingHttpResponse(pieces, content_type=wanted.content_type)
    name = file_name(project, wanted, only=only)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Accel-Buffering"] = "no"
    return response
