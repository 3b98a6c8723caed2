"""REST: experiments and their comparison."""

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import User
from apps.agreement.api.experiment_serializers import (
    ComparisonSerializer,
    ExperimentRequestSerializer,
    ExperimentSerializer,
)
from apps.agreement.experiments import report_of
from apps.agreement.experiments.wording import finding
from apps.debates import services, tasks
from apps.debates.api.views import plan_from
from apps.debates.models import Experiment
from apps.debates.selectors import experiments as selectors
from apps.debates.services import RunPlan
from apps.projects.api.viewsets import ProjectScopedMixin


class ExperimentList(ProjectScopedMixin, ListAPIView[Experiment]):
    """``projects/{slug}/experiments/``."""

    serializer_class = ExperimentSerializer
    queryset = Experiment.objects.none()

    def get_queryset(self) -> QuerySet[Experiment]:
        """The project's experiments, newest first."""
        return selectors.experiments_of(self.project).prefetch_related("runs")

    @extend_schema(operation_id="experiment_list", tags=["experiments"])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Experiments of a project, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="experiment_start",
        tags=["experiments"],
        request=ExperimentRequestSerializer,
        responses={201: ExperimentSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Start a trial run for each arm, and for each vote of equal budget, on verified items."""
        asked = ExperimentRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        fields: dict[str, Any] = asked.validated_data
        made = services.start_experiment(
            project=self.project,
            actor=cast(User, request.user),
            title=fields["title"],
            arms=[_plan(arm, fields) for arm in fields["arms"]],
            equal_budget_votes=fields["equal_budget_votes"],
        )
        for run in made.runs.all():
            tasks.launch_run(run.pk)
        return Response(ExperimentSerializer(made).data, status=status.HTTP_201_CREATED)


class ExperimentDetail(APIView):
    """``experiments/{id}/``."""

    @extend_schema(operation_id="experiment", tags=["experiments"], responses=ComparisonSerializer)
    def get(self, request: Request, experiment_id: int) -> Response:
        """An experiment and the comparison of its arms as they stand now."""
        experiment = selectors.visible_experiment(request.user, experiment_id)
        arms = selectors.arms_of(experiment)
        body: dict[str, Any] = dict(ExperimentSerializer(experiment).data)
        if arms:
            report = report_of(experiment, arms)
            body |= {"finding": finding(report), **report.to_json()}
        return Response(body)


def _plan(arm: dict[str, Any], fields: dict[str, Any]) -> RunPlan:
    """An arm as a run is asked for; what all arms share stands beside them."""
    shared = {name: fields.get(name) for name in ("limit", "replicates", "budget")}
    return plan_from({**shared, **arm, "only_unlabelled": False, "reuse_answers": False})
