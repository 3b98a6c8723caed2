"""REST for a site's own servers: features for its own downstream task, rewards, and offers.

The server posts a message as to any site, gets Echo's selection of features for it, and reports
the result.
"""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteServerViewSet
from apps.authors.api.messages import (
    LONGEST_REF,
    PostedMessageSerializer,
    PostedSerializer,
    SubjectField,
    WhoSerializer,
    message_state,
    receive,
)
from apps.authors.errors import BadField
from apps.authors.models import Message, Site
from apps.authors.selectors.sites import check_open
from apps.authors.services.site_config import config_of, next_offer, offers
from apps.echo.api.learning import FiniteField
from apps.echo.models import Decision, Selection
from apps.echo.selectors.offers import get_message
from apps.echo.services.events import record_outcome
from apps.echo.services.offer_ranking import selected_of
from apps.echo.services.selection import check_switched_on, selection_for

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


class SelectedFeatureSerializer(serializers.Serializer[Any]):
    """A selected feature with its predicted value."""

    key = serializers.CharField()
    name = serializers.CharField()
    value = serializers.CharField(help_text="One of the feature's values, or free text.")
    probability = serializers.FloatField(help_text="Probability that the value is right.")
    relevance = serializers.FloatField(
        help_text="Expected gain in the log-odds of success from a right value."
    )


class SelectionSerializer(serializers.Serializer[Any]):
    """Echo's selection of features for one message."""

    id = serializers.UUIDField(help_text="Used to send rewards.")
    number = serializers.IntegerField(
        help_text="The newest event that Echo had learnt from at that time."
    )
    at = serializers.DateTimeField()
    features = SelectedFeatureSerializer(many=True, help_text="Most relevant first.")


class SelectionPostedSerializer(PostedSerializer):
    """The state of the message. ``selection`` is null while models are called
    (``message.status`` is ``received``), and if the message was dropped before Echo saw it."""

    selection = SelectionSerializer(allow_null=True)


class MessageQuerySerializer(serializers.Serializer[Any]):
    """Which message; without ``author``, the one with this id within the last day."""

    id = serializers.CharField(
        max_length=LONGEST_REF, help_text="The id that your server or page gave it."
    )
    author = SubjectField(required=False, default="", help_text="Your id for the author.")


class ToldRewardSerializer(serializers.Serializer[Any]):
    """The result of your task with a selection."""

    id = serializers.CharField(
        max_length=200, help_text="Your id; a repeated id counts once per selection."
    )
    value = FiniteField(min_value=0, max_value=1, help_text="0 (no use) to 1.")


class OfferMatteredSerializer(serializers.Serializer[Any]):
    """The question what mattered most for the offer, and its answers."""

    ask = serializers.CharField()
    options = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2),
        help_text="At most four pairs: the key of a feature and its name.",
    )
    none = serializers.CharField(help_text="The answer that none of them mattered most.")


class OfferHelpfulSerializer(serializers.Serializer[Any]):
    """The question whether the offer helped, and its two answers, in the offer's language."""

    ask = serializers.CharField()
    yes = serializers.CharField()
    no = serializers.CharField()
    mattered = OfferMatteredSerializer(
        required=False, help_text="Only in some offers: what to ask once the offer is rated."
    )


class OfferSerializer(serializers.Serializer[Any]):
    """An offer as in the widget's ``offer`` frame."""

    oid = serializers.UUIDField()
    re = serializers.CharField(allow_blank=True, help_text="Id of the message.")
    conv = serializers.CharField(allow_blank=True)
    label = serializers.CharField(  # type: ignore[assignment]  # the name in the widget's frame
        help_text="Marks it as a recommendation; show it."
    )
    title = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    link = serializers.CharField()
    picture = serializers.CharField(allow_blank=True)
    price = serializers.CharField(allow_blank=True)
    lang = serializers.CharField()
    dir = serializers.ChoiceField(choices=["ltr", "rtl"])
    helpful = OfferHelpfulSerializer()
    why = serializers.CharField()
    expires = serializers.IntegerField(help_text="In milliseconds since 1970.")


class WaitingOfferSerializer(serializers.Serializer[Any]):
    """The waiting offer, or null."""

    offer = OfferSerializer(allow_null=True)


class OfferEventSerializer(serializers.Serializer[Any]):
    """An event of an offer."""

    author = SubjectField(help_text="Your id for the author.")
    id = serializers.CharField(
        max_length=LONGEST_REF, help_text="Your id of the event; a repeated id counts once."
    )
    what = serializers.ChoiceField(
        choices=["shown", "click", "helpful", "unhelpful", "close", "mattered"]
    )
    feature = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=40,
        help_text="With ``mattered``: the key of what mattered most, empty for none of them.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a feature with ``mattered``, and refuse one with anything else."""
        if attrs["what"] == "mattered" and "feature" not in attrs:
            raise BadField.at("feature", "Send the key, or an empty text for none of them.")
        if attrs["what"] != "mattered" and attrs.get("feature"):
            raise BadField.at("feature", "Send it with what mattered only.")
        return attrs


class OfferStateSerializer(serializers.Serializer[Any]):
    """The state of an offer."""

    oid = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Decision.Status.choices)


