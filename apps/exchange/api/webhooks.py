"""REST: webhooks of a project, for its managers."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.listing import paged
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import editing, replaying
from apps.exchange.webhooks.events import EVENTS
from apps.exchange.webhooks.looking import deliveries_of
from apps.exchange.webhooks.payloads import message_id
from apps.projects.api.mixins import ProjectScopedMixin
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
    """What a webhook is made of."""

    url = serializers.CharField(max_length=2000)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=EVENT_NAMES), default=EVENT_NAMES
    )
    description = serializers.CharField(max_length=200, default="", allow_blank=True)
    with_text = serializers.BooleanField(
        default=False, help_text="Send the texts of items too, except what authors wrote."
    )


class WebhookChangeSerializer(NewWebhookSerializer):
    """What can be changed."""

    active = serializers.BooleanField(help_text="Switch it on or off.")


class SecretSerializer(serializers.Serializer[Any]):
    """A signing secret, told this once."""

    secret = serializers.CharField(help_text="whsec_ and base64, as Standard Webhooks has it.")


class MadeWebhookSerializer(WebhookSerializer):
    """A webhook that was just made, with its secret."""

    secret = serializers.CharField()

    class Meta(WebhookSerializer.Meta):
        fields = (*WebhookSerializer.Meta.fields, "secret")  # type: ignore[assignment]


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """One event on its way."""

    message_id = serializers.SerializerMethodField()
    item = serializers.SerializerMethodField(help_text="The item's own id, where it is about one.")

    class Meta:
        model = Delivery
        fields = (
            "id", "message_id", "event", "item", "run", "event_at", "status", "attempts",
            "replays", "next_at", "response_status", "response", "error", "seconds", "created_at",
            "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_message_id(self, row: Delivery) -> str:
        """As in the header ``webhook-id``."""
        return message_id(row)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_item(self, row: Delivery) -> str | None:
        """The external id."""
        about = row.label or row.gold
        return about.item.external_id if about else None


class ReplaySerializer(serializers.Serializer[Any]):
    """Either of the two."""

    since = serializers.DateTimeField(
        required=False, help_text="Everything by the times that labels, decisions and runs have."
    )
    deliveries = serializers.ListField(
        child=serializers.IntegerField(), required=False, max_length=1000
    )


class QueuedSerializer(serializers.Serializer[Any]):
    """What a replay has queued."""

    queued = serializers.IntegerField(
        help_text="So far: a replay since a time goes on in the pace in which it is sent."
    )


class WebhooksView(ProjectScopedMixin, generics.GenericAPIView[Webhook]):
    """The webhooks of a project."""

    read_right = Right.MANAGE
    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    @extend_schema(
        operation_id="webhook_list",
        responses=WebhookSerializer(many=True),
        summary="List webhooks",
    )
    def get(self, request: Request, slug: str) -> Response:
        """In the order of their making."""
        return paged(self, self.project.webhooks.all())

    @extend_schema(
        operation_id="webhook_create",
        request=NewWebhookSerializer,
        responses={201: MadeWebhookSerializer},
        summary="Make a webhook",
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """It is told of what happens from now on. The answer has its secret, told this once."""
        sent = NewWebhookSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        webhook, secret = editing.create_webhook(
            project=self.project,
            actor=request.user,
            origin=_origin(request),
            **sent.validated_data,
        )
        shown = {**WebhookSerializer(webhook).data, "secret": secret}
        return Response(shown, status=status.HTTP_201_CREATED, headers=KEPT_NOWHERE)


class _OneWebhook(ProjectScopedMixin):
    """What all addresses of one webhook share."""

    read_right = Right.MANAGE

    def webhook(self) -> Webhook:
        """The one of the address."""
        return editing.webhook_of(self.project, self.kwargs["webhook_id"])


class WebhookView(_OneWebhook):
    """One webhook."""

    @extend_schema(operation_id="webhook", responses=WebhookSerializer, summary="Show a webhook")
    def get(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Its state, and since when it fails."""
        return Response(WebhookSerializer(self.webhook()).data)

    @extend_schema(
        operation_id="webhook_change",
        request=WebhookChangeSerializer,
        responses=WebhookSerializer,
        summary="Change a webhook",
    )
    def patch(self, request: SignedInApiRequest, slug: str, webhook_id: int) -> Response:
        """What is sent of it. Switched on, it is told of what happens from then on."""
        sent = WebhookChangeSerializer(data=request.data, partial=True)
        sent.is_valid(raise_exception=True)
        changes, webhook = dict(sent.validated_data), self.webhook()
        active = changes.pop("active", None)
        webhook = editing.update_webhook(webhook=webhook, origin=_origin(request), **changes)
        if active is not None:
            switch = editing.switch_on if active else editing.switch_off
            webhook = switch(webhook=webhook)
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(operation_id="webhook_delete", responses={204: None}, summary="Delete a webhook")
    def delete(self, request: Request, slug: str, webhook_id: int) -> Response:
        """With its deliveries."""
        editing.delete_webhook(webhook=self.webhook())
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecretView(_OneWebhook):
    """A webhook's secret."""

    @extend_schema(
        operation_id="webhook_secret",
        request=None,
        responses={201: SecretSerializer},
        summary="Replace the secret",
    )
    def post(self, request: Request, slug: str, webhook_id: int) -> Response:
        """The old one signs beside it for a day."""
        made = {"secret": editing.rotate_secret(webhook=self.webhook())}
        return Response(made, status=status.HTTP_201_CREATED, headers=KEPT_NOWHERE)


