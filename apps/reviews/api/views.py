"""The queue over REST: take the next item, give its label; items and labels as lists."""

from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import generics, status
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.labels.models import Label
from apps.projects.api.mixins import ProjectScopedMixin
from apps.projects.models import Item
from apps.reviews.api.filters import ItemFilter, LabelFilter
from apps.reviews.api.serializers import (
    AnswerSerializer,
    ItemSerializer,
    LabelSerializer,
    LeaseSerializer,
    NextSerializer,
    SkippedSerializer,
    to_answer,
)
from apps.reviews.selectors import item_state, items_of, labels_of, visible_items
from apps.reviews.services import (
    LEASE_SECONDS,
    claim_next_item,
    note_shown,
    postpone_item,
    release_leases,
    renew_leases,
    skip_item,
    submit_label,
)
from labelhub.core.errors import NotFound

# On the queue's path: a serializer takes longer to work out its fields than to use them.
HANDED_OUT = NextSerializer()
SENT_IN = AnswerSerializer()
JUST_WRITTEN = LabelSerializer(context={"fresh": True})


class NextView(ProjectScopedMixin, APIView):
    """Take the next item of the queue."""

    write_right = Right.REVIEW

    @extend_schema(
        operation_id="queue_next",
        request=None,
        responses={
            200: NextSerializer,
            204: OpenApiResponse(description="Nothing is left for you just now."),
        },
    )
    def post(self, request: SignedInApiRequest, **_: str) -> Response:
        """The item you hold already, or a new one, for you alone until the lease lapses."""
        slot = claim_next_item(project=self.project, user=request.user)
        if slot is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        state = item_state(self.project, slot.item_id, request.user.pk)
        proposed = state.suggestion if state.suggestion and not state.suggestion.abstained else None
        note_shown(slot, proposed)
        lease = {"token": slot.lease_token, "expires_at": slot.lease_until}
        found = {"item": state.item, "suggestion": proposed, "lease": lease}
        return Response(HANDED_OUT.to_representation(found))


class LeaseView(ProjectScopedMixin, APIView):
    """A lease of yours."""

    write_right = Right.REVIEW

    @extend_schema(operation_id="lease_renew", request=None, responses=LeaseSerializer)
    def post(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Prolong it, also when it has lapsed and nobody took the item meanwhile."""
        if not renew_leases(project=self.project, user=request.user, tokens=[token]):
            raise NotFound("You hold no item under this lease; what you submit is stored anyway.")
        expires = timezone.now() + timedelta(seconds=LEASE_SECONDS)
        return Response(LeaseSerializer({"token": token, "expires_at": expires}).data)

    @extend_schema(operation_id="lease_release", responses={204: None})
    def delete(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Give the item back: it is free at once."""
        release_leases(project=self.project, user=request.user, tokens=[token])
        return Response(status=status.HTTP_204_NO_CONTENT)


class LabelListView(ProjectScopedMixin, generics.ListAPIView[Label]):
    """The ledger's labels; POST answers an item."""

    write_right = Right.REVIEW
    queryset = Label.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = LabelSerializer
    filterset_class = LabelFilter

    def get_queryset(self) -> Any:
        """The project's labels, oldest first."""
        return labels_of(self.project, cast(User, self.request.user))

    @extend_schema(
        operation_id="label_create",
        request=AnswerSerializer,
        examples=[
            OpenApiExample(
                "A label",
                value={"item": 1, "value": ["Food"], "lease": "TOKEN"},
                request_only=True,
            )
        ],
        responses={
            201: PolymorphicProxySerializer(
                component_name="Answered",
                serializers=[LabelSerializer, SkippedSerializer],
                resource_type_field_name=None,
            ),
            200: OpenApiResponse(
                LabelSerializer, description="This answer had been stored before."
            ),
        },
    )
    def post(self, request: SignedInApiRequest, **_: str) -> Response:
        """Label an item, or skip it. A lapsed lease does not matter: the answer is stored."""
        sent = SENT_IN.run_validation(request.data)
        item_id, lease = sent["item"], sent["lease"]
        who = {
            "project": self.project,
            "user": request.user,
            "item_id": item_id,
            "lease_token": lease,
        }
        if sent["skip"] or sent["postpone"]:
            leave = skip_item if sent["skip"] else postpone_item
            skipped = leave(**who, reason=sent["comment"])
            body = {"item": item_id, "action": skipped.action, "created_at": skipped.created_at}
            return Response(SkippedSerializer(body).data, status=status.HTTP_201_CREATED)
        done = submit_label(**who, answer=to_answer(sent))
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        shown = JUST_WRITTEN if done.created else LabelSerializer()
        return Response(shown.to_representation(done.label), status=code)


class ItemListView(ProjectScopedMixin, generics.ListAPIView[Item]):
    """The project's items and where they stand."""

    queryset = Item.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = ItemSerializer
    filterset_class = ItemFilter

    def get_queryset(self) -> Any:
        """In the order of their import."""
        return items_of(self.project, cast(User, self.request.user))


class ItemDetailView(generics.RetrieveAPIView[Item]):
    """One item, by its id alone."""

    queryset = Item.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = ItemSerializer

    def get_queryset(self) -> Any:
        """Items that the caller may know of."""
        return visible_items(self.request.user)
