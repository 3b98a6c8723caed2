"""Messages, answers, authors and rewards as a site's managers read them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.authors.models import Answer, Author, Message, Payout, Reward
from apps.authors.selectors.people import payout_lines


class AuthorField(serializers.Serializer[Author]):
    """Whose it is; the uid is what ``authors/{uid}/ruling/`` takes."""

    uid = serializers.UUIDField()
    pseudonym = serializers.CharField()


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["stage", "passed", "reason", "data"],
            "properties": {
                "stage": {"type": "string"},
                "passed": {"type": "boolean"},
                "reason": {"type": "string"},
                "data": {"type": "object", "additionalProperties": True},
            },
        },
    }
)
class StagesField(serializers.JSONField):
    """What each stage said of a message."""


class MessageSerializer(serializers.ModelSerializer[Message]):
    """A message without personal data, and what became of it."""

    id = serializers.CharField(source="ref", help_text="The sender's.")
    conversation = serializers.CharField(source="conversation.ref")
    author = AuthorField()
    stages = StagesField()
    cost_usd = serializers.SerializerMethodField()

    class Meta:
        model = Message
        fields = [
            "id", "conversation", "author", "role", "text", "language", "country", "status",
            "dropped_at", "reason", "stages", "cost_usd", "received_at", "processed_at",
        ]  # fmt: skip

    def get_cost_usd(self, message: Message) -> float:
        """What the models cost."""
        return message.cost_nanousd / 1e9


class AnswerSerializer(serializers.ModelSerializer[Answer]):
    """An answer with its question."""

    question = serializers.UUIDField(source="question.uid")
    author = AuthorField()
    feature = serializers.CharField(source="question.feature.key")
    text = serializers.CharField(source="question.text", help_text="The question.")
    options = serializers.SerializerMethodField(help_text="As they were shown.")
    predicted = serializers.CharField(source="question.predicted")
    item = serializers.IntegerField(source="question.item_id", allow_null=True)

    class Meta:
        model = Answer
        fields = [
            "id", "question", "author", "feature", "text", "options", "predicted", "outcome",
            "value", "position", "server_ms", "visible_ms", "timing", "keyboard", "late", "item",
            "label_uid", "received_at", "undone_at", "excluded_at", "excluded_for",
        ]  # fmt: skip

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_options(self, answer: Answer) -> list[str]:
        """The words on the buttons."""
        return [str(option["label"]) for option in answer.question.options]


class RulingSerializer(serializers.Serializer[Any]):
    """A manager's decision."""

    trusted = serializers.BooleanField(
        allow_null=True, help_text="Null: what the signals say counts again."
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=300, help_text="Kept with it."
    )


class StandingSerializer(serializers.ModelSerializer[Author]):
    """Whether an author's answers count, and why."""

    counts = serializers.BooleanField()
    trust = serializers.DictField(help_text="Score and signals, once judged.")

    class Meta:
        model = Author
        fields = ["uid", "pseudonym", "counts", "trusted", "ruling", "ruling_reason", "trust"]


class RewardSerializer(serializers.ModelSerializer[Reward]):
    """What one answer earned."""

    author = serializers.CharField(source="author.subject", help_text="The host's id for them.")
    pseudonym = serializers.CharField(source="author.pseudonym")

    class Meta:
        model = Reward
        fields = [
            "id", "author", "pseudonym", "cents", "currency", "credited_at", "due_at", "void_at",
            "void_for", "payout",
        ]  # fmt: skip


class PayoutSerializer(serializers.ModelSerializer[Payout]):
    """A payout in a list; ``count`` is of the answers in it."""

    count = serializers.IntegerField(source="rewards")

    class Meta:
        model = Payout
        fields = ["id", "cents", "count", "created_at"]


class PayoutLineSerializer(serializers.Serializer[Any]):
    """What one author is to be paid."""

    author = serializers.CharField(source="subject", help_text="The host's id for them.")
    pseudonym = serializers.CharField()
    cents = serializers.IntegerField()
    currency = serializers.CharField()
    answers = serializers.IntegerField()


class PayoutDetailSerializer(PayoutSerializer):
    """A payout with a line for each author and currency."""

    rewards = serializers.SerializerMethodField()

    class Meta(PayoutSerializer.Meta):
        fields = [*PayoutSerializer.Meta.fields, "rewards"]

    @extend_schema_field(PayoutLineSerializer(many=True))
    def get_rewards(self, payout: Payout) -> Any:
        """Whom to pay how much."""
        return PayoutLineSerializer(payout_lines(payout), many=True).data
