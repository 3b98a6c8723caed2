"""REST: starting, watching and steering runs."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.negotiation import OneRenderer
from apps.common.api.viewsets import ApiViewSet
from apps.common.figures import nanousd
from apps.debates import selectors, services, tasks
from apps.debates.api.serializers import (
    DebateDetailSerializer,
    DebateSerializer,
    ResumeSerializer,
    RunDetailSerializer,
    RunRequestSerializer,
    RunSerializer,
)
from apps.debates.models import Run
from apps.debates.selectors import DebateFilter
from apps.debates.services import RunPlan
from apps.debates.transcripts import transcript_response
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName, default_models
from apps.llm.services import ensure_builtin, known_model
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.selectors import get_project


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

        A worker takes it up.
        """
        plan = plan_from(self.read_body(RunRequestSerializer))
        run = services.start_run(project=self.project, actor=request.user, plan=plan)
        tasks.launch_run(run.pk)
        shown = selectors.visible_run(request.user, run.pk)
        return Response(RunDetailSerializer(shown).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["runs"])
class RunViewSet(ApiViewSet):
    """One run, by its id alone; to steer it is for managers of its project."""

    lookup_url_kwarg = "run_id"
    serializer_class = RunDetailSerializer

    def run(self) -> Run:
        """The one of the address, as it is now."""
        return selectors.visible_run(self.request.user, self.kwargs["run_id"])

    def managed_run(self) -> Run:
        """The same, for who manages its project."""
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

        Its debates that you may see, with all of their turns, one JSON object a line.
        """
        return transcript_response(self.run(), request.user)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: SignedInApiRequest, **_: int) -> Response:
        """Pause a run.

        It starts no further calls; what is under way is finished and kept.
        """
        services.pause_run(run=self.managed_run())
        return self.retrieve(request)

    @extend_schema(request=ResumeSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: SignedInApiRequest, **_: int) -> Response:
        """Resume a run.

        Go on, perhaps with another budget, and try failed debates again.
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

        For good; its labels stay.
        """
        services.cancel_run(run=self.managed_run())
        return self.retrieve(request)


@extend_schema(tags=["runs"])
class DebateViewSet(ApiViewSet):
    """One debate, by its id alone."""

    lookup_url_kwarg = "debate_id"
    serializer_class = DebateDetailSerializer

    def retrieve(self, request: SignedInApiRequest, debate_id: int) -> Response:
        """Show a debate.

        With its turns.
        """
        return Response(self.get_serializer(selectors.visible_debate(request.user, debate_id)).data)


def _model(field: str, name: str) -> ModelSpec:
    """The model that ``field`` names; the message of a 400 lists the known ones."""
    try:
        return known_model(name)
    except UnknownModelName as error:
        raise ValidationError({field: [error.message]}) from None


def plan_from(asked: dict[str, Any]) -> RunPlan:
    """The plan in a checked request."""
    ensure_builtin()
    by_role = {
        role: _model(f"models.{role}", name) for role, name in asked.get("models", {}).items()
    }
    others = [_model("annotators", name) for name in asked.get("annotators", [])]
    others = others or ([_model("model", asked["model"])] if asked.get("model") else [])
    settings = services.seats_for(asked["protocol"], others, asked.get("settings", {}))
    return RunPlan(
        protocol=asked["protocol"],
        models=services.models_for_roles(
            asked["protocol"], by_role, others or default_models(), settings
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
