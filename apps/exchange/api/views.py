"""REST: items in, items with their ledger out."""

from contextlib import suppress
from http import HTTPStatus
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.common.api.negotiation import OneRenderer
from apps.common.jobs import start_job
from apps.exchange.api.parsers import StoredBody, StoredBodyParser
from apps.exchange.api.serializers import (
    EXPORT_FILE,
    ExportQuerySerializer,
    ImportQuerySerializer,
    ImportResultSerializer,
    UploadSerializer,
)
from apps.exchange.blindness import refuse_who_is_blind
from apps.exchange.selectors import PAGE_WAITS, import_of, result_of
from apps.exchange.services import KIND, queue_import, receive_upload, run_import, store_upload
from apps.exchange.streaming import export_response
from apps.projects.api.mixins import ProjectScopedMixin
from apps.projects.models import ImportBatch
from labelhub.core.errors import InvalidInput, Unavailable

#: Larger bodies are imported by the worker and answered with 202; poll ``imports/{id}/``.
AT_ONCE_BYTES = 64 * 1024 * 1024


class ImportView(ProjectScopedMixin):
    """Items into the project."""

    parser_classes = [MultiPartParser, StoredBodyParser]
    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="project_import",
        parameters=[ImportQuerySerializer],
        request={
            "multipart/form-data": UploadSerializer,
            "application/json": OpenApiTypes.BINARY,
            "application/x-ndjson": OpenApiTypes.BINARY,
            "text/csv": OpenApiTypes.BINARY,
        },
        responses={
            200: ImportResultSerializer,
            202: OpenApiResponse(
                ImportResultSerializer,
                "Large, or the server is busy reading files; the worker imports it.",
            ),
            422: OpenApiResponse(
                description="Unreadable, or strict and faulty: a problem, with the counts and "
                "faults of the import where it was read."
            ),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """A file (multipart, field ``file``), or a JSON list, JSON Lines or CSV as the body."""
        query = ImportQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked: dict[str, Any] = query.validated_data
        batch = self._received(request, asked["name"])
        columns = {name: asked[f"{name}_column"] for name in ("text", "id", "question", "gold")}
        columns["answer"] = asked["answer"]
        chosen = {name: column for name, column in columns.items() if column}
        small = batch.bytes_total <= AT_ONCE_BYTES
        batch = queue_import(batch, columns=chosen, strict=asked["strict"], send=not small)
        if small:
            with suppress(Unavailable):  # a worker can wait for longer
                return _answer(run_import(batch.pk, patience=PAGE_WAITS))
            start_job(KIND, batch.pk)
        return Response(result_of(batch), status=HTTPStatus.ACCEPTED)

    def _received(self, request: Request, name: str) -> ImportBatch:
        body = request.data.get("body")
        if isinstance(body, StoredBody):
            path, file_name, content_type = body.path, name or "posted list", body.content_type
        else:
            upload = next(iter(request.FILES.values()), None)
            if upload is None:
                raise InvalidInput("file: nothing was sent; post a file or a JSON list.")
            path, file_name = store_upload(upload.chunks()), name or upload.name
            content_type = upload.content_type
        return receive_upload(
            project=self.project,
            actor=request.user if isinstance(request.user, User) else None,
            path=path,
            file_name=file_name,
            content_type=content_type,
        )


def _answer(batch: ImportBatch) -> Response:
    """The counts; with the fields of a problem when nothing was imported."""
    result = result_of(batch)
    if batch.status != ImportBatch.Status.FAILED:
        return Response(result)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    problem = {
        "type": "about:blank",
        "title": status.phrase,
        "code": "import_failed",
        "detail": batch.message,
    }
    body = {**result, **problem, "status": status.value}
    return Response(body, status=status, content_type="application/problem+json")


class ImportDetailView(ProjectScopedMixin):
    """One import; its faults quote the file, so it is for managers, as its page is."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="project_import_detail", responses=ImportResultSerializer)
    def get(self, request: Request, slug: str, batch_id: int) -> Response:
        """How far an import is, or what became of it."""
        return Response(result_of(import_of(self.project, batch_id)))


class ExportView(ProjectScopedMixin):
    """Items with their labels and gold."""

    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="project_export",
        parameters=[ExportQuerySerializer],
        responses=EXPORT_FILE,
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """The whole file, streamed in the order of the items."""
        refuse_who_is_blind(request.user, self.project)
        query = ExportQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked: dict[str, Any] = query.validated_data
        return export_response(
            self.project,
            format_name=asked["format"],
            only=asked.get("only", ""),
        )
