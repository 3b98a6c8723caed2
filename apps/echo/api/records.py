"""REST for a site's managers: what Echo has learnt, selected and decided."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.authors.api.access import SiteScopedMixin
from apps.authors.models import Feature
from apps.echo.api.serializers import (
    DecisionSerializer,
    FeatureSummarySerializer,
    SelectionRecordSerializer,
)
from apps.echo.models import Decision, Selection
from apps.echo.selectors.echoes import echo_or_default
from apps.echo.selectors.learnt import summaries_of
from apps.echo.selectors.records import decisions_of, selections_of


class FeatureSummariesView(SiteScopedMixin, generics.GenericAPIView[Feature]):
    """What Echo has learnt about a site's features."""

    serializer_class = FeatureSummarySerializer
    queryset = Feature.objects.none()

    @extend_schema(
        operation_id="site_echo_features",
        responses=FeatureSummarySerializer(many=True),
        summary="List what Echo has learnt about each feature",
    )
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """In the site's order, also those that are asked about no more."""
        rows = self.site.features.order_by("-active", "position", "pk")
        page = self.paginate_queryset(rows) or []
        known = summaries_of(echo_or_default(self.site), page)
        return self.get_paginated_response(self.get_serializer(known, many=True).data)


class SelectionsView(SiteScopedMixin, generics.ListAPIView[Selection]):
    """What was selected, what of it was asked, and why."""

    read_right = Right.MANAGE
    queryset = Selection.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = SelectionRecordSerializer

    def get_queryset(self) -> Any:
        """The site's selections, newest first."""
        return selections_of(self.site)

    @extend_schema(operation_id="site_echo_selections", summary="List selections")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One for each message that Echo looked at."""
        return super().get(request, *args, **kwargs)


class DecisionsView(SiteScopedMixin, generics.ListAPIView[Decision]):
    """What was decided about offers."""

    read_right = Right.MANAGE
    queryset = Decision.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = DecisionSerializer

    def get_queryset(self) -> Any:
        """The site's decisions, newest first."""
        return decisions_of(self.site)

    @extend_schema(operation_id="site_echo_decisions", summary="List decisions about offers")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One for each message that could have had an offer, in every arm."""
        return super().get(request, *args, **kwargs)
