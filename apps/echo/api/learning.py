"""REST for a site's managers: Echo's settings, learning, selections and decisions."""

import math
from typing import Any, ClassVar

from django.db import models
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.roles import Right
from apps.authors.api.access import SiteViewSet
from apps.authors.models import Feature
from apps.echo.models import Decision, Echo, Selection
from apps.echo.reporting.click_through import make_report
from apps.echo.reporting.funnel import offer_funnel
from apps.echo.reporting.off_policy import evaluate_candidates
from apps.echo.selectors.learning import echo_or_default, feature_summaries, is_frozen
from apps.echo.services.configuration import (
    SETTINGS,
    change_echo,
    ensure_echo,
    freeze,
    set_priors,
)
from labelhub.core.errors import InvalidInput


class FiniteField(serializers.FloatField):
    """A finite number; booleans and "nan" are refused."""

    def to_internal_value(self, data: Any) -> float:
        """Parse the number.

        Raises:
            ValidationError: it is not a finite number.
        """
        value = float(super().to_internal_value(data))
        if isinstance(data, bool) or not math.isfinite(value):
            self.fail("invalid")
        return value


class EchoChangeSerializer(serializers.ModelSerializer[Echo]):
    """The settings of a site's Echo."""

    serializer_field_mapping: ClassVar[dict[Any, Any]] = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.FloatField: FiniteField,
    }

    class Meta:
        model = Echo
        fields = list(SETTINGS)


class EchoSerializer(EchoChangeSerializer):
    """The settings and the state of learning. ``logged``: the newest event in the log;
    ``learnt``: the newest event that Echo has learnt from."""

    frozen = serializers.SerializerMethodField(help_text="Events are logged, but not learnt from.")

    class Meta(EchoChangeSerializer.Meta):
        fields = [*SETTINGS, "frozen", "logged", "learnt"]
        read_only_fields = fields

    def get_frozen(self, echo: Echo) -> bool:
        """Whether learning is frozen."""
        return is_frozen(echo)


class PriorsSerializer(serializers.Serializer[Any]):
    """How much each feature is expected to help: -1 not at all, 0 unknown, 1 much."""

    priors = serializers.DictField(
        child=FiniteField(min_value=-1, max_value=1, allow_null=True), allow_empty=True
    )


class FeatureSummarySerializer(serializers.Serializer[Any]):
    """What Echo has learnt about a feature."""

    key = serializers.CharField()
    name = serializers.CharField()
    active = serializers.BooleanField(help_text="Authors are asked about it.")
    prior = serializers.FloatField(allow_null=True)
    relevance = serializers.FloatField(
        help_text="Expected gain in the log-odds of success from a right prediction."
    )
    low = serializers.FloatField(help_text="Lower bound of the 95 % interval of the relevance.")
    high = serializers.FloatField(help_text="Upper bound of that interval.")
    gain = serializers.FloatField(
        help_text="Change of the probability of a click by a right prediction, against an offer "
        "that no feature helps."
    )
    gain_low = serializers.FloatField(help_text="Lower bound of the 95 % interval of the gain.")
    gain_high = serializers.FloatField(help_text="Upper bound of that interval.")
    matters = serializers.FloatField(help_text="Probability that the relevance is positive.")
    uncertainty = serializers.FloatField(
        allow_null=True,
        help_text="Mean predicted probability that its latest predictions are wrong.",
    )
    answers = serializers.FloatField(help_text="Learnt answers of authors, each by its weight.")
    accuracy = serializers.FloatField(
        allow_null=True,
        help_text="Share of about the last forty answers that matched the prediction before "
        "learning from them.",
    )


class SelectionRecordSerializer(serializers.ModelSerializer[Selection]):
    """The features selected for a message, which were asked about, and why."""

    id = serializers.UUIDField(source="uid")
    author = serializers.CharField(source="author.pseudonym")
    message = serializers.CharField(source="message.ref", default=None, allow_null=True)
    predicted = serializers.DictField(
        help_text="By feature: value, probability, sigma, relevance and their inputs."
    )
    selected = serializers.ListField(child=serializers.CharField())
    asked = serializers.DictField(
        help_text="By feature: worth, propensity, and whether it was asked about."
    )

    class Meta:
        model = Selection
        fields = [
            "id", "author", "message", "number", "predicted", "selected", "asked", "explored", "at",
        ]  # fmt: skip
        read_only_fields = fields


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    """The decision about an offer at a message, and its reasons."""

    id = serializers.UUIDField(source="uid")
    author = serializers.CharField(source="author.pseudonym")
    message = serializers.CharField(source="message.ref", default=None, allow_null=True)
    selection = serializers.UUIDField(source="selection.uid", default=None, allow_null=True)
    experiment = serializers.IntegerField(source="experiment_id", allow_null=True)
    item = serializers.CharField(
        source="item_ref", allow_blank=True, help_text="Id of the item, or empty."
    )
    propensities = serializers.DictField(child=serializers.FloatField())
    reasons = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Decision
        fields = [
            "id", "author", "message", "selection", "experiment", "arm", "policy", "status", "why",
            "item", "vertical", "score", "reasons", "propensity", "propensities", "created_at",
            "sent_at", "shown_at",
        ]  # fmt: skip
        read_only_fields = fields


