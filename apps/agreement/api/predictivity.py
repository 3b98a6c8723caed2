"""REST: studies of predictivity."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import User
from apps.agreement import tasks
from apps.agreement.models import Study
from apps.agreement.predictivity.planning import USUAL_EXAMPLES, StudyPlan
from apps.agreement.predictivity.results import result_of
from apps.agreement.predictivity.studies import (
    cancel_study,
    get_study,
    pause_study,
    resume_study,
    start_study,
)
from apps.common.figures import nanousd
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName, default_model
from apps.llm.services import ensure_builtin, known_model
from apps.projects.api.mixins import ProjectScopedMixin
from labelhub.core.agreement.predictivity import MOST_EXAMPLES, SOURCES
from labelhub.core.errors import NotFound


class StudyRequestSerializer(serializers.Serializer[Any]):
    """A study as asked for."""

    model = serializers.CharField(required=False, help_text="By default the first one set up.")
    sources = serializers.ListField(
        child=serializers.ChoiceField(list(SOURCES)),
        required=False,
        help_text="By default the author, chance, and who has labelled half of the items.",
    )
    examples = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=MOST_EXAMPLES),
        required=False,
        allow_empty=False,
        help_text="How many other answers are shown, each number in turn.",
    )
    limit = serializers.IntegerField(required=False, allow_null=True, min_value=1)
    budget = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        help_text="USD; needs known prices. Left out: a begun study keeps its own; null: none.",
    )


class StudyChoiceSerializer(serializers.Serializer[Any]):
    """Which study."""

    study = serializers.IntegerField(required=False, help_text="The newest by default.")


class PredictivityView(ProjectScopedMixin):
    """``projects/{slug}/predictivity/``."""

    @extend_schema(
        operation_id="predictivity",
        tags=["agreement"],
        parameters=[OpenApiParameter("study", int, description="The newest by default.")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """A study's state and its figures; ``{"study": null}`` where there is none."""
        asked = StudyChoiceSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        study = get_study(self.project, asked.validated_data.get("study"))
        return Response({"study": None} if study is None else result_of(study).to_json())

    @extend_schema(
        operation_id="predictivity_start",
        tags=["agreement"],
        request=StudyRequestSerializer,
        responses={201: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Start a study, or continue the one of the same plan; a worker takes it up."""
        asked = StudyRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        plan = _plan(asked.validated_data)
        study = start_study(project=self.project, actor=cast(User, request.user), plan=plan)
        tasks.launch_study(study.pk)
        told = get_study(self.project, study.pk) or study
        return Response(result_of(told).to_json(), status=status.HTTP_201_CREATED)


class _Steer(ProjectScopedMixin):
    """POST that changes a study's status."""

    change: ClassVar[Callable[..., Study]]

    def steer(self, request: Request) -> Response:
        """Change the study that the body names, the newest by default; answer with it."""
        asked = StudyChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        study = get_study(self.project, asked.validated_data.get("study"))
        if study is None:
            raise NotFound("There is no study in this project.")
        type(self).change(study=study)
        tasks.launch_study(study.pk)
        told = get_study(self.project, study.pk) or study
        return Response(result_of(told).to_json())


class PredictivityPause(_Steer):
    """``projects/{slug}/predictivity/pause/``."""

    change = pause_study

    @extend_schema(
        operation_id="predictivity_pause",
        tags=["agreement"],
        request=StudyChoiceSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Start no further calls; what is under way is finished and kept."""
        return self.steer(request)


class PredictivityResume(_Steer):
    """``projects/{slug}/predictivity/resume/``."""

    change = resume_study

    @extend_schema(
        operation_id="predictivity_resume",
        tags=["agreement"],
        request=StudyChoiceSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Go on, and ask again what failed."""
        return self.steer(request)


class PredictivityCancel(_Steer):
    """``projects/{slug}/predictivity/cancel/``."""

    change = cancel_study

    @extend_schema(
        operation_id="predictivity_cancel",
        tags=["agreement"],
        request=StudyChoiceSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, slug: str) -> Response:
        """End it for good; what was predicted stays."""
        return self.steer(request)


def _plan(asked: dict[str, Any]) -> StudyPlan:
    ensure_builtin()
    return StudyPlan(
        model=_model(asked["model"]) if asked.get("model") else default_model(),
        sources=tuple(asked.get("sources", ())),
        examples=tuple(asked.get("examples", USUAL_EXAMPLES)),
        limit=asked.get("limit"),
        budget_nanousd=nanousd(asked.get("budget")),
        unlimited="budget" in asked and asked["budget"] is None,
    )


def _model(name: str) -> ModelSpec:
    """The model of that name; the message of a 400 lists the known ones."""
    try:
        return known_model(name)
    except UnknownModelName as error:
        raise serializers.ValidationError({"model": [error.message]}) from None
