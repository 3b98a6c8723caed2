"""The shapes of adjudication and of comments over REST."""

from typing import Any

from rest_framework import serializers

from apps.reviews.api.serializers import GoldValueSerializer, LabelSerializer
from apps.reviews.models import Comment
from apps.reviews.services.adjudicating import Ruling
from apps.reviews.services.commenting import LONGEST


class VoiceSerializer(serializers.Serializer[Any]):
    """What one annotator says, without reasons."""

    annotator = serializers.IntegerField(source="annotator_id")
    name = serializers.CharField()
    kind = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    said_at = serializers.DateTimeField()


class CaseSerializer(serializers.Serializer[Any]):
    """One item that waits for an expert."""

    item = serializers.IntegerField(source="item_id")
    disputed = serializers.BooleanField(
        help_text="Decided, but a machine that is sure says otherwise."
    )
    against = serializers.CharField(
        help_text="The labels that are against each other, for ``?against=``."
    )
    since = serializers.DateTimeField(help_text="When the last of them spoke.")
    voices = VoiceSerializer(many=True)


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
    opinions = OpinionSerializer(source="said", many=True)


class AdjudicationSerializer(serializers.Serializer[Any]):
    """An expert's decision, with reasons."""

    value = serializers.JSONField(
        required=False, allow_null=True, default=None,
        help_text="As of a label; a set may be empty. This or ``abstain``.",
    )  # fmt: skip
    abstain = serializers.BooleanField(
        required=False, default=False,
        help_text="It cannot be told: the item has no gold and waits for nobody.",
    )  # fmt: skip
    rationale = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST
    )
    evidence = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(), max_length=100),
        required=False,
        default=dict,
        help_text="Label → words that stand in the text.",
    )
    explain = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST,
        help_text="What those who said otherwise are told.",
    )  # fmt: skip
    seconds = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0)
    lease = serializers.UUIDField(
        required=False, allow_null=True, default=None,
        help_text="Of your own making: the same ruling under the same token is stored once.",
    )  # fmt: skip

    def to_ruling(self) -> Ruling:
        """The validated ruling."""
        data = self.validated_data
        names = ("value", "abstain", "rationale", "evidence", "explain", "seconds")
        return Ruling(**{name: data[name] for name in names})


class NamesField(serializers.ListField):
    """The names of people."""

    child = serializers.CharField()

    def to_representation(self, data: Any) -> list[str]:
        """Of each their user name."""
        return [person.username for person in data]


class AdjudicatedSerializer(serializers.Serializer[Any]):
    """What became of a ruling."""

    label = LabelSerializer()  # type: ignore[assignment]  # a field of that name, not its caption
    gold = GoldValueSerializer(allow_null=True)
    overruled = NamesField(help_text="Who said otherwise.")
    comment = serializers.IntegerField(source="comment.pk", allow_null=True, default=None)


class SendBackSerializer(serializers.Serializer[Any]):
    """Why an item goes back to those who labelled it."""

    reason = serializers.CharField(max_length=LONGEST)


class SentBackSerializer(serializers.Serializer[Any]):
    """Who is asked again."""

    people = NamesField()
    comment = serializers.IntegerField(source="comment.pk")


class CommentSerializer(serializers.ModelSerializer[Comment]):
    """A comment; its words are empty and ``readable`` is false before you have answered."""

    item = serializers.IntegerField(source="item_id")
    author = serializers.CharField(source="author.username", allow_null=True, default=None)
    text = serializers.SerializerMethodField()
    readable = serializers.BooleanField(default=True)
    mentions = serializers.SerializerMethodField()
    resolved_by = serializers.CharField(
        source="resolved_by.username", allow_null=True, default=None
    )

    class Meta:
        model = Comment
        fields = [
            "id", "item", "author", "text", "readable", "explains", "mentions", "resolved_at",
            "resolved_by", "created_at",
        ]  # fmt: skip

    def get_text(self, comment: Comment) -> str:
        """The words, where they may be read."""
        return comment.text if getattr(comment, "readable", True) else ""

    def get_mentions(self, comment: Comment) -> list[str]:
        """Whom it is meant for."""
        if not getattr(comment, "readable", True):
            return []
        return [row.user.username for row in comment.mentions.all()]


class SaySerializer(serializers.Serializer[Any]):
    """A new comment."""

    item = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    text = serializers.CharField(max_length=LONGEST, help_text="@name tells a member.")


class ResolveSerializer(serializers.Serializer[Any]):
    """Whether a comment is settled."""

    resolved = serializers.BooleanField(default=True)
