"""REST: evaluation against gold, and the gold itself."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agreement.api.serializers import (
    EvaluationQuerySerializer,
    EvaluationSerializer,
    GoldSerializer,
)
from apps.agreement.selectors import evaluation_report, gold_rows
from apps.labels.models import Gold
from apps.projects.api.viewsets import ProjectScopedMixin


class EvaluationView(ProjectScopedMixin):
    """Predicted against gold."""

    @extend_schema(
        parameters=[EvaluationQuerySerializer],
        responses=EvaluationSerializer,
        operation_id="evaluation",
    )
    def get(self, request: Request, slug: str) -> Response:
        """Counts, precision, recall, F1, accuracy per label and overall, with intervals."""
        query = EvaluationQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked: dict[str, Any] = query.validated_data
        report = evaluation_report(
            self.project,
            run_id=asked.get("run"),
            annotator_id=asked.get("annotator"),
            replicate=asked["replicate"],
        )
        return Response(report.to_json())


class GoldView(ProjectScopedMixin, ListAPIView[Gold]):
    """The decided values, as they stand now."""

    serializer_class = GoldSerializer
    queryset = Gold.objects.none()

    def get_queryset(self) -> Any:
        """This project's gold in the order of its items."""
        return gold_rows(self.project, self.request.user)
