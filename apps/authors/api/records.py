"""REST for a site's managers: messages, answers, rulings over authors, rewards and payouts."""

from typing import Any
from uuid import UUID

import django_filters
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.authors.api.access import SiteViewSet
from apps.authors.models import Answer, Author, Message, Payout, Reward
from apps.authors.selectors.authors import get_author, get_payout, payout_lines
from apps.authors.services.rewards import pay_out, payout_csv
from apps.authors.services.trust import set_ruling
from apps.common.api.filters import BooleanFilter
from apps.common.api.negotiation import OneRenderer
from apps.common.audit import Action, record


class MessageFilter(django_filters.FilterSet):
    """``?status=&dropped_at=``."""

    status = django_filters.ChoiceFilter(choices=Message.Status.choices)
    dropped_at = django_filters.CharFilter(label="The stage that dropped it")

    class Meta:
        model = Message
        fields = ["status", "dropped_at"]


class AnswerFilter(django_filters.FilterSet):
    """``?outcome=&excluded=``."""

    outcome = django_filters.ChoiceFilter(choices=Answer.Outcome.choices)
    excluded = BooleanFilter(
        field_name="excluded_at", lookup_expr="isnull", exclude=True, label="Excluded"
    )

    class Meta:
        model = Answer
        fields = ["outcome", "excluded"]


class RewardFilter(django_filters.FilterSet):
    """``?due=1``."""

    due = BooleanFilter(method="narrow_to_due", label="Can be paid now")

    class Meta:
        model = Reward
        fields = ["due"]

    def narrow_to_due(
        self,
        queryset: QuerySet[Reward],
        _name: str,
        due: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Reward]:
        """Rewards that a payout would include, or the others."""
        ready = Reward.objects.due(timezone.now()).values("pk")
        return queryset.filter(pk__in=ready) if due else queryset.exclude(pk__in=ready)


class AuthorField(serializers.Serializer[Author]):
    """An author; ``authors/{uid}/ruling/`` takes the uid."""

    uid = serializers.UUIDField()
    pseudonym = serializers.CharField()


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["stage", "passed", "reason", "data"],
            "properties": {
                "stage": {"type": "string"},
                "passed": {"type": "boolean"},
                "reason": {"type": "string"},
                "data": {"type": "object", "additionalProperties": True},
            },
        },
    }
)
class StagesField(serializers.JSONField):
    """The verdict of each stage about a message."""


class MessageSerializer(serializers.ModelSerializer[Message]):
    """A message without personal data, and its result."""

    id = serializers.CharField(source="ref", help_text="The sender's id of the message.")
    conversation = serializers.CharField(source="conversation.ref")
    author = AuthorField()
    stages = StagesField()
    cost_usd = serializers.SerializerMethodField()

    class Meta:
        model = Message
        fields = [
            "id", "conversation", "author", "role", "text", "language", "country", "status",
            "dropped_at", "reason", "stages", "cost_usd", "received_at", "processed_at",
        ]  # fmt: skip

    def get_cost_usd(self, message: Message) -> float:
        """Cost of the model calls."""
        return message.cost_nanousd / 1e9


class AnswerSerializer(serializers.ModelSerializer[Answer]):
    """An answer with its question."""

    question = serializers.UUIDField(source="question.uid")
    author = AuthorField()
    feature = serializers.CharField(source="question.feature.key")
    text = serializers.CharField(source="question.text", help_text="Text of the question.")
    options = serializers.SerializerMethodField(help_text="In the order shown.")
    predicted = serializers.CharField(source="question.predicted")
    item = serializers.IntegerField(source="question.item_id", allow_null=True)

    class Meta:
        model = Answer
        fields = [
            "id", "question", "author", "feature", "text", "options", "predicted", "outcome",
            "value", "position", "server_ms", "visible_ms", "timing", "keyboard", "late", "item",
            "label_uid", "received_at", "undone_at", "excluded_at", "excluded_for",
        ]  # fmt: skip

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_options(self, answer: Answer) -> list[str]:
        return [str(option["label"]) for option in answer.question.options]


class RulingSerializer(serializers.Serializer[Any]):
    """A manager's decision."""

    trusted = serializers.BooleanField(allow_null=True, help_text="Null: the signals decide again.")
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=300,
        help_text="Stored with the decision.",
    )


class StandingSerializer(serializers.ModelSerializer[Author]):
    """Whether an author's answers count, and why."""

    counts = serializers.BooleanField()
    trust = serializers.DictField(help_text="Score and signals, after the first judgement.")

    class Meta:
        model = Author
        fields = ["uid", "pseudonym", "counts", "trusted", "ruling", "ruling_reason", "trust"]


class RewardSerializer(serializers.ModelSerializer[Reward]):
    """What one answer earned."""

    author = serializers.CharField(
        source="author.subject", help_text="The host's id of the author."
    )
    pseudonym = serializers.CharField(source="author.pseudonym")

    class Meta:
        model = Reward
        fields = [
            "id", "author", "pseudonym", "cents", "currency", "credited_at", "due_at", "void_at",
            "void_for", "payout",
        ]  # fmt: skip


