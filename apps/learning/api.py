"""REST: learning from labels."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.common.api.pagination import MOST
from apps.common.api.viewsets import Router
from apps.learning.report import report, suspect_rows
from apps.learning.selectors import learning_state, may_see_suspects, suspects_of
from apps.learning.services import start_training, switch_learning
from apps.projects.api.viewsets import ProjectViewSet


class LearningRequestSerializer(serializers.Serializer[Any]):
    """What to do: switch it, train now, or both."""

    on = serializers.BooleanField(
        required=False, help_text="Switch learning on or off. Training starts as soon as it can."
    )
    train = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Train a new version now; 422 if there is too little gold.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Something must be asked for.

        Raises:
            ValidationError: nothing is.
        """
        if "on" not in attrs and not attrs["train"]:
            raise serializers.ValidationError("Give on (true or false), train (true), or both.")
        return attrs


class TrainingSerializer(serializers.Serializer[Any]):
    """The current training."""

    version = serializers.IntegerField()
    status = serializers.CharField(help_text="queued, learning, applying.")
    step = serializers.CharField(allow_blank=True)
    share = serializers.FloatField(help_text="Progress of the training, 0 to 1.")
    labelled = serializers.IntegerField(help_text="Items that it has labelled so far.")


class ModelSerializer(serializers.Serializer[Any]):
    """The newest version with measured quality."""

    version = serializers.IntegerField()
    status = serializers.CharField()
    schema_version = serializers.IntegerField()
    examples = serializers.IntegerField(help_text="Gold labels that it was trained on.")
    left_out = serializers.IntegerField(
        help_text="Gold that the current schema does not offer, or that is too old."
    )
    labelled = serializers.IntegerField()
    labels_written = serializers.IntegerField()
    llm_is_offline = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    quality = serializers.DictField(
        help_text="Cross-validated: accuracy, macro_f1, labels, majority, llm, calibration_error."
    )
    quality_in_words = serializers.CharField()
    simulation = serializers.DictField(
        help_text="points, targets with labels needed by either order and saved, verdict "
        "(saves, costs, unclear, nothing), or a reason."
    )
    simulation_in_words = serializers.CharField()


class SuspectSerializer(serializers.Serializer[Any]):
    """A decision that is probably wrong."""

    item = serializers.IntegerField()
    external_id = serializers.CharField()
    text = serializers.CharField()
    gold = serializers.JSONField()
    model = serializers.JSONField(help_text="The model's label.")
    probability = serializers.FloatField()
    gold_probability = serializers.FloatField()
    suspicion = serializers.FloatField(help_text="The lead of the model's label over gold's.")
    version = serializers.IntegerField()


class SuspectPageSerializer(serializers.Serializer[Any]):
    """A page of decisions that are probably wrong, the worst first."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SuspectSerializer(many=True)


class LearningSerializer(serializers.Serializer[Any]):
    """The state of learning."""

    on = serializers.BooleanField()
    decided = serializers.IntegerField(help_text="Items with gold.")
    missing = serializers.IntegerField(
        help_text="Decisions still needed before the first training."
    )
    next_at = serializers.IntegerField(
        allow_null=True,
        help_text="Number of decided items at which it retrains; null while it is off.",
    )
    training = TrainingSerializer(allow_null=True)
    failed = serializers.CharField(allow_blank=True, help_text="Why the last training failed.")
    model = ModelSerializer(allow_null=True)
    suspects = SuspectPageSerializer(
        allow_null=True, help_text="Gold that is probably wrong; null for reviewers."
    )


@extend_schema(tags=["learning"])
class LearningViewSet(ProjectViewSet):
    """Learning from labels."""

    serializer_class = LearningSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "page", {"type": "integer", "minimum": 1}, description="Of the suspects."
            ),
            OpenApiParameter("page_size", {"type": "integer", "minimum": 1, "maximum": MOST}),
        ],
    )
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show learning.

        The switch, the newest model with its quality, and gold that is probably wrong.
        """
        suspects = None
        if may_see_suspects(request.user, self.project):
            found = self.paginate_queryset(suspects_of(self.project, request.user))
            suspects = self.get_paginated_response(suspect_rows(found or ())).data
        return Response({**report(learning_state(self.project)), "suspects": suspects})

    @extend_schema(
        operation_id="learning_change",
        request=LearningRequestSerializer,
        responses={200: LearningSerializer},
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Switch learning on or off, or train.

        A worker does the training.
        """
        asked = self.read_body(LearningRequestSerializer)
        on = asked.get("on")
        if on is not None:
            switch_learning(project=self.project, on=on, actor=request.user)
        if asked["train"]:
            start_training(project=self.project, actor=request.user)
        return self.retrieve(request)


router = Router()
router.register("projects/<slug:slug>/learning", LearningViewSet, "api_learning")
urlpatterns = router.urls
