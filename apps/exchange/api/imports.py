"""REST: imports of items and their labels."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, cast

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.common.api.errors import PROBLEM, problem_body
from apps.common.api.idempotency import REPLAYED
from apps.common.api.negotiation import OneRenderer
from apps.common.api.viewsets import Handler
from apps.exchange.selectors import PAGE_WAITS, import_of, result_of
from apps.exchange.services.imports import (
    discard_file,
    queue_import,
    receive_upload,
    run_import,
    store_upload,
)
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import ImportBatch
from labelhub.core.errors import InvalidInput, Unavailable

#: Larger bodies are imported by the worker and answered with 202; poll ``imports/{id}/``.
AT_ONCE_BYTES = 64 * 1024 * 1024
PIECE = 1024 * 1024
Status = ImportBatch.Status


@extend_schema_field({"type": "string", "contentMediaType": "application/json"})
class JsonTextField(serializers.JSONField):
    """JSON in a query parameter."""


class ImportQuerySerializer(serializers.Serializer[Any]):
    """How to read a file."""

    strict = serializers.BooleanField(default=False, help_text="Any fault: import nothing.")
    name = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="File name of a raw body; its ending tells the format.",
    )
    text_column = serializers.CharField(default="", allow_blank=True)
    id_column = serializers.CharField(default="", allow_blank=True)
    question_column = serializers.CharField(default="", allow_blank=True)
    gold_column = serializers.CharField(default="", allow_blank=True)
    answer = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="The project's question in a file of another tool that has several: the name of "
        "a control (Label Studio), question (Argilla) or column.",
    )

    unknown_labels = serializers.ChoiceField(
        choices=ImportBatch.UnknownLabels.choices,
        default=ImportBatch.UnknownLabels.REFUSE,
        help_text="What to do with values that are no labels of the project: refuse their rows, "
        "with one summary in errors and the counts in unknown_values; add them as labels, as one "
        "new version of the schema; or import the rows without them.",
    )
    label_map = JsonTextField(
        binary=True,
        default=dict,
        help_text='JSON object: value in the file → the label that it stands for, or "" to leave '
        "it out.",
    )

    def validate_label_map(self, given: Any) -> dict[str, str]:
        """Only texts."""
        if not isinstance(given, dict) or not all(isinstance(to, str) for to in given.values()):
            raise serializers.ValidationError("Must be an object of texts.")
        return given


class UploadSerializer(serializers.Serializer[Any]):
    """A file in a form."""

    file = serializers.FileField()


class FaultSerializer(serializers.Serializer[Any]):
    """One row that was not imported, and the reason."""

    row = serializers.IntegerField()
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class UnknownValueSerializer(serializers.Serializer[Any]):
    """A value of a file that is no label, and in how many refused rows it is."""

    value = serializers.CharField()
    count = serializers.IntegerField()


class ImportResultSerializer(serializers.ModelSerializer[ImportBatch]):
    """The outcome of an import; the first 1,000 faults are listed, all are counted."""

    rows = serializers.IntegerField(source="rows_done", read_only=True)
    created = serializers.IntegerField(read_only=True, help_text="Rows of the file that were new.")
    items_created = serializers.IntegerField(
        read_only=True, help_text="Those of a file of labels are known by their id only."
    )
    unknown_values = UnknownValueSerializer(
        many=True, help_text="Of refused rows: values that are no labels of the project."
    )
    errors = FaultSerializer(many=True)  # type: ignore[assignment]  # the contract's name
    conflict_rows = FaultSerializer(many=True)
    remarks = FaultSerializer(many=True, help_text="On the file, at the first row they apply to.")

    class Meta:
        model = ImportBatch
        fields = [
            "id", "status", "message", "rows", *ImportBatch.COUNTS, "unknown_values", "errors",
            "conflict_rows", "remarks",
        ]  # fmt: skip
        read_only_fields = fields


class StoredBody(NamedTuple):
    """A file of a request that was written to ``path``."""

    path: Path
    content_type: str
    name: str = "posted list"


class StoredBodyParser(BaseParser):
    """Accepts any body; ``request.data["body"]`` is a :class:`StoredBody`."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, StoredBody]:
        """Store the body in bounded memory."""
        pieces: Iterator[bytes] = iter(lambda: stream.read(PIECE), b"")
        return {"body": StoredBody(store_upload(pieces), media_type or "")}