_PRIORS = OpenApiExample(
    "Two features are expected to matter", value={"priors": {"urgency": 1, "budget": 0.5}}
)


class EchoViewSet(SiteViewSet):
    """A site's Echo."""

    serializer_class = EchoSerializer

    def retrieve(self, request: Request, **_: str) -> Response:
        """Show Echo.

        Settings and the state of learning; the defaults if Echo was never on at this site.
        """
        return self._answer(echo_or_default(self.site))

    @extend_schema(request=EchoChangeSerializer)
    def partial_update(self, request: Request, **_: str) -> Response:
        """Change Echo.

        Changes all sent settings, or none; ignores read-only fields. Switched off, Echo chooses
        and offers nothing; nothing learnt is lost.
        """
        sent: Any = request.data
        names = set(sent) if isinstance(sent, dict) else set()
        strange = sorted(names - {*EchoSerializer().fields})
        if strange:
            raise InvalidInput.at(strange[0][:60], "Echo has no such setting.")
        changes = self.read_body(EchoChangeSerializer, partial=True)
        return self._answer(change_echo(self.site, changes))

    @extend_schema(request=PriorsSerializer, responses=PriorsSerializer, examples=[_PRIORS])
    @action(detail=False, methods=["put"], url_path="priors", url_name="priors")
    def priors_set(self, request: Request, **_: str) -> Response:
        """Set the priors.

        Features that are left out have no prior. Nothing learnt is lost; changes are logged.
        """
        set_priors(self.site, self.read_body(PriorsSerializer)["priors"])
        features = self.site.features.asked()
        priors = {row.key: row.parsed.prior for row in features if row.parsed.prior is not None}
        return Response({"priors": priors})

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def freeze(self, request: Request, **_: str) -> Response:
        """Stop learning.

        Events from now on are logged, and never learnt from. A repeated call changes nothing.
        """
        return self._frozen(on=True)

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def thaw(self, request: Request, **_: str) -> Response:
        """Resume learning.

        Echo learns from events from now on. A repeated call changes nothing.
        """
        return self._frozen(on=False)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=False)
    def report(self, request: Request, **_: str) -> Response:
        """Report on offers.

        ``funnel``: counts from messages to clicks. ``report``: click-through with intervals, by
        day, weekday and vertical.
        """
        echo = echo_or_default(self.site)
        funnel, report = offer_funnel(echo), make_report(echo)
        return Response({"funnel": funnel, "report": report})

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=False, url_path="off-policy")
    def off_policy(self, request: Request, **_: str) -> Response:
        """Evaluate other policies.

        Estimates the clicks that each policy would have got at the same messages, by two
        estimators with intervals; with a warning if the log has too little data.
        """
        return Response(evaluate_candidates(echo_or_default(self.site)))

    def _frozen(self, *, on: bool) -> Response:
        echo = ensure_echo(self.site)
        freeze(echo, on=on)
        return self._answer(echo)

    def _answer(self, echo: Echo) -> Response:
        return Response(self.get_serializer(echo).data)


class FeatureViewSet(SiteViewSet):
    """What Echo has learnt about a site's features."""

    serializer_class = FeatureSummarySerializer
    queryset = Feature.objects.none()

    @extend_schema(operation_id="site_echo_features")
    def list(self, request: Request, **_: str) -> Response:
        """List what Echo has learnt about each feature.

        In the site's order, with features that are no longer asked about.
        """
        rows = self.site.features.order_by("-active", "position", "pk")
        known = feature_summaries(echo_or_default(self.site), self.paginate_queryset(rows) or [])
        return self.get_paginated_response(self.get_serializer(known, many=True).data)


class SelectionsViewSet(SiteViewSet):
    """Selections: features selected per message, which were asked about, and why."""

    read_right = Right.MANAGE
    serializer_class = SelectionRecordSerializer

    @extend_schema(operation_id="site_echo_selections")
    def list(self, request: Request, **_: str) -> Response:
        """List selections.

        One for each message that Echo looked at.
        """
        rows = Selection.objects.filter(echo=self.site.pk)
        return self.list_page(rows.select_related("author", "message"))


class DecisionsViewSet(SiteViewSet):
    """Decisions about offers."""

    read_right = Right.MANAGE
    serializer_class = DecisionSerializer

    @extend_schema(operation_id="site_echo_decisions")
    def list(self, request: Request, **_: str) -> Response:
        """List decisions about offers.

        One for each message that could have had an offer, in every arm.
        """
        rows = Decision.objects.filter(echo=self.site.pk)
        related = ("author", "message", "selection", "experiment")
        return self.list_page(rows.select_related(*related))
