"""REST: starting, watching and steering runs."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.common.api.negotiation import OneRenderer
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
from apps.debates.models import Debate, Run
from apps.debates.selectors import DebateFilters
from apps.debates.services import RunPlan
from apps.debates.transcripts import transcript_response
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName, default_models
from apps.llm.services import ensure_builtin, known_model
from apps.projects.api.viewsets import ProjectScopedMixin
from apps.projects.selectors import get_project


class RunList(ProjectScopedMixin, ListAPIView[Run]):
    """``projects/{slug}/runs/``."""

    serializer_class = RunSerializer
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        """The project's runs, newest first."""
        return selectors.runs_of(self.project).select_related("project", "schema")

    @extend_schema(operation_id="run_list", tags=["runs"])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Runs of a project, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="run_start",
        tags=["runs"],
        request=RunRequestSerializer,
        responses={201: RunDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Start a run; a worker takes it up."""
        asked = RunRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        plan = plan_from(asked.validated_data)
        run = services.start_run(project=self.project, actor=cast(User, request.user), plan=plan)
        tasks.launch_run(run.pk)
        shown = selectors.visible_run(request.user, run.pk)
        return Response(RunDetailSerializer(shown).data, status=status.HTTP_201_CREATED)


class RunDetail(APIView):
    """``runs/{id}/``."""

    @extend_schema(operation_id="run", tags=["runs"], responses=RunDetailSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """A run with its progress and cost."""
        return Response(RunDetailSerializer(selectors.visible_run(request.user, run_id)).data)


_FILTERS = [
    OpenApiParameter("status", enum=Debate.Status.values),
    OpenApiParameter("reason", description="Code of a reason for which people are asked."),
    OpenApiParameter("flag", description="Code of what was noticed."),
    OpenApiParameter(
        "gold", enum=list(selectors.GOLD), description="The outcome against what is decided now."
    ),
    OpenApiParameter("disagrees", enum=["gold"], description="The same as gold=differs."),
    OpenApiParameter(
        "changed",
        enum=list(selectors.CHANGED),
        description="The outcome against the first opinion; better and worse by gold.",
    ),
    OpenApiParameter(
        "overruled", enum=list(selectors.OVERRULED), description="Whom the judge overruled."
    ),
    OpenApiParameter("q", description="In the item's text or id."),
    OpenApiParameter("sort", enum=[name for name in selectors.SORTS if name]),
]


class RunDebates(ListAPIView[Debate]):
    """``runs/{id}/debates/``."""

    serializer_class = DebateSerializer
    queryset = Debate.objects.none()

    def get_queryset(self) -> QuerySet[Debate]:
        """The run's debates that pass the filters of the query string."""
        run = selectors.visible_run(self.request.user, self.kwargs["run_id"])
        filters = DebateFilters.of(self.request.query_params, strict=True)
        return selectors.find_debates(run, filters, self.request.user)

    @extend_schema(operation_id="run_debates", tags=["runs"], parameters=_FILTERS)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The run's debates in the order of their items, or of ``sort``."""
        return super().get(request, *args, **kwargs)


class RunTranscripts(APIView):
    """``runs/{id}/transcripts/``."""

    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="run_transcripts",
        tags=["runs"],
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run_id: int) -> StreamingHttpResponse:
        """The run's debates that you may see, with all of their turns, one JSON object a line."""
        return transcript_response(selectors.visible_run(request.user, run_id), request.user)


class DebateDetail(APIView):
    """``debates/{id}/``."""

    @extend_schema(operation_id="debate", tags=["runs"], responses=DebateDetailSerializer)
    def get(self, request: Request, debate_id: int) -> Response:
        """A debate with its turns."""
        debate = selectors.visible_debate(request.user, debate_id)
        return Response(DebateDetailSerializer(debate).data)


class _Steer(APIView):
    """POST that changes a run's status; for managers of its project."""

    change: ClassVar[Callable[..., Run]]
    launches: ClassVar[bool] = False

    def managed(self, request: Request, run_id: int) -> Run:
        """The run, for who manages its project."""
        run = selectors.visible_run(request.user, run_id)
        get_project(request.user, run.project.slug, Right.MANAGE)
        return run

    def steer(self, request: Request, run_id: int) -> Response:
        """Check the right, change, answer with the run."""
        run = self.managed(request, run_id)
        type(self).change(run=run)
        if self.launches:
            tasks.launch_run(run.pk)
        return Response(RunDetailSerializer(selectors.visible_run(request.user, run_id)).data)


class RunPause(_Steer):
    """``runs/{id}/pause/``."""

    change = services.pause_run

    @extend_schema(
        operation_id="run_pause", tags=["runs"], request=None, responses=RunDetailSerializer
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Start no further calls; what is under way is finished and kept."""
        return self.steer(request, run_id)


class RunResume(_Steer):
    """``runs/{id}/resume/``."""

    change = services.resume_run
    launches = True

    @extend_schema(
        operation_id="run_resume",
        tags=["runs"],
        request=ResumeSerializer,
        responses=RunDetailSerializer,
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Go on, perhaps with another budget, and try failed debates again."""
        asked = ResumeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if "budget" in asked.validated_data:
            budget = nanousd(asked.validated_data["budget"])
            services.set_budget(run=self.managed(request, run_id), budget_nanousd=budget)
        return self.steer(request, run_id)


class RunCancel(_Steer):
    """``runs/{id}/cancel/``."""

    change = services.cancel_run

    @extend_schema(
        operation_id="run_cancel", tags=["runs"], request=None, responses=RunDetailSerializer
    )
    def post(self, request: Request, run_id: int) -> Response:
        """End the run for good; its labels stay."""
        return self.steer(request, run_id)


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
