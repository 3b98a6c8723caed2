"""REST for a site's managers: what was heard and answered, whom to trust, what is owed."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.authors.api.access import SiteScopedMixin
from apps.authors.api.filters import AnswerFilter, RewardFilter
from apps.authors.api.record_serializers import (
    AnswerSerializer,
    PayoutDetailSerializer,
    PayoutSerializer,
    RewardSerializer,
    RulingSerializer,
    StandingSerializer,
)
from apps.authors.models import Answer, Payout, Reward
from apps.authors.selectors.people import get_author, get_payout
from apps.authors.selectors.records import answers_of, payouts_of, rewards_of
from apps.authors.services.rewards import pay_out, payout_csv
from apps.authors.services.trust import rule
from apps.common.api.listing import paged
from apps.common.api.negotiation import OneRenderer

CSV = "text/csv"
_FORMAT = OpenApiParameter(
    "format", enum=["json", "csv"], description="csv, or the Accept header text/csv: a file."
)
_FILE = {(200, "application/json"): PayoutDetailSerializer, (200, CSV): OpenApiTypes.STR}
_MADE = {(201, "application/json"): PayoutDetailSerializer, (201, CSV): OpenApiTypes.STR}


class AnswersView(SiteScopedMixin, generics.ListAPIView[Answer]):
    """What was answered on a site."""

    read_right = Right.MANAGE
    queryset = Answer.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = AnswerSerializer
    filterset_class = AnswerFilter

    def get_queryset(self) -> Any:
        """The site's answers, newest first."""
        return answers_of(self.site)

    @extend_schema(operation_id="site_answers", summary="List answers")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Also those that were taken back or excluded; they say when and why."""
        return super().get(request, *args, **kwargs)


class RulingView(SiteScopedMixin):
    """Whether an author's answers count."""

    @extend_schema(
        operation_id="site_author_ruling",
        request=RulingSerializer,
        responses=StandingSerializer,
        summary="Decide whom to trust",
    )
    def post(self, request: SignedInApiRequest, public_key: str, uid: UUID) -> Response:
        """A decision over the signals; null leaves it to them again. Labels and rewards follow."""
        sent = RulingSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        author = get_author(self.site, uid)
        rule(author, **sent.validated_data)
        return Response(StandingSerializer(get_author(self.site, uid)).data)


class RewardsView(SiteScopedMixin, generics.ListAPIView[Reward]):
    """What authors are owed."""

    read_right = Right.MANAGE
    queryset = Reward.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = RewardSerializer
    filterset_class = RewardFilter

    def get_queryset(self) -> Any:
        """The site's rewards, oldest first."""
        return rewards_of(self.site)

    @extend_schema(operation_id="site_rewards", summary="List rewards")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One for each answer that earned something."""
        return super().get(request, *args, **kwargs)


class PayoutsView(SiteScopedMixin, generics.GenericAPIView[Payout]):
    """What the host was given to pay."""

    read_right = Right.MANAGE
    queryset = Payout.objects.none()
    serializer_class = PayoutSerializer
    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="site_payouts", responses=PayoutSerializer(many=True), summary="List payouts"
    )
    def get(self, request: Request, public_key: str) -> Response:
        """Newest first."""
        return paged(self, payouts_of(self.site))

    @extend_schema(
        operation_id="site_payout_create",
        request=None,
        parameters=[_FORMAT],
        responses=_MADE,
        summary="Pay out",
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> HttpResponse:
        """Everything that is due, each reward once. An answer that got lost on its way can be
        fetched again from the list."""
        payout = pay_out(self.site, request.user)
        return _told(request, payout, status.HTTP_201_CREATED)


class PayoutView(SiteScopedMixin):
    """One payout."""

    read_right = Right.MANAGE
    content_negotiation_class = OneRenderer

    @extend_schema(
        operation_id="site_payout", parameters=[_FORMAT], responses=_FILE, summary="Show a payout"
    )
    def get(self, request: Request, public_key: str, payout_id: int) -> HttpResponse:
        """Whom to pay how much. Who had their data deleted since is in the sum alone."""
        return _told(request, get_payout(self.site, payout_id), status.HTTP_200_OK)


def _told(request: Request, payout: Payout, code: int) -> HttpResponse:
    wanted = request.query_params.get("format") or request.headers.get("Accept", "")
    if wanted == "csv" or CSV in wanted:
        response = HttpResponse(
            payout_csv(payout), status=code, content_type=f"{CSV}; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="payout-{payout.pk}.csv"'
        return response
    return Response(PayoutDetailSerializer(payout).data, status=code)
