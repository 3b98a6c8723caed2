"""A site's Echo, its features, catalogue and experiments as JSON, as managers read them."""

import math
from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers

from apps.echo.models import CatalogueItem, Decision, Echo, Selection
from apps.echo.services.configuration import SETTINGS, is_frozen
from labelhub.core.echo.recommending.items import LONGEST


class FiniteField(serializers.FloatField):
    """A number; "nan" is none, though Python reads it as one."""

    def to_internal_value(self, data: Any) -> float:
        """The number.

        Raises:
            ValidationError: it is none.
        """
        value = float(super().to_internal_value(data))
        if isinstance(data, bool) or not math.isfinite(value):
            self.fail("invalid")
        return value


class EchoChangeSerializer(serializers.ModelSerializer[Echo]):
    """The settings of a site's Echo."""

    serializer_field_mapping: ClassVar[dict[Any, Any]] = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.FloatField: FiniteField,
    }

    class Meta:
        model = Echo
        fields = list(SETTINGS)


class EchoSerializer(EchoChangeSerializer):
    """The settings, and how far it has learnt. ``logged``: the newest event of its log;
    ``learnt``: the newest that was learnt from."""

    frozen = serializers.SerializerMethodField(help_text="What happens is logged, not learnt.")

    class Meta(EchoChangeSerializer.Meta):
        fields = [*SETTINGS, "frozen", "logged", "learnt"]
        read_only_fields = fields

    def get_frozen(self, echo: Echo) -> bool:
        """Whether it learns nothing now."""
        return is_frozen(echo)


class PriorsSerializer(serializers.Serializer[Any]):
    """How much each feature is expected to help downstream: -1 not, 0 unknown, 1 much."""

    priors = serializers.DictField(
        child=FiniteField(min_value=-1, max_value=1, allow_null=True), allow_empty=True
    )


class FeatureSummarySerializer(serializers.Serializer[Any]):
    """What Echo has learnt about a feature."""

    key = serializers.CharField(source="feature.key")
    name = serializers.CharField(source="feature.parsed.name")
    active = serializers.BooleanField(source="feature.active", help_text="Asked about.")
    prior = serializers.FloatField(source="feature.parsed.prior", allow_null=True)
    relevance = serializers.FloatField(
        help_text="What being right about it adds to the log-odds of success, as expected."
    )
    low = serializers.FloatField(help_text="Lower bound of the 95 % interval of the relevance.")
    high = serializers.FloatField(help_text="Its upper bound.")
    matters = serializers.FloatField(help_text="Chance that it adds anything.")
    uncertainty = serializers.FloatField(
        allow_null=True, help_text="Mean chance that its latest predictions were wrong."
    )
    answers = serializers.FloatField(
        help_text="Answers of authors that were learnt from, each as far as it counted."
    )
    accuracy = serializers.FloatField(
        allow_null=True,
        help_text="Share of the last forty or so answers that matched what was expected before "
        "learning from them.",
    )


class CatalogueQuerySerializer(serializers.Serializer[Any]):
    """What to look for in a catalogue."""

    q = serializers.CharField(
        required=False, default="", max_length=LONGEST["title"], allow_blank=True,
        help_text="Words in the id, title, text or vertical.",
    )  # fmt: skip
    active = serializers.BooleanField(required=False, allow_null=True, default=None)


class CatalogueItemSerializer(serializers.ModelSerializer[CatalogueItem]):
    """An item; ``definition`` is what was imported."""

    id = serializers.CharField(source="ref", read_only=True)
    definition = serializers.DictField(read_only=True)

    class Meta:
        model = CatalogueItem
        fields = ["id", "active", "changed_at", "definition"]
        read_only_fields = ["changed_at"]
        extra_kwargs: ClassVar[dict[str, Any]] = {"active": {"required": True}}


class CatalogueImportQuerySerializer(serializers.Serializer[Any]):
    """How to take a catalogue in."""

    replace = serializers.BooleanField(
        required=False, default=False, help_text="Items that are not in it are offered no more."
    )
    strict = serializers.BooleanField(
        required=False, default=False, help_text="With a fault in any row nothing is changed."
    )


class CatalogueFileSerializer(serializers.Serializer[Any]):
    """A form with a file."""

    file = serializers.FileField()


class RowFaultSerializer(serializers.Serializer[Any]):
    """Why a row was not taken."""

    row = serializers.IntegerField(help_text="As a spreadsheet counts; of JSON from 1.")
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class UnusedAttributeSerializer(serializers.Serializer[Any]):
    """What rows say of a feature, and is of no use as long as the site does not have it."""

    feature = serializers.CharField()
    value = serializers.CharField(
        allow_blank=True, help_text="That the feature does not have; empty: there is no such one."
    )
    rows = serializers.IntegerField(help_text="How many of those that went in.")
    message = serializers.CharField()


class CatalogueImportedSerializer(serializers.Serializer[Any]):
    """What became of the rows."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    retired = serializers.IntegerField(help_text="Offered no more.")
    errors = RowFaultSerializer(  # type: ignore[assignment]  # as imports of items name it
        many=True, help_text="At most 100 of them."
    )
    unused = UnusedAttributeSerializer(
        many=True, help_text="The commonest first, at most 100; the rows went in."
    )
    ignored = serializers.ListField(
        child=serializers.CharField(), help_text="Columns that mean nothing here."
    )


class SelectionRecordSerializer(serializers.ModelSerializer[Selection]):
    """What was selected of a message, what of it was asked, and why."""

    id = serializers.UUIDField(source="uid")
    author = serializers.CharField(source="author.pseudonym")
    message = serializers.CharField(source="message.ref", default=None, allow_null=True)
    predicted = serializers.DictField(
        help_text="By feature: value, probability, sigma, relevance and what they come of."
    )
    selected = serializers.ListField(child=serializers.CharField())
    asked = serializers.DictField(
        help_text="By feature: worth, propensity, and whether it was asked about."
    )

    class Meta:
        model = Selection
        fields = [
            "id", "author", "message", "number", "predicted", "selected", "asked", "explored", "at",
        ]  # fmt: skip
        read_only_fields = fields


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    """What was decided about offering something at a message, and why."""

    id = serializers.UUIDField(source="uid")
    author = serializers.CharField(source="author.pseudonym")
    message = serializers.CharField(source="message.ref", default=None, allow_null=True)
    selection = serializers.UUIDField(source="selection.uid", default=None, allow_null=True)
    experiment = serializers.IntegerField(source="experiment_id", allow_null=True)
    item = serializers.CharField(source="item_ref", allow_blank=True, help_text="Its id, or empty.")
    propensities = serializers.DictField(child=serializers.FloatField())
    reasons = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Decision
        fields = [
            "id", "author", "message", "selection", "experiment", "arm", "policy", "status", "why",
            "item", "vertical", "score", "reasons", "propensity", "propensities", "created_at",
            "sent_at", "shown_at",
        ]  # fmt: skip
        read_only_fields = fields