class UploadViewSet(ProjectViewSet):
    """Base of viewsets that import a file or a JSON list.

    Whoever repeats a request with its ``Idempotency-Key`` gets the present result of the import
    that the first one queued, and has it done if a killed process did not get that far.
    """

    parser_classes = [MultiPartParser, StoredBodyParser]
    content_negotiation_class = OneRenderer
    content: ClassVar[ImportBatch.Content]
    upload: StoredBody
    batch: ImportBatch | None = None

    def answer_write(
        self, handler: Handler, request: Request, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The result of the import that ``handler`` queues, or queued before. The file is stored
        before and read after its transaction, as both may take minutes."""
        self.upload = store_file(request)
        try:
            queued = handler(request, *args, **kwargs)
        finally:
            if self.batch is None:  # refused, or queued before
                discard_file(self.upload.path)
        batch = self.batch or import_of(self.project, json.loads(queued.content)["id"])
        if _is_small(batch) and batch.status in (Status.QUEUED, Status.RUNNING):
            with suppress(Unavailable):  # a worker can wait for longer
                batch = run_import(batch.pk, patience=PAGE_WAITS)
        headers = {REPLAYED: "true"} if REPLAYED in queued else None
        if batch.status != Status.FAILED:
            done = batch.status == Status.DONE
            code = HTTPStatus.OK if done else HTTPStatus.ACCEPTED
            return Response(result_of(batch), status=code, headers=headers)
        problem = problem_body(422, "import_failed", batch.message)
        body = result_of(batch) | problem
        return Response(body, status=422, content_type=PROBLEM, headers=headers)

    def queue_upload(self, name: str, **choices: Any) -> Response:
        """Queue the import of the file, called ``name`` if that is given."""
        with transaction.atomic():
            batch = receive_upload(
                project=self.project,
                actor=cast(User, self.request.user),
                path=self.upload.path,
                file_name=name or self.upload.name,
                content_type=self.upload.content_type,
                content=self.content,
            )
            self.batch = queue_import(batch, **choices, send=not _is_small(batch))
        return Response(result_of(self.batch), status=HTTPStatus.ACCEPTED)


def store_file(request: Request) -> StoredBody:
    body = request.data.get("body")
    if isinstance(body, StoredBody):
        return body
    upload = next(iter(request.FILES.values()), None)
    if upload is None:
        raise InvalidInput("file: nothing was sent; post a file or a JSON list.")
    return StoredBody(store_upload(upload.chunks()), upload.content_type or "", upload.name or "")


def _is_small(batch: ImportBatch) -> bool:
    return batch.bytes_total <= AT_ONCE_BYTES


#: JSON as bytes too: generated clients cannot tell a list from the other bodies.
BODIES = {
    "multipart/form-data": UploadSerializer,
    "application/json": OpenApiTypes.BINARY,
    "application/x-ndjson": OpenApiTypes.BINARY,
    "text/csv": OpenApiTypes.BINARY,
}
RESULTS = {
    200: ImportResultSerializer,
    202: OpenApiResponse(
        ImportResultSerializer, "Large, or the server is busy reading files; the worker imports it."
    ),
    422: OpenApiResponse(
        description="Unreadable, or strict and faulty: a problem, with the counts and faults of "
        "the import if the file was read."
    ),
}


class ImportViewSet(UploadViewSet):
    """Items into the project."""

    content = ImportBatch.Content.ITEMS

    @extend_schema(
        operation_id="project_import",
        parameters=[ImportQuerySerializer],
        request=BODIES,
        responses=RESULTS,
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Import items.

        A file (multipart, field ``file``), or a JSON list, JSON Lines or CSV as the body.
        """
        asked = self.read_query(ImportQuerySerializer)
        columns = {name: asked[f"{name}_column"] for name in ("text", "id", "question", "gold")}
        columns["answer"] = asked["answer"]
        return self.queue_upload(
            asked["name"],
            columns={name: column for name, column in columns.items() if column},
            strict=asked["strict"],
            unknown_labels=asked["unknown_labels"],
            label_map=asked["label_map"],
        )


class LabelFileQuerySerializer(serializers.Serializer[Any]):
    """How to read a file of labels."""

    name = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="File name of a raw body; its ending tells the format.",
    )


class LabelImportViewSet(UploadViewSet):
    """Labels and predictions for the project's items."""

    content = ImportBatch.Content.LABELS

    @extend_schema(
        operation_id="labels_import",
        parameters=[LabelFileQuerySerializer],
        request=BODIES,
        responses=RESULTS,
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Import labels and predictions.

        For items that exist. A file (multipart, field ``file``), or a JSON list, one JSON object,
        JSON Lines or CSV as the body: one row per label, with ``item_id`` (the item's own id) or
        ``item_number`` (its number here), ``annotator_id``, ``annotator_type`` (``llm`` or
        ``model`` for predictions), ``label``, and optionally ``confidence``, ``rationale``,
        ``gold`` and others. Rows that are there already are unchanged.
        """
        asked = self.read_query(LabelFileQuerySerializer)
        return self.queue_upload(asked["name"])


class ImportStateViewSet(ProjectViewSet):
    """Imports; their faults quote the file, so they are for managers, as their page is."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "batch_id"
    serializer_class = ImportResultSerializer

    @extend_schema(operation_id="project_import_detail")
    def retrieve(self, request: SignedInApiRequest, batch_id: int, **_: str) -> Response:
        """Show an import.

        Its progress or its result.
        """
        return Response(result_of(import_of(self.project, batch_id)))