class PayoutSerializer(serializers.ModelSerializer[Payout]):
    """A payout in a list; ``count``: rewarded answers."""

    count = serializers.IntegerField(source="rewards")

    class Meta:
        model = Payout
        fields = ["id", "cents", "count", "created_at"]


class PayoutLineSerializer(serializers.Serializer[Any]):
    """The amount for one author."""

    author = serializers.CharField(source="subject", help_text="The host's id of the author.")
    pseudonym = serializers.CharField()
    cents = serializers.IntegerField()
    currency = serializers.CharField()
    answers = serializers.IntegerField()


class PayoutDetailSerializer(PayoutSerializer):
    """A payout with a line for each author and currency."""

    rewards = serializers.SerializerMethodField()

    class Meta(PayoutSerializer.Meta):
        fields = [*PayoutSerializer.Meta.fields, "rewards"]

    @extend_schema_field(PayoutLineSerializer(many=True))
    def get_rewards(self, payout: Payout) -> Any:
        return PayoutLineSerializer(payout_lines(payout), many=True).data


CSV = "text/csv"
_FILE = {(200, "application/json"): PayoutDetailSerializer, (200, CSV): OpenApiTypes.STR}
_MADE = {(201, "application/json"): PayoutDetailSerializer, (201, CSV): OpenApiTypes.STR}


class FormatSerializer(serializers.Serializer[Any]):
    """The format of a payout."""

    format = serializers.ChoiceField(
        choices=["json", "csv"], required=False,
        help_text="csv, like the Accept header text/csv, returns a file.",
    )  # fmt: skip


class AnswersViewSet(SiteViewSet):
    """The answers of a site."""

    read_right = Right.MANAGE
    serializer_class = AnswerSerializer
    filterset_class = AnswerFilter

    @extend_schema(operation_id="site_answers")
    def list(self, request: Request, **_: str) -> Response:
        """List answers.

        Newest first, also undone and excluded ones, with the time and the reason.
        """
        given = Answer.objects.filter(question__site=self.site)
        return self.list_page(given.select_related("author", "question__feature").order_by("-pk"))


class RulingViewSet(SiteViewSet):
    """Whether an author's answers count."""

    serializer_class = StandingSerializer

    @extend_schema(
        operation_id="site_author_ruling",
        request=RulingSerializer,
        responses={200: StandingSerializer},
    )
    def create(self, request: Request, uid: UUID, **_: str) -> Response:
        """Decide whether to trust an author.

        The decision overrides the signals; null lets them decide again. Labels and rewards follow.
        """
        sent = self.read_body(RulingSerializer)
        set_ruling(get_author(self.site, uid), **sent)
        return Response(self.get_serializer(get_author(self.site, uid)).data)


class RewardsViewSet(SiteViewSet):
    """Rewards of a site's authors."""

    read_right = Right.MANAGE
    serializer_class = RewardSerializer
    filterset_class = RewardFilter

    @extend_schema(operation_id="site_rewards")
    def list(self, request: Request, **_: str) -> Response:
        """List rewards.

        One for each answer that earned something, oldest first.
        """
        return self.list_page(self.site.rewards.select_related("author").order_by("pk"))


class PayoutViewSet(SiteViewSet):
    """Payouts of a site."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "payout_id"
    serializer_class = PayoutSerializer
    content_negotiation_class = OneRenderer

    @extend_schema(operation_id="site_payouts")
    def list(self, request: Request, **_: str) -> Response:
        """List payouts.

        Newest first.
        """
        return self.list_page(self.site.payouts.order_by("-pk"))

    @extend_schema(request=None, parameters=[FormatSerializer], responses=_MADE)
    def create(self, request: SignedInApiRequest, **_: str) -> HttpResponse:
        """Pay out.

        Collects all due rewards, each one once. If the response is lost, fetch the payout from
        the list.
        """
        as_file = self._wants_file()
        payout = pay_out(self.site, request.user)
        return _payout_response(payout, status.HTTP_201_CREATED, as_file=as_file)

    @extend_schema(parameters=[FormatSerializer], responses=_FILE)
    def retrieve(self, request: Request, payout_id: int, **_: str) -> HttpResponse:
        """Show a payout.

        The amount for each author. Authors whose data was deleted since are only in the sum.
        """
        as_file = self._wants_file()
        payout = get_payout(self.site, payout_id)
        return _payout_response(payout, status.HTTP_200_OK, as_file=as_file)

    def _wants_file(self) -> bool:
        """Whether the request asks for CSV; checked before anything is paid."""
        asked = self.read_query(FormatSerializer).get("format")
        return asked == "csv" or (not asked and CSV in self.request.headers.get("Accept", ""))


def _payout_response(payout: Payout, code: int, *, as_file: bool) -> HttpResponse:
    if as_file:
        with transaction.atomic():
            changes = {"payout": (None, payout.pk)}
            record(Action.EXPORT_DOWNLOADED, payout.site, changes=changes)
        response = HttpResponse(
            payout_csv(payout), status=code, content_type=f"{CSV}; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="payout-{payout.pk}.csv"'
        return response
    return Response(PayoutDetailSerializer(payout).data, status=code)
