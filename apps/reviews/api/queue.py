"""The queue over REST: take the next item, give its label; items and labels as lists."""

from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.viewsets import ApiViewSet
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Item
from apps.reviews.api.filters import ItemFilter, LabelFilter
from apps.reviews.api.serializers import (
    AnswerSerializer,
    ItemSerializer,
    LabelSerializer,
    LeaseSerializer,
    NextSerializer,
    OpinionsSerializer,
    SkippedSerializer,
    to_answer,
)
from apps.reviews.selectors import item_state, items_of, labels_of, visible_items
from apps.reviews.selectors.adjudication import project_to_adjudicate
from apps.reviews.selectors.opinions import opinions_to_read
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


class NextViewSet(ProjectViewSet):
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
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Take the next item.

        The item you hold already, or a new one, for you alone until the lease lapses.
        """
        slot = claim_next_item(project=self.project, user=request.user)
        if slot is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        state = item_state(self.project, slot.item_id, request.user.pk)
        proposed = state.suggestion if state.suggestion and not state.suggestion.abstained else None
        note_shown(slot, proposed)
        lease = {"token": slot.lease_token, "expires_at": slot.lease_until}
        found = {"item": state.item, "suggestion": proposed, "lease": lease}
        return Response(HANDED_OUT.to_representation(found))


class LeaseViewSet(ProjectViewSet):
    """A lease of yours."""

    write_right = Right.REVIEW
    serializer_class = LeaseSerializer

    @extend_schema(operation_id="lease_renew", request=None, responses={200: LeaseSerializer})
    def create(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Renew a lease.

        Also when it has lapsed and nobody took the item meanwhile.
        """
        if not renew_leases(project=self.project, user=request.user, tokens=[token]):
            raise NotFound("You hold no item under this lease; what you submit is stored anyway.")
        expires = timezone.now() + timedelta(seconds=LEASE_SECONDS)
        return Response(self.get_serializer({"token": token, "expires_at": expires}).data)

    @extend_schema(operation_id="lease_release")
    def destroy(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Give an item back.

        It is free at once.
        """
        release_leases(project=self.project, user=request.user, tokens=[token])
        return Response(status=status.HTTP_204_NO_CONTENT)


class LabelViewSet(ProjectViewSet):
    """The ledger's labels."""

    write_right = Right.REVIEW
    serializer_class = LabelSerializer
    filterset_class = LabelFilter

    @extend_schema(operation_id="projects_labels_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List labels.

        The oldest first; also those that were superseded or withdrawn.
        """
        return self.list_page(labels_of(self.project, request.user))

    @extend_schema(
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
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Label an item, or skip it.

        A lapsed lease does not matter: the answer is stored.
        """
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


class ItemsViewSet(ProjectViewSet):
    """The project's items and where they stand."""

    serializer_class = ItemSerializer
    filterset_class = ItemFilter

    @extend_schema(operation_id="projects_items_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List items.

        In the order of their import, with where they stand.
        """
        return self.list_page(items_of(self.project, request.user))


class ItemViewSet(ApiViewSet):
    """One item, by its id alone."""

    lookup_url_kwarg = "pk"
    serializer_class = ItemSerializer

    @extend_schema(operation_id="items_retrieve")
    def retrieve(self, request: SignedInApiRequest, pk: int) -> Response:
        """Show an item."""
        item = get_object_or_404(visible_items(request.user), pk=pk)
        return Response(self.get_serializer(item).data)

    @extend_schema(responses=OpinionsSerializer)
    @action(detail=True)
    def opinions(self, request: SignedInApiRequest, pk: int) -> Response:
        """Show every opinion of an item.

        What everybody says of it, and why. For experts, of what waits for them or what they have
        labelled.
        """
        item = Item.objects.visible_to(request.user).select_related("project").filter(pk=pk).first()
        if item is None:
            raise NotFound(f"There is no item {pk}, or you may not know of it.")
        project = project_to_adjudicate(request.user, item.project.slug)
        return Response(OpinionsSerializer(opinions_to_read(project, request.user, pk)).data)