class WebhookPingView(_OneWebhook):
    """A test message."""

    @extend_schema(
        operation_id="webhook_ping",
        request=None,
        responses={202: DeliverySerializer},
        summary="Send a test message",
    )
    def post(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Tried once, also where the webhook is switched off."""
        made = editing.ping(webhook=self.webhook())
        return Response(DeliverySerializer(made).data, status=status.HTTP_202_ACCEPTED)


class DeliveriesView(_OneWebhook, generics.GenericAPIView[Delivery]):
    """What a webhook was sent."""

    serializer_class = DeliverySerializer
    queryset = Delivery.objects.none()

    @extend_schema(
        operation_id="webhook_deliveries",
        parameters=[OpenApiParameter("status", enum=Delivery.Status.values)],
        responses=DeliverySerializer(many=True),
        summary="List deliveries",
    )
    def get(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Newest first; those that ended are kept for 30 days."""
        wanted = request.query_params.get("status", "")
        if wanted and wanted not in Delivery.Status.values:
            raise InvalidInput.at("status", f"Use one of {', '.join(Delivery.Status.values)}.")
        return paged(self, deliveries_of(self.webhook(), status=wanted))


class WebhookReplayView(_OneWebhook):
    """Sending again."""

    @extend_schema(
        operation_id="webhook_replay",
        request=ReplaySerializer,
        responses={202: QueuedSerializer},
        summary="Replay",
    )
    def post(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Chosen ``deliveries``, or everything ``since`` a time; messages keep their ids."""
        sent = ReplaySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        asked, webhook = sent.validated_data, self.webhook()
        if len(asked) != 1:
            raise InvalidInput("Send either 'since' or 'deliveries'.")
        if "deliveries" in asked:
            queued = replaying.send_again(webhook=webhook, ids=asked["deliveries"])
        else:
            webhook = replaying.replay_since(webhook=webhook, since=asked["since"])
            queued = (webhook.replay or {}).get("queued", 0)
        return Response({"queued": queued}, status=status.HTTP_202_ACCEPTED)


def _origin(request: Request) -> str:
    """This server's own, as whoever asks has reached it."""
    return request.build_absolute_uri("/").rstrip("/")
