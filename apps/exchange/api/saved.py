"""REST: exports that are written in the background and kept with a manifest."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.listing import paged
from apps.common.api.negotiation import OneRenderer
from apps.exchange.api.serializers import EXPORT_FILE, ExportQuerySerializer
from apps.exchange.blindness import refuse_who_is_blind
from apps.exchange.models import SavedExport
from apps.exchange.saved.looking import ready_export, saved_export, saved_exports
from apps.exchange.saved.running import delete_export, save_export
from apps.exchange.saved.views import file_response, manifest_response, verify
from apps.projects.api.mixins import ProjectScopedMixin


class SavedExportSerializer(serializers.ModelSerializer[SavedExport]):
    """One saved export; ``manifest`` is empty until it is done."""

    only = serializers.CharField(source="filters.only", default="", read_only=True)
    bytes = serializers.IntegerField(source="size", read_only=True)
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, read_only=True
    )

    class Meta:
        model = SavedExport
        fields = (
            "id", "status", "message", "format", "only", "file_name", "bytes", "sha256",
            "items_done", "items_total", "created_by", "created_at", "finished_at", "manifest",
        )  # fmt: skip
        read_only_fields = fields


class VerifiedSerializer(serializers.Serializer[Any]):
    """What the stored file has now; null where it is gone."""

    ok = serializers.BooleanField(help_text="Whether it is as it was written.")
    sha256 = serializers.CharField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)
    expected_sha256 = serializers.CharField()
    expected_bytes = serializers.IntegerField()


class SavedExportsView(ProjectScopedMixin, generics.GenericAPIView[SavedExport]):
    """The saved exports of a project."""

    serializer_class = SavedExportSerializer
    queryset = SavedExport.objects.none()

    @extend_schema(
        operation_id="saved_export_list",
        responses=SavedExportSerializer(many=True),
        summary="List saved exports",
    )
    def get(self, request: Request, slug: str) -> Response:
        """Newest first."""
        return paged(self, saved_exports(self.project))

    @extend_schema(
        operation_id="saved_export_create",
        request=ExportQuerySerializer,
        responses={202: SavedExportSerializer},
        summary="Save an export",
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """A worker writes it; look at it until ``status`` is ``done``, then take its file. What
        authors had deleted meanwhile makes it ``stale``, and its file is gone."""
        sent = ExportQuerySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        export = save_export(
            project=self.project,
            actor=request.user,
            format_name=sent.validated_data["format"],
            only=sent.validated_data.get("only", ""),
        )
        return Response(self.get_serializer(export).data, status=status.HTTP_202_ACCEPTED)


class SavedExportView(ProjectScopedMixin):
    """One saved export."""

    @extend_schema(
        operation_id="saved_export", responses=SavedExportSerializer, summary="Show a saved export"
    )
    def get(self, request: Request, slug: str, export_id: int) -> Response:
        """How far it is; once done, with its manifest."""
        return Response(SavedExportSerializer(saved_export(self.project, export_id)).data)

    @extend_schema(
        operation_id="saved_export_delete", responses={204: None}, summary="Delete a saved export"
    )
    def delete(self, request: Request, slug: str, export_id: int) -> Response:
        """With its file; one that is being written stops."""
        delete_export(export=saved_export(self.project, export_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SavedFileView(ProjectScopedMixin):
    """The file of a saved export."""

    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="saved_export_file",
        responses=EXPORT_FILE,
        summary="Download a saved export",
    )
    def get(self, request: Request, slug: str, export_id: int) -> StreamingHttpResponse:
        """As it was written; 409 while it is not ready, or when it may not be given out."""
        refuse_who_is_blind(request.user, self.project)
        return file_response(ready_export(self.project, export_id))


class SavedManifestView(ProjectScopedMixin):
    """The manifest of a saved export."""

    @extend_schema(
        operation_id="saved_export_manifest",
        responses=OpenApiTypes.OBJECT,
        summary="What is in a saved export",
    )
    def get(self, request: Request, slug: str, export_id: int) -> HttpResponse:
        """Schema versions, guideline, runs with their prompts and models, counts, checksum."""
        return manifest_response(ready_export(self.project, export_id))


class SavedVerifyView(ProjectScopedMixin):
    """Whether a saved export is as it was written."""

    write_right = Right.VIEW

    @extend_schema(
        operation_id="saved_export_verify",
        request=None,
        responses=VerifiedSerializer,
        summary="Verify a saved export",
    )
    def post(self, request: Request, slug: str, export_id: int) -> Response:
        """Reads the whole file and computes its checksum anew."""
        export = ready_export(self.project, export_id)
        found = verify(export)
        told = {
            "ok": found is not None and (found.size, found.sha256) == (export.size, export.sha256),
            "sha256": found.sha256 if found else None,
            "bytes": found.size if found else None,
            "expected_sha256": export.sha256,
            "expected_bytes": export.size,
        }
        return Response(VerifiedSerializer(told).data)
