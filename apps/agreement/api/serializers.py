"""Shapes of evaluation and gold on the wire."""

from typing import Any

from rest_framework import serializers

from apps.labels.models import Gold


class FigureSerializer(serializers.Serializer[Any]):
    """A number with its interval; ``value`` null comes with the ``reason``."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, required=False)
    high = serializers.FloatField(allow_null=True, required=False)
    n = serializers.IntegerField(required=False)
    method = serializers.CharField(required=False)
    reason = serializers.CharField(required=False)


class CountsSerializer(serializers.Serializer[Any]):
    """Items by predicted and gold."""

    predicted_yes_gold_yes = serializers.IntegerField()
    predicted_yes_gold_no = serializers.IntegerField()
    predicted_no_gold_yes = serializers.IntegerField()
    predicted_no_gold_no = serializers.IntegerField()


class LabelScoreSerializer(serializers.Serializer[Any]):
    """One label's counts and metrics."""

    label = serializers.CharField()  # type: ignore[assignment]  # a serializer has an attribute of that name
    counts = CountsSerializer()
    precision = FigureSerializer()
    recall = FigureSerializer()
    f1 = FigureSerializer()
    accuracy = FigureSerializer()


class EvaluationSerializer(serializers.Serializer[Any]):
    """Predicted against gold."""

    project = serializers.CharField()
    task = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    replicate = serializers.IntegerField(allow_null=True)
    annotator = serializers.CharField(allow_null=True)
    kind = serializers.CharField(allow_null=True)
    offline = serializers.BooleanField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    gold = serializers.IntegerField()
    gold_by_basis = serializers.DictField(child=serializers.IntegerField())
    items = serializers.IntegerField()
    unanswered = serializers.IntegerField()
    rejected = serializers.IntegerField(
        help_text="Labels that somebody rejected without giving one, on items without gold: they "
        "are in no figure."
    )
    n = serializers.IntegerField()
    overall = serializers.DictField(child=FigureSerializer())
    labels = LabelScoreSerializer(many=True)
    matrix = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), allow_null=True
    )


class EvaluationQuerySerializer(serializers.Serializer[Any]):
    """What to evaluate."""

    run = serializers.IntegerField(
        required=False, help_text="Run id; the newest run with labels by default."
    )
    annotator = serializers.IntegerField(
        required=False, help_text="Annotator id, instead of a run."
    )
    replicate = serializers.IntegerField(required=False, default=1, min_value=1)


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """A decided value."""

    item = serializers.IntegerField(source="item_id")
    external_id = serializers.CharField(source="item.external_id")
    decided_by = serializers.CharField(source="decided_by.name", default=None, allow_null=True)
    value = serializers.JSONField()

    class Meta:
        model = Gold
        fields = [
            "uid",
            "item",
            "external_id",
            "value",
            "basis",
            "decided_by",
            "evidence",
            "created_at",
        ]
