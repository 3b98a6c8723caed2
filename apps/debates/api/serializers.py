"""Shapes of runs, debates and turns on the wire."""

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.debates.conversation.summary import gold_of, verdict_of
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.selectors import RunProgress, progress
from apps.debates.transcripts import DEBATE_FIELDS, TURN_FIELDS
from labelhub.core.debate import LABELLING


def _budget_field() -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        help_text="USD; needs known prices. Null: no limit.",
    )


class ResumeSerializer(serializers.Serializer[Any]):
    """What may change when a run goes on."""

    budget = _budget_field()


class RunRequestSerializer(serializers.Serializer[Any]):
    """A run as asked for. ``model`` plays every role that ``models`` does not name."""

    protocol = serializers.ChoiceField(choices=list(LABELLING))
    model = serializers.CharField(required=False)
    annotators = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=9,
        help_text="Models that annotators at one table take in turn.",
    )
    models = serializers.DictField(child=serializers.CharField(), required=False)
    settings = serializers.DictField(
        required=False, help_text="The protocol's settings that are not the usual ones."
    )
    params = serializers.DictField(
        child=serializers.DictField(), required=False, help_text="Role to what its model is asked."
    )
    limit = serializers.IntegerField(min_value=1, required=False, allow_null=True)
    items = serializers.ListField(
        child=serializers.IntegerField(), required=False, max_length=10_000
    )
    only_unlabelled = serializers.BooleanField(default=False)
    replicates = serializers.IntegerField(min_value=1, max_value=20, default=1)
    budget = _budget_field()
    reuse_answers = serializers.BooleanField(
        default=True, help_text="Take answers from earlier runs where nothing differs."
    )


class RunRoleSerializer(serializers.ModelSerializer[RunRole]):
    """Who plays a role, by which prompt."""

    model = serializers.CharField(source="model.name")
    provider = serializers.CharField(source="model.provider.name")
    offline = serializers.BooleanField(source="model.offline")
    prompt = serializers.CharField(source="prompt.hash")

    class Meta:
        model = RunRole
        fields = ["role", "model", "provider", "offline", "prompt"]


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run in a list."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    roles = RunRoleSerializer(many=True, read_only=True)
    schema_version = serializers.IntegerField(source="schema.version")
    settings = serializers.JSONField(source="protocol_settings", read_only=True)
    cost_usd = serializers.SerializerMethodField()
    unanswered_usd = serializers.SerializerMethodField()
    budget_usd = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "id",
            "uid",
            "project",
            "protocol",
            "settings",
            "params",
            "trial",
            "reuse_answers",
            "replicates",
            "roles",
            "schema_version",
            "spec_hash",
            "status",
            "pause_code",
            "message",
            "resume_at",
            "cost_usd",
            "unanswered_usd",
            "budget_usd",
            "created_at",
            "started_at",
            "finished_at",
        ]

    def get_cost_usd(self, run: Run) -> float | None:
        """What the calls cost so far; null when a price is unknown."""
        return None if run.unpriced_turns else run.cost_nanousd / 1e9

    def get_unanswered_usd(self, run: Run) -> float:
        """The most that providers may charge for calls that got no answer; no part of the cost."""
        return run.unread_nanousd / 1e9

    def get_budget_usd(self, run: Run) -> float | None:
        """The most the run may cost."""
        return None if run.budget_nanousd is None else run.budget_nanousd / 1e9


class ProgressSerializer(serializers.Serializer[RunProgress]):
    """How far a run is; counts are debates."""

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    unparsed = serializers.IntegerField()
    failed = serializers.IntegerField()
    waiting = serializers.IntegerField()
    turns = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost_usd = serializers.FloatField(allow_null=True)
    calls_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)
    no_estimate = serializers.CharField(allow_blank=True)
    limited_by = serializers.CharField(allow_blank=True)


class RunDetailSerializer(RunSerializer):
    """One run with its progress."""

    progress = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "progress"]

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, run: Run) -> dict[str, Any]:
        """Counts, sums and an estimate of the time left."""
        return dict(ProgressSerializer(progress(run)).data)


class DebateSerializer(serializers.ModelSerializer[Debate]):
    """One item's passage through a run."""

    item_external_id = serializers.CharField(source="item.external_id")
    value = serializers.SerializerMethodField("read_value")
    gold = serializers.SerializerMethodField("read_gold")

    class Meta:
        model = Debate
        fields = [*DEBATE_FIELDS]

    @extend_schema_field(serializers.JSONField(allow_null=True))
    def read_value(self, debate: Debate) -> Any:
        """What it concluded, also where a trial run put nothing into the ledger."""
        return verdict_of(debate)

    @extend_schema_field(serializers.JSONField(allow_null=True))
    def read_gold(self, debate: Debate) -> Any:
        """What is decided of its item now."""
        gold = gold_of(debate)
        return gold.value if gold else None


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """One call: as asked, as answered."""

    model = serializers.CharField(source="model.name")
    prompt = serializers.CharField(source="prompt.hash")
    cost_usd = serializers.SerializerMethodField()

    class Meta:
        model = Turn
        fields = [*TURN_FIELDS]

    def get_cost_usd(self, turn: Turn) -> float | None:
        """Null when the model's price is unknown."""
        return None if turn.cost_nanousd is None else turn.cost_nanousd / 1e9


class DebateDetailSerializer(DebateSerializer):
    """A debate with all of its turns."""

    turns = TurnSerializer(many=True, read_only=True)

    class Meta(DebateSerializer.Meta):
        fields = [*DebateSerializer.Meta.fields, "turns"]
