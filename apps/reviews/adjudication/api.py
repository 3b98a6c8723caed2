"""Adjudication over REST."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Item
from apps.reviews.adjudication.docket import (
    AGES,
    BETWEEN_PEOPLE,
    WITH_A_MACHINE,
    CaseFilter,
    check_expert,
    read_docket,
)
from apps.reviews.adjudication.services import Ruling, adjudicate, send_back
from apps.reviews.comments.services import LONGEST
from apps.reviews.queue.serializers import GoldValueSerializer, LabelSerializer
from labelhub.core.errors import NotFound


class DocketQuerySerializer(serializers.Serializer[Any]):
    """Filters of the waiting items."""

    against = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Conflicting labels, as in ``against`` of a row.",
    )
    by = serializers.IntegerField(
        required=False, min_value=1, max_value=2**63 - 1, help_text="The id of an annotator."
    )
    age = serializers.ChoiceField(
        choices=list(AGES), required=False, help_text="Waiting for longer than this."
    )
    between = serializers.ChoiceField(choices=[BETWEEN_PEOPLE, WITH_A_MACHINE], required=False)


class VoiceSerializer(serializers.Serializer[Any]):
    """One annotator's label, without reasons."""

    annotator = serializers.IntegerField(source="annotator_id")
    name = serializers.CharField()
    kind = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    said_at = serializers.DateTimeField()


class CaseSerializer(serializers.Serializer[Any]):
    """One item that waits for an expert."""

    item = serializers.IntegerField(source="item_id")
    disputed = serializers.BooleanField(
        help_text="Decided, but a confident model contradicts the decision."
    )
    against = serializers.CharField(help_text="The conflicting labels, for ``?against=``.")
    since = serializers.DateTimeField(help_text="The time of the last label.")
    voices = VoiceSerializer(many=True)


class AdjudicationSerializer(serializers.Serializer[Any]):
    """An expert's decision, with reasons."""

    value = serializers.JSONField(
        allow_null=True, default=None,
        help_text="As in a label; a set may be empty. Give this or ``abstain``."
    )  # fmt: skip
    abstain = serializers.BooleanField(
        default=False, help_text="Nobody can tell: the item gets no gold and leaves the queue."
    )
    rationale = serializers.CharField(allow_blank=True, default="", max_length=LONGEST)
    evidence = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(), max_length=100),
        required=False,
        default=dict,
        help_text="Label → quotes from the text.",
    )
    explain = serializers.CharField(
        allow_blank=True, default="", max_length=LONGEST,
        help_text="A comment for people who gave another label."
    )  # fmt: skip
    seconds = serializers.FloatField(allow_null=True, default=None, min_value=0)
    schema_version = serializers.IntegerField(
        allow_null=True, default=None, min_value=1, max_value=2**31 - 1,
        help_text="Of the labels you chose from; by default today's."
    )  # fmt: skip
    lease = serializers.UUIDField(
        allow_null=True, default=None,
        help_text="A UUID of your choice: the same ruling under the same token is stored once."
    )  # fmt: skip


class NamesField(serializers.ListField):
    """The names of people."""

    child = serializers.CharField()

    def to_representation(self, data: Any) -> list[str]:
        return [person.username for person in data]


class AdjudicatedSerializer(serializers.Serializer[Any]):
    """The result of a ruling."""

    label = LabelSerializer()  # type: ignore[assignment]  # a field of that name, not its caption
    gold = GoldValueSerializer(allow_null=True)
    overruled = NamesField(help_text="People who gave another label.")
    comment = serializers.IntegerField(source="comment.pk", allow_null=True, default=None)


class SendBackSerializer(serializers.Serializer[Any]):
    """Why an item goes back to the people who labelled it."""

    reason = serializers.CharField(max_length=LONGEST)


class SentBackSerializer(serializers.Serializer[Any]):
    """The people who are asked again."""

    people = NamesField()
    comment = serializers.IntegerField(source="comment.pk")


class DocketViewSet(ProjectViewSet):
    """The items that wait for an expert."""

    read_right = Right.REVIEW
    queryset = Item.objects.none()  # for the OpenAPI document
    serializer_class = CaseSerializer

    @extend_schema(parameters=[DocketQuerySerializer])
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List the items that wait for an expert.

        Items on which people disagree, or where a confident model contradicts them. For experts.
        """
        check_expert(request.user, self.project)
        wanted = CaseFilter(**self.read_query(DocketQuerySerializer))
        return self.list_page(read_docket(self.project, wanted).cases)


class RulingViewSet(ProjectViewSet):
    """An expert's decision about one item of the project."""

    write_right = Right.REVIEW

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the user's rights and that the item exists, before the body is read."""
        super().initial(request, *args, **kwargs)
        check_expert(request.user, self.project)
        if not Item.objects.filter(project=self.project, pk=kwargs["pk"]).exists():
            raise NotFound(f"There is no item {kwargs['pk']} in the project '{self.project.slug}'.")

    @extend_schema(
        operation_id="adjudicate",
        request=AdjudicationSerializer,
        responses={200: AdjudicatedSerializer, 201: AdjudicatedSerializer},
    )
    def create(self, request: SignedInApiRequest, pk: int, **_: str) -> Response:
        """Settle an item.

        200 if the same ruling was stored before. For experts.
        """
        sent = self.read_body(AdjudicationSerializer)
        lease = sent.pop("lease")
        done = adjudicate(
            project=self.project,
            user=request.user,
            item_id=pk,
            ruling=Ruling(**sent),
            lease_token=lease,
        )
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        return Response(AdjudicatedSerializer(done).data, status=code)

    @extend_schema(
        operation_id="adjudication_send_back",
        request=SendBackSerializer,
        responses=SentBackSerializer,
    )
    @action(detail=False, methods=["post"], url_path="return", url_name="return")
    def send_back(self, request: SignedInApiRequest, pk: int, **_: str) -> Response:
        """Send an item back.

        Withdraw the labels and ask the same people again, with the reason. For experts.
        """
        reason = self.read_body(SendBackSerializer)["reason"]
        back = send_back(project=self.project, user=request.user, item_id=pk, reason=reason)
        return Response(SentBackSerializer(back).data)
