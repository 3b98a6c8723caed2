"""REST: learning from labels."""

from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import User
from apps.common.api.pagination import PageNumberPagination
from apps.learning.api.serializers import LearningRequestSerializer, LearningSerializer
from apps.learning.reporting import report, suspect_rows
from apps.learning.selectors import standing_of, suspects_of
from apps.learning.selectors.standing import may_see_suspects
from apps.learning.services import start_training, switch_learning
from apps.projects.api.viewsets import ProjectScopedMixin


class LearningView(ProjectScopedMixin):
    """``projects/{slug}/learning/``."""

    @extend_schema(
        operation_id="learning",
        tags=["learning"],
        parameters=[
            OpenApiParameter("page", int, description="Of the suspects."),
            OpenApiParameter("page_size", int, description="At most 1000."),
        ],
        responses=LearningSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The switch, the newest model with its quality, and gold that is probably wrong."""
        return Response(self._told(request))

    @extend_schema(
        operation_id="learning_change",
        tags=["learning"],
        request=LearningRequestSerializer,
        responses=LearningSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Switch learning on or off, or train now; a worker takes it up."""
        asked = LearningRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        on, actor = asked.validated_data.get("on"), cast(User, request.user)
        if on is not None:
            switch_learning(project=self.project, on=on, actor=actor)
        if asked.validated_data["train"]:
            start_training(project=self.project, actor=actor)
        return Response(self._told(request))

    def _told(self, request: Request) -> dict[str, Any]:
        user = cast(User, request.user)
        suspects = None
        if may_see_suspects(user, self.project):
            pages = PageNumberPagination()
            found = pages.paginate_queryset(suspects_of(self.project, user), request, self)
            suspects = pages.get_paginated_response(suspect_rows(found or ())).data
        return {**report(standing_of(self.project)), "suspects": suspects}
