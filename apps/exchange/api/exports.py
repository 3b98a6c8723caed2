"""REST: exports, streamed or saved with a manifest."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.negotiation import OneRenderer
from apps.exchange.archive.export import ARCHIVE
from apps.exchange.downloads import export_response
from apps.exchange.exporters import FORMATS, Filters, export_filters, next_cursor
from apps.exchange.models import SavedExport
from apps.exchange.saved.files import checksum
from apps.exchange.saved.services import (
    delete_export,
    readable_export,
    ready_export,
    save_export,
    saved_export,
    saved_exports,
)
from apps.exchange.saved.views import file_response, manifest_response
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from apps.reviews.queue.selectors import check_download
from apps.reviews.search.query import MOST_ID

#: An exported file in the OpenAPI document, in the content types of all formats.
EXPORT_FILE = {
    (200, content_type): OpenApiTypes.ANY
    if content_type == "application/json"
    else OpenApiTypes.BINARY
    for content_type in sorted({made.content_type.partition(";")[0] for made in FORMATS.values()})
}


class ExportQuerySerializer(serializers.Serializer[Any]):
    """The format and the filter of an export."""

    format = serializers.ChoiceField(choices=list(FORMATS), default="jsonl")
    only = serializers.ChoiceField(choices=["gold"], required=False)
    filter = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_ID, help_text="The id of a saved filter."
    )
    since = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Only items that came or changed after this cursor, or whose labels or gold did: "
        "`since` of an earlier saved export, the `LabelHub-Since` header of another one, or `0`. "
        "Items that were deleted are in `item-changes/`.",
    )


class SavedQuerySerializer(ExportQuerySerializer):
    """Also the format that is only saved."""

    format = serializers.ChoiceField(
        choices=[*FORMATS, ARCHIVE.name],
        default="jsonl",
        help_text="`archive`: the whole project, for another LabelHub; only managers download it.",
    )


def _split(project: Project, asked: Mapping[str, Any]) -> tuple[str, Filters]:
    """The format, and the filters."""
    filters = export_filters(
        project,
        only=asked.get("only", ""),
        filter_id=asked.get("filter"),
        since=asked.get("since"),
    )
    return asked["format"], filters


class SavedExportSerializer(serializers.ModelSerializer[SavedExport]):
    """One saved export; ``manifest`` is empty until it is done."""

    only = serializers.CharField(source="filters.only", default="", read_only=True)
    filter = serializers.CharField(
        source="filters.filter", default="", read_only=True, help_text="The saved filter's name."
    )
    since = serializers.CharField(
        source="manifest.since", default="", read_only=True, help_text="For the next export."
    )
    bytes = serializers.IntegerField(source="size", read_only=True)
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, read_only=True
    )

    class Meta:
        model = SavedExport
        fields = (
            "id", "status", "message", "format", "only", "filter", "since", "file_name", "bytes",
            "sha256", "items_done", "items_total", "created_by", "created_at", "finished_at",
            "manifest",
        )  # fmt: skip
        read_only_fields = fields


class VerifiedSerializer(serializers.Serializer[Any]):
    """The stored file now; null if it is gone."""

    ok = serializers.BooleanField(help_text="Whether it is unchanged.")
    sha256 = serializers.CharField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)
    expected_sha256 = serializers.CharField()
    expected_bytes = serializers.IntegerField()


class ExportViewSet(ProjectViewSet):
    """Items with their labels and gold."""

    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="project_export", parameters=[ExportQuerySerializer], responses=EXPORT_FILE
    )
    def retrieve(self, request: SignedInApiRequest, **_: str) -> StreamingHttpResponse:
        """Export the project.

        The whole file, streamed in the order of the items. The header ``LabelHub-Since`` is the
        cursor with which the next export has only what is new or changed: each such item with all
        its labels, to replace what you have of it. No change is left out; one made while you read
        may come twice.
        """
        check_download(request.user, self.project)
        format_name, filters = _split(self.project, self.read_query(ExportQuerySerializer))
        cursor = next_cursor(self.project, filters)
        response = export_response(self.project, format_name=format_name, filters=filters)
        response["LabelHub-Since"] = cursor
        return response


class SavedExportViewSet(ProjectViewSet):
    """The saved exports of a project."""

    lookup_url_kwarg = "export_id"
    serializer_class = SavedExportSerializer

    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List saved exports.

        Newest first.
        """
        return self.list_page(saved_exports(self.project))

    @extend_schema(request=SavedQuerySerializer, responses={202: SavedExportSerializer})
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Save an export.

        A worker writes it; poll it until ``status`` is ``done``, then download its file. ``since``
        is then the cursor with which the next export has only what is new or changed. When an
        author's data is deleted later, it becomes ``stale`` and its file is deleted.
        """
        format_name, filters = _split(self.project, self.read_body(SavedQuerySerializer))
        export = save_export(
            project=self.project, actor=request.user, format_name=format_name, filters=filters
        )
        return Response(self.get_serializer(export).data, status=status.HTTP_202_ACCEPTED)

    def retrieve(self, request: SignedInApiRequest, export_id: int, **_: str) -> Response:
        """Show a saved export.

        Its progress; once done, with its manifest.
        """
        return Response(self.get_serializer(saved_export(self.project, export_id)).data)

    def destroy(self, request: SignedInApiRequest, export_id: int, **_: str) -> Response:
        """Delete a saved export.

        With its file; an unfinished one is stopped.
        """
        delete_export(export=saved_export(self.project, export_id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=EXPORT_FILE)
    @action(detail=True, content_negotiation_class=OneRenderer)
    def file(self, request: SignedInApiRequest, export_id: int, **_: str) -> StreamingHttpResponse:
        """Download a saved export.

        409 while it is not ready, or when it is stale.
        """
        check_download(request.user, self.project)
        return file_response(readable_export(request.user, self.project, export_id))

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def manifest(self, request: SignedInApiRequest, export_id: int, **_: str) -> HttpResponse:
        """Show the manifest of a saved export.

        Schema versions, guideline, runs with their prompts and models, counts, checksum.
        """
        return manifest_response(ready_export(self.project, export_id))

    @extend_schema(request=None, responses=VerifiedSerializer)
    @action(detail=True, methods=["post"], write_right=Right.VIEW)
    def verify(self, request: SignedInApiRequest, export_id: int, **_: str) -> Response:
        """Verify a saved export.

        Reads the whole file and computes its checksum again.
        """
        export = ready_export(self.project, export_id)
        found = checksum(export.stored_name)
        verified = {
            "ok": found is not None and (found.size, found.sha256) == (export.size, export.sha256),
            "sha256": found.sha256 if found else None,
            "bytes": found.size if found else None,
            "expected_sha256": export.sha256,
            "expected_bytes": export.size,
        }
        return Response(VerifiedSerializer(verified).data)
