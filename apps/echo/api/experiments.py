"""REST for a site's managers: arms against each other, fixed before the start."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.authors.api.access import SiteScopedMixin
from apps.common.api.listing import paged
from apps.echo.api.serializers import FiniteField
from apps.echo.models import Experiment
from apps.echo.selectors.records import experiment_called, experiments_of
from apps.echo.services.configuration import ensure_echo
from apps.echo.services.experiments import create_experiment, end_experiment, start_experiment
from labelhub.core.echo.experiments.assignment import Arm, Window

#: As many as a year has hours.
MOST_WINDOWS = 8784
_AGAINST_NOTHING = OpenApiExample(
    "Echo against nothing",
    value={
        "name": "Does Echo sell?",
        "arms": [
            {"name": "echo", "share": 0.5, "policy": "echo"},
            {"name": "nothing", "share": 0.5, "policy": "nothing"},
        ],
        "control": "nothing",
        "planned_days": 28,
    },
    request_only=True,
)
_STATES = {
    409: OpenApiResponse(description="It is not in the state for that, or another one runs.")
}


class OfferArmSerializer(serializers.Serializer[Any]):
    """One arm."""

    name = serializers.CharField(max_length=64)
    share = FiniteField(help_text="Of the authors or windows; the shares sum to 1.")
    policy = serializers.CharField(
        max_length=64, help_text="echo, keyword, random, nothing, or the name of one of yours."
    )


class WindowSerializer(serializers.Serializer[Any]):
    """A stretch of time: from ``start`` until before ``end``."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class NewOfferExperimentSerializer(serializers.Serializer[Any]):
    """An experiment as it will be; nothing of it changes later."""

    name = serializers.CharField(max_length=100)
    arms = OfferArmSerializer(many=True)
    control = serializers.CharField(max_length=64, help_text="The arm to compare with.")
    windows = serializers.ListField(
        child=WindowSerializer(), required=False, default=list, max_length=MOST_WINDOWS,
        help_text="To assign by time; empty: by author.",
    )  # fmt: skip
    planned_days = serializers.IntegerField(min_value=1, max_value=365, default=28)


class OfferExperimentRowSerializer(serializers.ModelSerializer[Experiment]):
    """An experiment in a list. ``fingerprint`` shows that the design was not changed."""

    arms = OfferArmSerializer(many=True, source="design.arms")
    control = serializers.CharField(source="design.control")
    status = serializers.SerializerMethodField()

    class Meta:
        model = Experiment
        fields = [
            "id", "name", "status", "arms", "control", "planned_days", "fingerprint", "created_at",
            "started_at", "ended_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_status(self, experiment: Experiment) -> str:
        """``planned``, ``running`` or ``ended``."""
        if experiment.ended_at is not None:
            return "ended"
        return "planned" if experiment.started_at is None else "running"


class OfferExperimentSerializer(OfferExperimentRowSerializer):
    """An experiment with its windows."""

    windows = serializers.SerializerMethodField()

    class Meta(OfferExperimentRowSerializer.Meta):
        fields = [*OfferExperimentRowSerializer.Meta.fields, "windows"]
        read_only_fields = fields

    def get_windows(self, experiment: Experiment) -> list[tuple[str, str]]:
        """Start and end of each; empty where it assigns by author."""
        return [(start, end) for start, end in experiment.design["windows"]]


class ExperimentsView(SiteScopedMixin, generics.GenericAPIView[Experiment]):
    """A site's experiments."""

    serializer_class = OfferExperimentRowSerializer
    queryset = Experiment.objects.none()

    @extend_schema(
        operation_id="site_echo_experiments",
        responses=OfferExperimentRowSerializer(many=True),
        summary="List experiments with offers",
    )
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """Newest first."""
        return paged(self, experiments_of(self.site))

    @extend_schema(
        operation_id="site_echo_experiment_create",
        request=NewOfferExperimentSerializer,
        responses={201: OfferExperimentSerializer},
        examples=[_AGAINST_NOTHING],
        summary="Design an experiment",
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> Response:
        """It does not run yet. Design a new one to change anything."""
        sent = NewOfferExperimentSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        found = dict(sent.validated_data)
        found["arms"] = [Arm(**arm) for arm in found["arms"]]
        found["windows"] = [Window(**window) for window in found["windows"]]
        made = create_experiment(ensure_echo(self.site), **found)
        return Response(OfferExperimentSerializer(made).data, status=status.HTTP_201_CREATED)


class ExperimentView(SiteScopedMixin):
    """One experiment."""

    @extend_schema(
        operation_id="site_echo_experiment",
        responses=OfferExperimentSerializer,
        summary="Show an experiment",
    )
    def get(
        self, request: SignedInApiRequest, public_key: str, echo_experiment_id: int
    ) -> Response:
        """As it was designed; how it is assigned stays secret."""
        found = experiment_called(self.site, echo_experiment_id)
        return Response(OfferExperimentSerializer(found).data)


class StartView(SiteScopedMixin):
    """The start."""

    @extend_schema(
        operation_id="site_echo_experiment_start",
        request=None,
        responses={200: OfferExperimentSerializer, **_STATES},
        summary="Start an experiment",
    )
    def post(
        self, request: SignedInApiRequest, public_key: str, echo_experiment_id: int
    ) -> Response:
        """From now on authors or windows are in its arms; one experiment runs at a time."""
        found = start_experiment(experiment_called(self.site, echo_experiment_id))
        return Response(OfferExperimentSerializer(found).data)


class EndView(SiteScopedMixin):
    """The end."""

    @extend_schema(
        operation_id="site_echo_experiment_end",
        request=None,
        responses={200: OfferExperimentSerializer, **_STATES},
        summary="End an experiment",
    )
    def post(
        self, request: SignedInApiRequest, public_key: str, echo_experiment_id: int
    ) -> Response:
        """It takes no more messages; what it has found stays."""
        found = end_experiment(experiment_called(self.site, echo_experiment_id))
        return Response(OfferExperimentSerializer(found).data)
