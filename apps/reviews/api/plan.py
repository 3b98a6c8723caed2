"""How a project is reviewed, over REST."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.http import SignedInApiRequest
from apps.projects.api.mixins import ProjectScopedMixin
from apps.projects.models import Project
from apps.reviews.models import ReviewSettings
from apps.reviews.selectors.settings import review_settings
from apps.reviews.services import change_review_plan


class PlanSerializer(serializers.ModelSerializer[Project]):
    """How many people label each item, which items, in which order, how blind."""

    class Meta:
        model = Project
        fields = [
            "overlap", "review_scope", "queue_order", "dispute_above", "blind_share",
            "check_share", "qualify_items", "qualify_accuracy",
        ]  # fmt: skip


class ScreenSerializer(serializers.ModelSerializer[ReviewSettings]):
    """What reviewers are shown and asked."""

    class Meta:
        model = ReviewSettings
        fields = [
            "show_opinions", "allow_abstain", "ask_confidence", "ask_rationale", "ask_evidence",
            "shuffle_options",
        ]  # fmt: skip


class PlanView(ProjectScopedMixin, APIView):
    """How many people label each item, and which items come to people."""

    @extend_schema(operation_id="plan_read", responses=PlanSerializer)
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """The plan as it is."""
        return Response(PlanSerializer(self.project).data)

    @extend_schema(operation_id="plan_change", request=PlanSerializer, responses=PlanSerializer)
    def patch(self, request: SignedInApiRequest, slug: str) -> Response:
        """Change it; every item is brought into line before the answer comes."""
        given = PlanSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        project = change_review_plan(project=self.project, by=request.user, **given.validated_data)
        return Response(PlanSerializer(project).data)


class ScreenView(ProjectScopedMixin, APIView):
    """What reviewers are shown and asked."""

    @extend_schema(operation_id="screen_read", responses=ScreenSerializer)
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """The screen as it is set up."""
        return Response(ScreenSerializer(review_settings(self.project)).data)

    @extend_schema(
        operation_id="screen_change", request=ScreenSerializer, responses=ScreenSerializer
    )
    def patch(self, request: SignedInApiRequest, slug: str) -> Response:
        """Set it up otherwise; it holds from the next item on."""
        settings = review_settings(self.project)
        given = ScreenSerializer(settings, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        return Response(ScreenSerializer(given.save()).data)
