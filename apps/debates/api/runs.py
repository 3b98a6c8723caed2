"""REST: start, watch and control runs."""

from decimal import Decimal
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.negotiation import OneRenderer
from apps.common.api.viewsets import ApiViewSet
from apps.common.figures import nanousd
from apps.debates import selectors, services, tasks
from apps.debates.conversation.summary import gold_of, verdict_of
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.selectors import DebateFilter, RunProgress, progress
from apps.debates.services import RunPlan
from apps.debates.transcripts import DEBATE_FIELDS, TURN_FIELDS, transcript_response
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName, default_models
from apps.llm.services import ensure_builtin, known_model
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from apps.projects.selectors import get_project
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
    """The changes of a run that is resumed."""

    budget = _budget_field()


class RunRequestSerializer(serializers.Serializer[Any]):
    """The plan of a run. ``model`` is for all roles that ``models`` does not name."""

    protocol = serializers.ChoiceField(choices=list(LABELLING))
    model = serializers.CharField(required=False)
    annotators = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=9,
        help_text="Models that the annotators of a vote or discussion take in turn.",
    )
    models = serializers.DictField(child=serializers.CharField(), required=False)
    settings = serializers.DictField(
        required=False, help_text="Settings of the protocol that differ from the defaults."
    )
    params = serializers.DictField(
        child=serializers.DictField(), required=False, help_text="Role → parameters of its model."
    )
    limit = serializers.IntegerField(min_value=1, required=False, allow_null=True)
    items = serializers.ListField(
        child=serializers.IntegerField(), required=False, max_length=10_000
    )
    only_unlabelled = serializers.BooleanField(default=False)
    replicates = serializers.IntegerField(min_value=1, max_value=20, default=1)
    budget = _budget_field()
    reuse_answers = serializers.BooleanField(
        default=True, help_text="Reuse answers of earlier runs to equal calls."
    )


class RunRoleSerializer(serializers.ModelSerializer[RunRole]):
    """The model and the prompt of a role."""

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
        """The cost of the calls so far; null if a price is unknown."""
        return None if run.unpriced_turns else run.cost_nanousd / 1e9

    def get_unanswered_usd(self, run: Run) -> float:
        """The most that providers may charge for calls without an answer; not part of the cost."""
        return run.unread_nanousd / 1e9

    def get_budget_usd(self, run: Run) -> float | None:
        """The budget of the run."""
        return None if run.budget_nanousd is None else run.budget_nanousd / 1e9


class ProgressSerializer(serializers.Serializer[RunProgress]):
    """The progress of a run; counts are debates."""

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
        """The value of the debate, also in a trial run, which stores no labels."""
        return verdict_of(debate)

    @extend_schema_field(serializers.JSONField(allow_null=True))
    def read_gold(self, debate: Debate) -> Any:
        """The present gold of its item."""
        gold = gold_of(debate)
        return gold.value if gold else None


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """One call with request and answer."""

    model = serializers.CharField(source="model.name")
    prompt = serializers.CharField(source="prompt.hash")
    cost_usd = serializers.SerializerMethodField()

    class Meta:
        model = Turn
        fields = [*TURN_FIELDS]

    def get_cost_usd(self, turn: Turn) -> float | None:
        """Null if the model's price is unknown."""
        return None if turn.cost_nanousd is None else turn.cost_nanousd / 1e9


class DebateDetailSerializer(DebateSerializer):
    """A debate with all of its turns."""

    turns = TurnSerializer(many=True, read_only=True)

    class Meta(DebateSerializer.Meta):
        fields = [*DebateSerializer.Meta.fields, "turns"]