def selection_told(selection: Selection | None, site: Site) -> dict[str, Any] | None:
    """A selection as JSON for its site's server, with the features' names; None for None."""
    if selection is None:
        return None
    features = selected_of(selection, config_of(site).definitions)
    body = {
        "id": selection.uid,
        "number": selection.number,
        "at": selection.at,
        "features": features,
    }
    return dict(SelectionSerializer(body).data)


class EchoMessageViewSet(SiteServerViewSet):
    """Messages of a site's server, and their selections."""

    @extend_schema(
        parameters=[MessageQuerySerializer],
        responses={200: SelectionPostedSerializer, **_LIMITED},
    )
    def retrieve(self, request: Request, **_: str) -> Response:
        """Show the selection of a message (server key).

        By the id of the message, which your server or the widget sent.
        """
        asked = self.read_query(MessageQuerySerializer)
        author = self.author(asked["author"]) if asked["author"] else None
        message = get_message(self.site, asked["id"], author, timezone.now())
        return Response(_body(message, self.site))

    @extend_schema(
        operation_id="site_echo_message_post",
        request=PostedMessageSerializer,
        responses={
            200: OpenApiResponse(SelectionPostedSerializer, "The message had arrived before."),
            201: SelectionPostedSerializer,
            **_LIMITED,
        },
        examples=[_MESSAGE],
    )
    def create(self, request: Request, **_: str) -> Response:
        """Post a message and get its features (server key).

        Takes the same body as ``messages/``, and asks the author if a question is due. When the
        models have answered, ``selection`` has the k most relevant features: send ``wait``, or
        fetch it later.
        """
        check_switched_on(self.site)
        heard = receive(request)
        code = status.HTTP_201_CREATED if heard.fresh else status.HTTP_200_OK
        return Response(_body(heard.message, self.site), code)


class SelectionViewSet(SiteServerViewSet):
    """A selection and its rewards."""

    lookup_url_kwarg = "selection_uid"
    lookup_value_converter = "uuid"

    def selection(self, uid: UUID) -> Selection:
        """The site's selection with this id."""
        rows = Selection.objects.select_related("echo", "message")
        return get_object_or_404(rows, echo=self.site.pk, uid=uid)

    @extend_schema(responses={200: SelectionSerializer, **_LIMITED})
    def retrieve(self, request: Request, selection_uid: UUID, **_: str) -> Response:
        """Show a selection (server key)."""
        return Response(selection_told(self.selection(selection_uid), self.site))

    @extend_schema(
        operation_id="site_echo_reward",
        request=ToldRewardSerializer,
        responses={
            200: OpenApiResponse(ToldRewardSerializer, "A repeated id; the first reward counts."),
            201: ToldRewardSerializer,
            409: OpenApiResponse(
                description="The selection is older than seven days, or already has ten rewards."
            ),
            **_LIMITED,
        },
        examples=[_REWARD],
    )
    @action(detail=True, methods=["post"])
    def rewards(self, request: Request, selection_uid: UUID, **_: str) -> Response:
        """Reward a selection (server key).

        Teaches Echo within seconds which features matter, unless learning is frozen. Report
        failures too (``0``): Echo cannot learn from successes alone.
        """
        sent = self.read_body(ToldRewardSerializer)
        selection = self.selection(selection_uid)
        outcome = record_outcome(selection, sent["id"], sent["value"], timezone.now())
        code = status.HTTP_201_CREATED if outcome.fresh else status.HTTP_200_OK
        return Response({"id": sent["id"], "value": outcome.value}, code)


class OfferViewSet(SiteServerViewSet):
    """The waiting offer of an author."""

    @extend_schema(parameters=[WhoSerializer], responses={200: WaitingOfferSerializer, **_LIMITED})
    def retrieve(self, request: Request, **_: str) -> Response:
        """Fetch the offer for an author (server key).

        For sites that show offers themselves. Marks the waiting offer as sent; null if there is
        none. Show it with its label before it ``expires``.
        """
        author = self.author(self.read_query(WhoSerializer)["author"])
        check_open(author.site, None)
        return Response({"offer": next_offer(author)})


class OfferEventViewSet(SiteServerViewSet):
    """Events of offers."""

    @extend_schema(
        operation_id="site_echo_offer_event",
        request=OfferEventSerializer,
        responses={200: OfferStateSerializer, **_LIMITED},
    )
    def create(self, request: Request, offer_uid: UUID, **_: str) -> Response:
        """Report an event of an offer (server key).

        Report ``shown`` when it is visible, then every ``click``, the rating ``helpful`` or
        ``unhelpful``, and ``close``; ``mattered`` with a ``feature`` if the offer asks for it, of
        which the first answer counts. A repeated ``id`` changes nothing.
        """
        sent = self.read_body(OfferEventSerializer)
        author = self.author(sent["author"])
        made = Decision.objects.exclude(item_ref="")
        offer = get_object_or_404(made, echo=author.site_id, uid=offer_uid)
        offers().record_event(author, offer_uid, sent["what"], sent["id"], sent.get("feature", ""))
        offer.refresh_from_db(fields=["status"])
        return Response({"oid": offer_uid, "status": offer.status})


def _body(message: Message, site: Site) -> dict[str, object]:
    selection = selection_for(message)
    return {**message_state(message), "selection": selection_told(selection, site)}
