"""The shapes of imports and exports over REST."""

from typing import Any

from rest_framework import serializers

from apps.exchange.exporters import FORMATS
from apps.projects.models import ImportBatch


class ImportQuerySerializer(serializers.Serializer[Any]):
    """How a file is to be read."""

    strict = serializers.BooleanField(default=False, help_text="Any fault: import nothing.")
    name = serializers.CharField(
        default="", help_text="File name of a raw body; its ending tells the format."
    )
    text_column = serializers.CharField(default="")
    id_column = serializers.CharField(default="")
    question_column = serializers.CharField(default="")
    gold_column = serializers.CharField(default="")
    answer = serializers.CharField(
        default="",
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