@extend_schema(tags=["runs"])
class ProjectRunViewSet(ProjectViewSet):
    """The runs of a project."""

    serializer_class = RunSerializer

    @extend_schema(operation_id="run_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List runs.

        Newest first.
        """
        return self.list_page(selectors.runs_of(self.project).select_related("project", "schema"))

    @extend_schema(
        operation_id="run_start",
        request=RunRequestSerializer,
        responses={201: RunDetailSerializer},
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Start a run.

        A worker starts it within seconds.
        """
        plan = plan_from(self.read_body(RunRequestSerializer), self.project)
        run = services.start_run(project=self.project, actor=request.user, plan=plan)
        tasks.launch_run(run.pk)
        shown = selectors.visible_run(request.user, run.pk)
        return Response(RunDetailSerializer(shown).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["runs"])
class RunViewSet(ApiViewSet):
    """One run, by its id; only managers of its project may control it."""

    lookup_url_kwarg = "run_id"
    serializer_class = RunDetailSerializer

    def run(self) -> Run:
        """The run in the address, read again."""
        return selectors.visible_run(self.request.user, self.kwargs["run_id"])

    def managed_run(self) -> Run:
        """The run in the address, for managers of its project."""
        run = self.run()
        get_project(self.request.user, run.project.slug, Right.MANAGE)
        return run

    def retrieve(self, request: SignedInApiRequest, **_: int) -> Response:
        """Show a run.

        With its progress and cost.
        """
        return Response(self.get_serializer(self.run()).data)

    @extend_schema(responses=DebateSerializer(many=True))
    @action(detail=True, serializer_class=DebateSerializer, filterset_class=DebateFilter)
    def debates(self, request: SignedInApiRequest, **_: int) -> Response:
        """List the debates of a run.

        In the order of their items, or of ``sort``.
        """
        return self.list_page(selectors.comparable_debates(self.run(), request.user))

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.STR})
    @action(detail=True, content_negotiation_class=OneRenderer)
    def transcripts(self, request: SignedInApiRequest, **_: int) -> StreamingHttpResponse:
        """Download the transcripts of a run.

        The debates that you may see, with all of their turns, as JSON lines.
        """
        return transcript_response(self.run(), request.user)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: SignedInApiRequest, **_: int) -> Response:
        """Pause a run.

        It starts no further calls; calls under way are finished and stored.
        """
        services.pause_run(run=self.managed_run())
        return self.retrieve(request)

    @extend_schema(request=ResumeSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: SignedInApiRequest, **_: int) -> Response:
        """Resume a run.

        Try failed debates again, optionally with another budget.
        """
        asked = self.read_body(ResumeSerializer)
        if "budget" in asked:
            services.set_budget(run=self.managed_run(), budget_nanousd=nanousd(asked["budget"]))
        run = self.managed_run()
        services.resume_run(run=run)
        tasks.launch_run(run.pk)
        return self.retrieve(request)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: SignedInApiRequest, **_: int) -> Response:
        """Cancel a run.

        The run cannot be resumed; its labels are kept.
        """
        services.cancel_run(run=self.managed_run())
        return self.retrieve(request)


@extend_schema(tags=["runs"])
class DebateViewSet(ApiViewSet):
    """One debate, by its id."""

    lookup_url_kwarg = "debate_id"
    serializer_class = DebateDetailSerializer

    def retrieve(self, request: SignedInApiRequest, debate_id: int) -> Response:
        """Show a debate.

        With its turns.
        """
        return Response(self.get_serializer(selectors.visible_debate(request.user, debate_id)).data)


def _model(field: str, name: str, project: Project) -> ModelSpec:
    """The model that ``field`` names; the message of a 400 lists the known ones."""
    try:
        return known_model(name, project)
    except UnknownModelName as error:
        raise ValidationError({field: [error.message]}) from None


def plan_from(asked: dict[str, Any], project: Project) -> RunPlan:
    """The plan in a checked request."""
    ensure_builtin()
    by_role = {
        role: _model(f"models.{role}", name, project)
        for role, name in asked.get("models", {}).items()
    }
    others = [_model("annotators", name, project) for name in asked.get("annotators", [])]
    others = others or ([_model("model", asked["model"], project)] if asked.get("model") else [])
    settings = services.with_annotator_count(asked["protocol"], others, asked.get("settings", {}))
    return RunPlan(
        protocol=asked["protocol"],
        models=services.models_for_roles(
            asked["protocol"], by_role, others or default_models(project), settings
        ),
        settings=settings,
        reuse_answers=asked["reuse_answers"],
        params=asked.get("params", {}),
        limit=asked.get("limit"),
        item_ids=asked.get("items"),
        only_unlabelled=asked["only_unlabelled"],
        replicates=asked["replicates"],
        budget_nanousd=nanousd(asked.get("budget")),
    )
