"""REST for a site's managers: experiments with offers."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteViewSet
from apps.echo.api.learning import FiniteField
from apps.echo.models import Experiment
from apps.echo.reporting.click_through import make_report
from apps.echo.selectors.offers import experiments_of, get_experiment
from apps.echo.services.configuration import ensure_echo
from apps.echo.services.experiments import create_experiment, end_experiment, start_experiment
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.errors import InvalidInput

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
    409: OpenApiResponse(
        description="The experiment's state does not allow it, or another one is running."
    )
}


class OfferArmSerializer(serializers.Serializer[Any]):
    """An arm of an experiment."""

    name = serializers.CharField(max_length=64)
    share = FiniteField(help_text="Share of the authors; the shares sum to 1.")
    policy = serializers.CharField(
        max_length=64, help_text="echo, keyword, random, nothing, or a policy of your own."
    )


class OfferExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """An experiment; its design cannot be changed later."""

    arms = OfferArmSerializer(many=True, source="design.arms")
    control = serializers.CharField(
        max_length=64,
        source="design.control",
        help_text="The arm that the others are compared with.",
    )
    planned_days = serializers.IntegerField(min_value=1, max_value=365, default=28)
    status = serializers.SerializerMethodField()

    class Meta:
        model = Experiment
        fields = [
            "id", "name", "status", "arms", "control", "planned_days", "created_at",
            "started_at", "ended_at",
        ]  # fmt: skip
        read_only_fields = ["id", "created_at", "started_at", "ended_at"]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse windows, by which older versions could assign arms."""
        if self.initial_data.get("windows"):
            raise InvalidInput.at("windows", "Arms are assigned by author; leave windows out.")
        return attrs

    def get_status(self, experiment: Experiment) -> str:
        """``planned``, ``running`` or ``ended``."""
        if experiment.ended_at is not None:
            return "ended"
        return "planned" if experiment.started_at is None else "running"


class ExperimentViewSet(SiteViewSet):
    """A site's experiments with offers."""

    lookup_url_kwarg = "echo_experiment_id"
    serializer_class = OfferExperimentSerializer

    def experiment(self) -> Experiment:
        """The experiment in the address."""
        return get_experiment(self.site, self.kwargs["echo_experiment_id"])

    @extend_schema(
        operation_id="site_echo_experiments", responses=OfferExperimentSerializer(many=True)
    )
    def list(self, request: Request, **_: Any) -> Response:
        """List experiments with offers.

        Newest first.
        """
        return self.list_page(experiments_of(self.site))

    @extend_schema(examples=[_AGAINST_NOTHING])
    def create(self, request: Request, **_: Any) -> Response:
        """Design an experiment.

        It does not run until you start it. A design cannot be changed; design a new one instead.
        """
        sent = self.read_body(OfferExperimentSerializer)
        design = sent.pop("design")
        arms = [Arm(**arm) for arm in design["arms"]]
        made = create_experiment(
            ensure_echo(self.site), arms=arms, control=design["control"], **sent
        )
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    def retrieve(self, request: Request, **_: Any) -> Response:
        """Show an experiment.

        Shows the design; the key that assigns arms stays secret.
        """
        return Response(self.get_serializer(self.experiment()).data)

    @extend_schema(request=None, responses={200: OfferExperimentSerializer, **_STATES})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, **_: Any) -> Response:
        """Start an experiment.

        From now on it assigns authors to arms. One experiment runs at a time.
        """
        return Response(self.get_serializer(start_experiment(self.experiment())).data)

    @extend_schema(request=None, responses={200: OfferExperimentSerializer, **_STATES})
    @action(detail=True, methods=["post"])
    def end(self, request: Request, **_: Any) -> Response:
        """End an experiment.

        It includes no later messages; its results stay.
        """
        return Response(self.get_serializer(end_experiment(self.experiment())).data)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def report(self, request: Request, **_: Any) -> Response:
        """Report on an experiment.

        Figures of each arm as assigned, its ratio to and difference from the control with
        intervals, and daily looks that are corrected for repetition.
        """
        experiment = self.experiment()
        return Response(make_report(experiment.echo, experiment))
