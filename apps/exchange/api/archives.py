"""REST: projects from other servers, for operators."""

from typing import Any, cast

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import OperatorViewSet
from apps.accounts.http import SignedInApiRequest
from apps.common.api.viewsets import Handler
from apps.exchange.api.imports import (
    StoredBody,
    StoredBodyParser,
    UploadSerializer,
    store_file,
)
from apps.exchange.archive.services import cancel_import, project_import, request_import
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import discard_file


class ProjectImportQuerySerializer(serializers.Serializer[Any]):
    """How to load an archive."""

    name = serializers.CharField(
        default="archive.zip", max_length=255, help_text="File name of a raw body."
    )
    slug = serializers.CharField(
        default="", allow_blank=True, help_text="Of the new project; empty: as in the archive."
    )
    match_people = serializers.BooleanField(
        default=True, help_text="People of the same user name are the same people."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Only check the archive.")


class ProjectImportSerializer(serializers.ModelSerializer[ProjectImport]):
    """The import of a project's archive; ``project`` is the slug of the new project."""

    project = serializers.CharField(
        source="project.slug", default=None, allow_null=True, read_only=True
    )
    slug = serializers.CharField(read_only=True, help_text="Empty until it is decided.")
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, read_only=True
    )
    remarks = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = ProjectImport
        fields = [
            "id", "status", "message", "file_name", "slug", "dry_run", "match_people", "project",
            "rows_done", "rows_total", "result", "remarks", "created_by", "created_at",
            "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class ProjectImportViewSet(OperatorViewSet):
    """Projects from other servers."""

    lookup_url_kwarg = "import_id"
    parser_classes = [MultiPartParser, StoredBodyParser]
    upload: StoredBody | None = None
    serializer_class = ProjectImportSerializer

    def list(self, request: SignedInApiRequest) -> Response:
        """List imports of project archives.

        Newest first; for operators.
        """
        return self.list_page(ProjectImport.objects.select_related("project", "created_by"))

    @extend_schema(
        parameters=[ProjectImportQuerySerializer],
        request={
            "multipart/form-data": UploadSerializer,
            "application/zip": OpenApiTypes.BINARY,
        },
        responses={202: ProjectImportSerializer},
    )
    def create(self, request: SignedInApiRequest) -> Response:
        """Load a project archive.

        A file (multipart, field ``file``), or the archive as the body: a saved export of the format
        `archive`. A worker checks all of it, then loads it; poll it until ``status`` is ``done`` or
        ``failed``. An archive with a fault changes nothing.
        """
        asked = self.read_query(ProjectImportQuerySerializer)
        name = asked.pop("name")
        upload, self.upload = cast(StoredBody, self.upload), None
        name = upload.name if request.FILES else name
        row = request_import(path=upload.path, file_name=name, actor=request.user, **asked)
        return Response(self.get_serializer(row).data, status=status.HTTP_202_ACCEPTED)

    def answer_write(
        self, handler: Handler, request: Request, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The file is stored before the transaction of a write, as that may take minutes."""
        self.upload = store_file(request) if self.action == "create" else None
        try:
            return super().answer_write(handler, request, *args, **kwargs)
        finally:
            if self.upload is not None:  # refused, or queued before
                discard_file(self.upload.path)

    def retrieve(self, request: SignedInApiRequest, import_id: int) -> Response:
        """Show the import of a project archive.

        Its progress, then its result.
        """
        return Response(self.get_serializer(project_import(import_id)).data)

    def destroy(self, request: SignedInApiRequest, import_id: int) -> Response:
        """Stop the import of a project archive.

        A worker deletes what was loaded; 409 if it has ended.
        """
        cancel_import(project_import(import_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
