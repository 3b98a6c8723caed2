"""REST for a site's own servers: features for its own downstream task, rewards, and offers.

A message comes in by the one way there is for messages; what Echo makes of it is told, and what
became of that is told back.
"""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteServerView, read, server_of
from apps.authors.api.messages import PostedMessageSerializer, WhoSerializer, message_state, receive
from apps.authors.models import Message, Site
from apps.authors.selectors.sites import check_open
from apps.authors.services.site_config import next_offer, record_offer_event
from apps.echo.api.downstream_serializers import (
    MessageQuerySerializer,
    OfferEventSerializer,
    OfferStateSerializer,
    SelectionPostedSerializer,
    SelectionSerializer,
    ToldRewardSerializer,
    WaitingOfferSerializer,
    selection_told,
)
from apps.echo.selectors.records import message_called, offer_called, selection_called
from apps.echo.services.rewards import tell_outcome
from apps.echo.services.selecting import check_on, selection_for

_LIMITED = {429: OpenApiResponse(description="Too many requests with this key; see Retry-After.")}
_MESSAGE = OpenApiExample(
    "A customer writes",
    value={
        "author": "customer-17",
        "id": "message-1",
        "conversation": "chat-1",
        "text": "I need a light tent for my first trip, by Friday.",
        "consent": True,
        "wait": 5,
    },
    request_only=True,
)
_REWARD = OpenApiExample(
    "They bought it", value={"id": "order-1001", "value": 1}, request_only=True
)


class EchoMessagesView(SiteServerView):
    """Messages in, selections out."""

    @extend_schema(
        operation_id="site_echo_message",
        parameters=[MessageQuerySerializer],
        responses={200: SelectionPostedSerializer, **_LIMITED},
        summary="Show the selection of a message (server key)",
    )
    def get(self, request: Request, public_key: str) -> Response:
        """Of a message that was posted, or that the widget sent, by its id."""
        asked = read(MessageQuerySerializer(data=request.query_params))
        site = server_of(request).site
        author = self.author(asked["author"]) if asked["author"] else None
        message = message_called(site, asked["id"], author, timezone.now())
        return Response(_body(message, site))

    @extend_schema(
        operation_id="site_echo_message_post",
        request=PostedMessageSerializer,
        responses={
            200: OpenApiResponse(SelectionPostedSerializer, "It had arrived before."),
            201: SelectionPostedSerializer,
            **_LIMITED,
        },
        examples=[_MESSAGE],
        summary="Post a message and get its features (server key)",
    )
    def post(self, request: Request, public_key: str) -> Response:
        """As ``messages/`` takes it, and asked about where that is due. ``selection`` has the k
        features that matter most once the models were asked: send ``wait``, or fetch it later."""
        site = server_of(request).site
        check_on(site)
        heard = receive(request)
        code = status.HTTP_201_CREATED if heard.fresh else status.HTTP_200_OK
        return Response(_body(heard.message, site), code)


class SelectionView(SiteServerView):
    """One selection."""

    @extend_schema(
        operation_id="site_echo_selection",
        responses={200: SelectionSerializer, **_LIMITED},
        summary="Show a selection (server key)",
    )
    def get(self, request: Request, public_key: str, selection_uid: UUID) -> Response:
        """As it was when it was made."""
        site = server_of(request).site
        return Response(selection_told(selection_called(site, selection_uid), site))


class RewardsView(SiteServerView):
    """What became of selections."""

    @extend_schema(
        operation_id="site_echo_reward",
        request=ToldRewardSerializer,
        responses={
            200: OpenApiResponse(ToldRewardSerializer, "It was told before; the first stands."),
            201: ToldRewardSerializer,
            409: OpenApiResponse(
                description="The selection is older than seven days, or has had ten rewards."
            ),
            **_LIMITED,
        },
        examples=[_REWARD],
        summary="Reward a selection (server key)",
    )
    def post(self, request: Request, public_key: str, selection_uid: UUID) -> Response:
        """Teaches which features matter, and nothing else; within seconds, unless learning is
        frozen. Tell failures too (``0``): from successes alone nothing can be told apart."""
        sent = read(ToldRewardSerializer(data=request.data))
        selection = selection_called(server_of(request).site, selection_uid)
        outcome = tell_outcome(selection, sent["id"], sent["value"], timezone.now())
        code = status.HTTP_201_CREATED if outcome.fresh else status.HTTP_200_OK
        return Response({"id": sent["id"], "value": outcome.value}, code)


class OfferView(SiteServerView):
    """The offer for an author."""

    @extend_schema(
        operation_id="site_echo_offer",
        parameters=[WhoSerializer],
        responses={200: WaitingOfferSerializer, **_LIMITED},
        summary="Fetch the offer for an author (server key)",
    )
    def get(self, request: Request, public_key: str) -> Response:
        """For sites that show offers themselves: the one that waits, marked as sent; null when
        there is none. It is about now: show it before it ``expires``, with its label."""
        author = self.author(read(WhoSerializer(data=request.query_params))["author"])
        check_open(author.site, None)
        return Response({"offer": next_offer(author)})


class OfferEventsView(SiteServerView):
    """What became of offers."""

    @extend_schema(
        operation_id="site_echo_offer_event",
        request=OfferEventSerializer,
        responses={200: OfferStateSerializer, **_LIMITED},
        summary="Tell what became of an offer (server key)",
    )
    def post(self, request: Request, public_key: str, offer_uid: UUID) -> Response:
        """``shown`` when it is on the screen; then every ``click``, whether it was ``helpful`` or
        ``unhelpful``, and that it was closed. The same ``id`` again changes nothing."""
        sent = read(OfferEventSerializer(data=request.data))
        author = self.author(sent["author"])
        offer = offer_called(author.site, offer_uid)
        record_offer_event(author, offer_uid, sent["what"], sent["id"])
        offer.refresh_from_db(fields=["status"])
        return Response({"oid": offer_uid, "status": offer.status})


def _body(message: Message, site: Site) -> dict[str, object]:
    selection = selection_for(message)
    return {**message_state(message), "selection": selection_told(selection, site)}
