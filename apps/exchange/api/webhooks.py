"""REST: webhooks of a project, for its managers."""

from typing import Any

from django_filters import ChoiceFilter, FilterSet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.authors.pages import own_origin
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import services
from apps.exchange.webhooks.event_feed import EVENTS
from apps.exchange.webhooks.payloads import message_id
from apps.exchange.webhooks.services import deliveries_of
from apps.projects.api.viewsets import ProjectViewSet
from labelhub.core.errors import InvalidInput

KEPT_NOWHERE = {"Cache-Control": "no-store"}
EVENT_NAMES = list(EVENTS)


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook; its secret is never shown again."""

    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENT_NAMES))

    class Meta:
        model = Webhook
        fields = (
            "id", "url", "description", "events", "with_text", "status", "failures",
            "failing_since", "next_at", "began_at", "stopped_at", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A new webhook."""

    url = serializers.CharField(max_length=2000)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=EVENT_NAMES), default=EVENT_NAMES
    )
    description = serializers.CharField(max_length=200, default="", allow_blank=True)
    with_text = serializers.BooleanField(
        default=False, help_text="Send the texts of items too, except what authors wrote."
    )


class WebhookChangeSerializer(NewWebhookSerializer):
    """Changes of a webhook."""

    active = serializers.BooleanField(help_text="Switch it on or off.")


class SecretSerializer(serializers.Serializer[Any]):
    """A signing secret, shown only once."""

    secret = serializers.CharField(help_text="whsec_ and base64, as in Standard Webhooks.")


class MadeWebhookSerializer(WebhookSerializer):
    """A new webhook with its secret."""

    secret = serializers.CharField()

    class Meta(WebhookSerializer.Meta):
        fields = (*WebhookSerializer.Meta.fields, "secret")  # type: ignore[assignment]


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """The delivery of one event."""

    message_id = serializers.SerializerMethodField()
    item = serializers.SerializerMethodField(
        help_text="The external id of the item, if the event is about one."
    )

    class Meta:
        model = Delivery
        fields = (
            "id", "message_id", "event", "item", "run", "event_at", "status", "attempts",
            "replays", "next_at", "response_status", "response", "error", "seconds", "created_at",
            "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_message_id(self, row: Delivery) -> str:
        """The value of the header ``webhook-id``."""
        return message_id(row)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_item(self, row: Delivery) -> str | None:
        """The external id."""
        about = row.label or row.gold
        return about.item.external_id if about else None


class ReplaySerializer(serializers.Serializer[Any]):
    """Deliveries to send again: all since a time, or chosen ones."""

    since = serializers.DateTimeField(
        required=False,
        help_text="All events since then, by the times of labels, decisions and runs.",
    )
    deliveries = serializers.ListField(
        child=serializers.IntegerField(), required=False, max_length=1000
    )


class QueuedSerializer(serializers.Serializer[Any]):
    """The deliveries that a replay has queued."""

    queued = serializers.IntegerField(
        help_text="So far: a replay since a time is queued at the pace at which it is sent."
    )


class DeliveryFilter(FilterSet):
    """``?status=``."""

    status = ChoiceFilter(choices=Delivery.Status.choices)


class WebhookViewSet(ProjectViewSet):
    """The webhooks of a project, for its managers."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "webhook_id"
    serializer_class = WebhookSerializer

    def webhook(self) -> Webhook:
        """The webhook in the address."""
        return services.webhook_of(self.project, self.kwargs["webhook_id"])

    def list(self, request: Request, **_: str) -> Response:
        """List webhooks.

        Oldest first.
        """
        return self.list_page(self.project.webhooks.all())

    @extend_schema(request=NewWebhookSerializer, responses={201: MadeWebhookSerializer})
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Create a webhook.

        It gets events from now on. The response has its secret, which is shown only once.
        """
        webhook, secret = services.create_webhook(
            project=self.project,
            actor=request.user,
            origin=own_origin(request),
            **self.read_body(NewWebhookSerializer),
        )
        shown = {**self.get_serializer(webhook).data, "secret": secret}
        return Response(shown, status=status.HTTP_201_CREATED, headers=KEPT_NOWHERE)

    def retrieve(self, request: Request, **_: Any) -> Response:
        """Show a webhook.

        Its state, and since when it fails.
        """
        return Response(self.get_serializer(self.webhook()).data)

    @extend_schema(request=WebhookChangeSerializer)
    def partial_update(self, request: Request, **_: Any) -> Response:
        """Change a webhook.

        Its settings. When it is switched on, it gets events from then on.
        """
        changes = self.read_body(WebhookChangeSerializer, partial=True)
        active = changes.pop("active", None)
        webhook = services.update_webhook(
            webhook=self.webhook(), origin=own_origin(request), **changes
        )
        if active is not None:
            switch = services.switch_on if active else services.switch_off
            webhook = switch(webhook=webhook)
        return Response(self.get_serializer(webhook).data)

    def destroy(self, request: Request, **_: Any) -> Response:
        """Delete a webhook.

        With its deliveries.
        """
        services.delete_webhook(webhook=self.webhook())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={201: SecretSerializer})
    @action(detail=True, methods=["post"])
    def secret(self, request: Request, **_: Any) -> Response:
        """Replace the secret.

        The old one also signs for a day.
        """
        made = {"secret": services.rotate_secret(webhook=self.webhook())}
        return Response(made, status=status.HTTP_201_CREATED, headers=KEPT_NOWHERE)

    @extend_schema(request=None, responses={202: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def ping(self, request: Request, **_: Any) -> Response:
        """Send a test message.

        Tried once, even if the webhook is switched off.
        """
        made = services.ping(webhook=self.webhook())
        return Response(DeliverySerializer(made).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(responses=DeliverySerializer(many=True))
    @action(detail=True, serializer_class=DeliverySerializer, filterset_class=DeliveryFilter)
    def deliveries(self, request: Request, **_: Any) -> Response:
        """List deliveries.

        Newest first; those that ended are kept for 30 days.
        """
        return self.list_page(deliveries_of(self.webhook()))

    @extend_schema(request=ReplaySerializer, responses={202: QueuedSerializer})
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, **_: Any) -> Response:
        """Send messages again.

        Chosen ``deliveries``, or everything ``since`` a time; messages keep their ids.
        """
        asked, webhook = self.read_body(ReplaySerializer), self.webhook()
        if len(asked) != 1:
            raise InvalidInput("Send either 'since' or 'deliveries'.")
        if "deliveries" in asked:
            queued = services.send_again(webhook=webhook, ids=asked["deliveries"])
        else:
            webhook = services.replay_since(webhook=webhook, since=asked["since"])
            queued = (webhook.replay or {}).get("queued", 0)
        return Response({"queued": queued}, status=status.HTTP_202_ACCEPTED)
