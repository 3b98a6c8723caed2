"""REST for a site's managers: what Echo has learnt about features, and their instructions."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.roles import Right
from apps.authors.api.access import SiteViewSet
from apps.authors.models import Feature
from apps.echo.api.serializers import FeatureSummarySerializer
from apps.echo.models import PromptSearch
from apps.echo.selectors.echoes import echo_or_default
from apps.echo.selectors.learnt import summaries_of
from apps.echo.selectors.searches import most_calls_of, searches_of
from apps.echo.services.configuration import set_instruction

_OUT = OpenApiExample("Take it out", value={"search": None}, request_only=True)


class SearchQuerySerializer(serializers.Serializer[Any]):
    """Which searches."""

    feature = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=60, help_text="Key of a feature."
    )


class PromptSearchSerializer(serializers.ModelSerializer[PromptSearch]):
    """A search for a feature's instruction. Figures are null or left out where nothing was
    compared."""

    labels = serializers.DictField(
        source="found.labels", default=dict,
        help_text="Answers shown to the model, answers kept back, and authors of these.",
    )  # fmt: skip
    figures = serializers.DictField(
        source="found.figures", default=dict,
        help_text="`present`, `best` and `difference`: value, interval, n and method; or the "
        "reason why there is none.",
    )  # fmt: skip
    chance = serializers.FloatField(
        source="found.chance", default=None, allow_null=True,
        help_text="That the best would lead so by luck alone.",
    )  # fmt: skip
    level = serializers.FloatField(
        source="found.level", default=None, allow_null=True,
        help_text="What that had to be at most.",
    )  # fmt: skip
    most_calls = serializers.SerializerMethodField(help_text="It makes no more calls than these.")
    cost_usd = serializers.SerializerMethodField()

    class Meta:
        model = PromptSearch
        fields = [
            "id", "feature", "status", "active", "present", "instruction", "why", "reason",
            "answers", "labels", "figures", "chance", "level", "calls", "most_calls", "cost_usd",
            "created_at", "ended_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_most_calls(self, search: PromptSearch) -> int:
        """By the answers there were when it began; more only where an author's data is deleted
        meanwhile."""
        return most_calls_of(search)

    def get_cost_usd(self, search: PromptSearch) -> float:
        """What its calls cost; those of unknown price count nothing."""
        return search.cost_nanousd / 1e9


class UseInstructionSerializer(serializers.Serializer[Any]):
    """Whose instruction is to be used."""

    search = serializers.IntegerField(
        min_value=1, max_value=2**62, allow_null=True,
        help_text="A search of the feature that found one; null: none is used.",
    )  # fmt: skip


class UsedInstructionSerializer(serializers.Serializer[Any]):
    """What the feature is predicted with from now on."""

    feature = serializers.CharField()
    search = serializers.IntegerField(allow_null=True)
    instruction = serializers.CharField(allow_blank=True)


class FeatureViewSet(SiteViewSet):
    """What Echo has learnt about a site's features, and how it asks for them."""

    lookup_url_kwarg = "feature_key"
    lookup_value_converter = "slug"
    serializer_class = FeatureSummarySerializer
    queryset = Feature.objects.none()

    @extend_schema(operation_id="site_echo_features")
    def list(self, request: Request, **_: str) -> Response:
        """List what Echo has learnt about each feature.

        In the site's order, also those that are asked about no more.
        """
        rows = self.site.features.order_by("-active", "position", "pk")
        known = summaries_of(echo_or_default(self.site), self.paginate_queryset(rows) or [])
        return self.get_paginated_response(self.get_serializer(known, many=True).data)

    @extend_schema(
        operation_id="site_echo_instruction_set",
        request=UseInstructionSerializer,
        responses={
            200: UsedInstructionSerializer,
            409: OpenApiResponse(description="The search found nothing that may be used."),
        },
        examples=[_OUT],
    )
    @action(detail=True, methods=["post"])
    def instruction(self, request: Request, feature_key: str, **_: str) -> Response:
        """Put an instruction back, or take it out.

        It counts from the next message on. What was found stays, and can be put back.
        """
        search = self.read_body(UseInstructionSerializer)["search"]
        used = set_instruction(self.site, feature_key, search)
        body = {
            "feature": feature_key,
            "search": used.pk if used else None,
            "instruction": used.instruction if used else "",
        }
        return Response(UsedInstructionSerializer(body).data)


class SearchViewSet(SiteViewSet):
    """A site's searches for instructions."""

    read_right = Right.MANAGE
    serializer_class = PromptSearchSerializer

    @extend_schema(operation_id="site_echo_searches", parameters=[SearchQuerySerializer])
    def list(self, request: Request, **_: str) -> Response:
        """List searches for instructions.

        Newest first, also the one under way. Instructions were written by a model.
        """
        feature = self.read_query(SearchQuerySerializer)["feature"]
        return self.list_page(searches_of(self.site, feature))
