"""How a project is reviewed, over REST."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.projects.api.viewsets import ProjectViewSet
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


class PlanViewSet(ProjectViewSet):
    """How many people label each item, and which items come to people."""

    serializer_class = PlanSerializer

    @extend_schema(operation_id="plan_read")
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show the review plan."""
        return Response(self.get_serializer(self.project).data)

    def partial_update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change the review plan.

        Every item is brought into line before the answer comes.
        """
        changes = self.read_body(PlanSerializer, partial=True)
        project = change_review_plan(project=self.project, by=request.user, **changes)
        return Response(self.get_serializer(project).data)


class ScreenViewSet(ProjectViewSet):
    """What reviewers are shown and asked."""

    serializer_class = ScreenSerializer

    @extend_schema(operation_id="screen_read")
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show what reviewers are shown and asked."""
        return Response(self.get_serializer(review_settings(self.project)).data)

    def partial_update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change what reviewers are shown and asked.

        It holds from the next item on.
        """
        settings = review_settings(self.project)
        given = self.get_serializer(settings, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        return Response(self.get_serializer(given.save()).data)
