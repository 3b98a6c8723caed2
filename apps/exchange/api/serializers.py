"""The shapes of imports and exports over REST."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from apps.exchange.exporters import FORMATS
from apps.projects.models import ImportBatch

#: An exported file in the OpenAPI document, in the content types of all formats.
EXPORT_FILE = {
    (200, content_type): OpenApiTypes.ANY
    if content_type == "application/json"
    else OpenApiTypes.BINARY
    for content_type in sorted({made.content_type.partition(";")[0] for made in FORMATS.values()})
}


class ImportQuerySerializer(serializers.Serializer[Any]):
    """How a file is to be read."""

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
        help_text="Of another tool's file that asks several questions, the project's: the name of "
        "a control (Label Studio), question (Argilla) or column.",
    )


class UploadSerializer(serializers.Serializer[Any]):
    """A file in a form."""

    file = serializers.FileField()


class FaultSerializer(serializers.Serializer[Any]):
    """One row that was not taken, and why."""

    row = serializers.IntegerField()
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class ImportResultSerializer(serializers.Serializer[Any]):
    """What became of the rows; the first 1,000 faults are listed, all are counted."""

    id = serializers.IntegerField()
    status = serializers.ChoiceField(choices=ImportBatch.Status.choices)
    message = serializers.CharField()
    rows = serializers.IntegerField()
    created = serializers.IntegerField()
    filled = serializers.IntegerField(help_text="There by their id only; now with their content.")
    unchanged = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    failed = serializers.IntegerField()
    labels_created = serializers.IntegerField()
    errors = FaultSerializer(many=True)  # type: ignore[assignment]  # the contract's name
    conflict_rows = FaultSerializer(many=True)
    remarks = FaultSerializer(many=True, help_text="On the file, at the row where first seen.")


class ExportQuerySerializer(serializers.Serializer[Any]):
    """Which export."""

    format = serializers.ChoiceField(choices=list(FORMATS), default="jsonl")
    only = serializers.ChoiceField(choices=["gold"], required=False)
