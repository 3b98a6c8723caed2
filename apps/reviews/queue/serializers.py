"""The shapes of items, labels and leases over REST."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.labels.blindness import SETTLED, STAND_AS_NEW
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import Item
from apps.reviews.queue.answers import Answer, EvidenceSpan


class AnnotatorField(serializers.Serializer[Any]):
    """Who said it."""

    id = serializers.IntegerField(help_text="For ``evaluation/?annotator=``.")
    name = serializers.CharField()
    kind = serializers.CharField()
    offline = serializers.BooleanField(help_text="The built-in text matcher: not an LLM.")


class LabelSerializer(serializers.ModelSerializer[Label]):
    """One row of the ledger."""

    item = serializers.IntegerField(source="item_id")
    external_id = serializers.CharField(source="item.external_id")
    annotator = AnnotatorField()
    schema_version = serializers.IntegerField(source="schema.version")
    shown = serializers.UUIDField(
        source="shown.uid", allow_null=True, default=None,
        help_text="Uid of the suggestion that was on the screen, whatever was answered.",
    )  # fmt: skip
    proposed_from = serializers.UUIDField(
        source="proposed_from.uid", allow_null=True, default=None,
        help_text="Uid of the suggestion that the value was accepted from, or that it corrects.",
    )  # fmt: skip
    supersedes = serializers.UUIDField(source="supersedes.uid", allow_null=True, default=None)
    current = serializers.SerializerMethodField(
        help_text="What the annotator says now: neither superseded nor withdrawn, and more than a "
        "rejection."
    )
    comment = serializers.SerializerMethodField()
    value = serializers.JSONField(allow_null=True)

    class Meta:
        model = Label
        fields = [
            "id", "uid", "item", "external_id", "annotator", "value", "abstained", "withdrawn",
            "rejected", "action", "confidence", "rationale", "evidence", "seconds", "shown",
            "proposed_from", "supersedes", "run_uid", "replicate", "schema_version", "current",
            "comment", "created_at",
        ]  # fmt: skip

    def get_current(self, label: Label) -> bool:
        if label.rejected or label.withdrawn:
            return False
        # Written in this request: spares the query.
        return bool(self.context.get("fresh")) or not hasattr(label, "superseded_by")

    def get_comment(self, label: Label) -> str:
        """What the annotator remarked."""
        return str(label.provenance.get("comment", ""))


class SuggestionSerializer(serializers.ModelSerializer[Label]):
    """What a debate proposes to the reviewer, with its quotes."""

    annotator = AnnotatorField()
    value = serializers.JSONField(allow_null=True)

    class Meta:
        model = Label
        fields = [
            "id", "uid", "value", "confidence", "rationale", "evidence", "action", "annotator",
            "run_uid", "created_at",
        ]  # fmt: skip


class GoldValueSerializer(serializers.ModelSerializer[Gold]):
    """The decided value."""

    value = serializers.JSONField(allow_null=True)
    decided_by = AnnotatorField(allow_null=True)

    class Meta:
        model = Gold
        fields = ["uid", "value", "basis", "decided_by", "evidence", "created_at"]


class PlainItemSerializer(serializers.ModelSerializer[Item]):
    """One text with what belongs to it."""

    class Meta:
        model = Item
        fields = ["id", "external_id", "text", "context", "question", "options", "meta"]


class ItemSerializer(PlainItemSerializer):
    """An item and where it stands."""

    stage = serializers.CharField(source="state.stage")
    queued = serializers.BooleanField(source="state.queued")
    reasons = serializers.ListField(child=serializers.CharField(), source="state.reasons")
    labels_by_people = serializers.IntegerField(source="state.labels_by_people")
    suggestion = SuggestionSerializer(source="state.suggestion", allow_null=True)
    gold = GoldValueSerializer(source="state.gold", allow_null=True)

    class Meta(PlainItemSerializer.Meta):
        fields = [
            *PlainItemSerializer.Meta.fields,
            "stage", "queued", "reasons", "labels_by_people", "suggestion", "gold", "created_at",
        ]  # fmt: skip

    def to_representation(self, instance: Item) -> dict[str, Any]:
        """Without what was said of it, where the caller is to answer without knowing that: as an
        item that waits, with the suggestion that it is handed out with or without one."""
        shown: dict[str, Any] = super().to_representation(instance)
        if not getattr(instance, "hidden", False):
            return shown
        shown["gold"] = None
        if getattr(instance, "debate_hidden", True):
            shown |= {"reasons": [], "suggestion": None}
        if shown["stage"] in SETTLED:
            shown |= {"queued": True, "labels_by_people": 0}
        if shown["stage"] in STAND_AS_NEW:
            stage = ItemState.Stage.SUGGESTED if shown["suggestion"] else ItemState.Stage.NEW
            shown["stage"] = str(stage)
        return shown


class OpinionSerializer(serializers.Serializer[Any]):
    """What one annotator says of an item, and why."""

    id = serializers.IntegerField(source="label.pk")
    annotator = serializers.CharField(source="label.annotator.name")
    kind = serializers.CharField(source="label.annotator.kind")
    value = serializers.JSONField(source="label.value", allow_null=True)
    action = serializers.CharField(source="label.action")
    confidence = serializers.FloatField(source="label.confidence", allow_null=True)
    rationale = serializers.CharField(source="label.rationale")
    quotes = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Pairs of a label and words that stand in the text.",
    )
    comment = serializers.CharField(source="remark")
    seconds = serializers.FloatField(source="label.seconds", allow_null=True)
    created_at = serializers.DateTimeField(source="label.created_at")


class OpinionsSerializer(serializers.Serializer[Any]):
    """Every opinion of an item that stands."""

    item = serializers.IntegerField(source="item.pk")
    waits = serializers.BooleanField(help_text="Whether an expert's decision is wanted.")
    disputed = serializers.BooleanField(source="state.disputed")
    gold = GoldValueSerializer(allow_null=True)
    opinions = OpinionSerializer(many=True)


class LeaseSerializer(serializers.Serializer[Any]):
    """The short exclusive hold on an item."""

    token = serializers.UUIDField()
    expires_at = serializers.DateTimeField()


class NextSerializer(serializers.Serializer[Any]):
    """What ``next/`` hands out."""

    item = PlainItemSerializer()
    suggestion = SuggestionSerializer(allow_null=True)
    lease = LeaseSerializer()


class SpanSerializer(serializers.Serializer[Any]):
    """A part of the text that speaks for a label."""

    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    start = serializers.IntegerField(min_value=0, help_text="Counted in code points.")
    end = serializers.IntegerField(min_value=1, help_text="One beyond the last.")


class AnswerSerializer(serializers.Serializer[Any]):
    """What a reviewer sends back; ``value`` or ``skip``."""

    item = serializers.IntegerField()
    value = serializers.JSONField(
        allow_null=True, default=None,
        help_text="A name (single), a list of names (multi; empty: none of these), a number "
        "(ordinal), a text, or one of the item's options. Null is no value, and is refused unless "
        "you skip, reject or abstain."
    )  # fmt: skip
    skip = serializers.BooleanField(
        default=False, help_text="Leave the item to others; then without a value."
    )
    reject = serializers.BooleanField(
        default=False,
        help_text="The suggestion is wrong. With a value that is the right answer; without one it "
        "is neither an answer nor an abstention, and the item stays open for somebody else."
    )  # fmt: skip
    abstain = serializers.BooleanField(default=False, help_text="Unsure; without a value.")
    lease = serializers.UUIDField(
        allow_null=True, default=None, help_text="The token that next/ gave."
    )
    seconds = serializers.FloatField(allow_null=True, default=None, min_value=0)
    comment = serializers.CharField(allow_blank=True, default="", max_length=10_000)
    suggestion = serializers.IntegerField(
        allow_null=True, default=None,
        help_text="Id of the suggestion that was shown, 0 for none. By default the one that next/ "
        "handed you with the item; if you reject, the present one. Of an item that next/ did not "
        "hand you it is not known then."
    )  # fmt: skip

    rationale = serializers.CharField(
        allow_blank=True, default="", max_length=10_000, help_text="Why."
    )
    confidence = serializers.FloatField(allow_null=True, default=None, min_value=0, max_value=1)
    evidence = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=10_000), max_length=200),
        required=False, default=dict, help_text="Label → phrases that stand in the text.",
    )  # fmt: skip
    spans = serializers.ListField(child=SpanSerializer(), default=list, max_length=200)
    postpone = serializers.BooleanField(
        default=False,
        help_text="Put it off; it comes back when nothing else is left. Without a value."
    )  # fmt: skip
    schema_version = serializers.IntegerField(
        allow_null=True, default=None, min_value=1, max_value=2**31 - 1,
        help_text="Of the labels you chose from; by default today's. After a change of labels the "
        "value is carried over where that is clear."
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        labelled = attrs["value"] is not None or attrs["reject"] or attrs["abstain"]
        if (attrs["skip"] or attrs["postpone"]) and labelled:
            raise serializers.ValidationError({"skip": "Skip the item or label it, not both."})
        return attrs


def to_answer(data: Mapping[str, Any]) -> Answer:
    return Answer(
        value=data["value"],
        reject=data["reject"],
        abstain=data["abstain"],
        seconds=data["seconds"],
        comment=data["comment"],
        shown=data["suggestion"],
        rationale=data["rationale"],
        confidence=data["confidence"],
        evidence=data["evidence"],
        spans=[EvidenceSpan(**span) for span in data["spans"]],
        schema_version=data["schema_version"],
    )


class SkippedSerializer(serializers.Serializer[Any]):
    """What a skip answers."""

    item = serializers.IntegerField()
    action = serializers.ChoiceField(choices=["skip", "postpone"])
    created_at = serializers.DateTimeField()
