"""``sites/{public_key}/messages/``: a host's server posts there, the site's managers read there."""

import time
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.roles import Right
from apps.authors.api.access import read, server_of
from apps.authors.api.authentication import HasSiteKey, SiteKeyAuthentication
from apps.authors.api.filters import MessageFilter
from apps.authors.api.record_serializers import MessageSerializer
from apps.authors.api.server_serializers import (
    HeardSerializer,
    PendingQuestionSerializer,
    PostedMessageSerializer,
    PostedSerializer,
    incoming,
)
from apps.authors.api.waiting import wait_until_asked
from apps.authors.models import Message
from apps.authors.selectors.records import messages_of, site_for
from apps.authors.selectors.waiting import pending_questions
from apps.authors.services.authors import post_message
from apps.authors.services.messages import Heard
from apps.authors.tasks import launch_asking
from apps.common.api.parsers import PlainJSONParser

_EXAMPLE = OpenApiExample(
    "A customer writes",
    value={
        "author": "customer-17",
        "id": "message-1",
        "conversation": "chat-1",
        "text": "I am looking for a quiet laptop for my studies.",
        "consent": True,
        "wait": 5,
    },
    request_only=True,
)


class MessagesView(generics.ListAPIView[Message]):
    """Messages of a site: GET with a person's key, POST with a server key."""

    queryset = Message.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = MessageSerializer
    filterset_class = MessageFilter

    @property
    def _posting(self) -> bool:
        # The OpenAPI generator asks before there is a request.
        return getattr(self.request, "method", "") == "POST"

    def get_authenticators(self) -> list[BaseAuthentication]:
        """A server key opens POST alone, a person's key everything else."""
        return [SiteKeyAuthentication()] if self._posting else super().get_authenticators()

    def get_permissions(self) -> Any:
        """Likewise."""
        return [HasSiteKey()] if self._posting else super().get_permissions()

    def get_parsers(self) -> list[BaseParser]:
        """Only JSON is posted."""
        return [PlainJSONParser()]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Whoever reads must be a manager of the site's project."""
        super().initial(request, *args, **kwargs)
        if not self._posting:
            self.site = site_for(request.user, kwargs["public_key"], Right.MANAGE)

    def get_queryset(self) -> Any:
        """The site's messages, newest first."""
        return messages_of(self.site)

    @extend_schema(operation_id="site_messages", summary="List messages")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What was heard, without personal data, and what each stage said of it."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="site_message_post",
        request=PostedMessageSerializer,
        responses={
            200: OpenApiResponse(PostedSerializer, "It had arrived before."),
            201: PostedSerializer,
            429: OpenApiResponse(description="Too many requests with this key; see Retry-After."),
        },
        examples=[_EXAMPLE],
        summary="Post a message (server key)",
    )
    def post(self, request: Request, public_key: str) -> Response:
        """Stored once, whatever is sent again; the models are asked by a worker. ``questions``
        are those about this message; whose turn it is tells ``questions/``."""
        heard = receive(request)
        body = told_of(heard.message)
        return Response(body, status.HTTP_201_CREATED if heard.fresh else status.HTTP_200_OK)


def receive(request: Request) -> Heard:
    """Store the message that a site's server posts, have a worker ask about it, and wait as long
    as it asks to.

    Raises:
        BadField: naming the fields that cannot be used; and what ``post_message`` raises.
    """
    sent = read(PostedMessageSerializer(data=request.data))
    site = server_of(request).site
    heard = post_message(
        site,
        sent["author"],
        incoming(sent),
        version=sent["consent"],
        consented_at=sent["consented_at"],
    )
    message, started = heard.message, time.monotonic()
    if heard.fresh and message.status == Message.Status.RECEIVED:
        launch_asking(message.pk)
    wait_until_asked(message, until=started + sent["wait"])
    return heard


def told_of(message: Message) -> dict[str, Any]:
    """What became of a message so far, and what its author may be asked."""
    return {
        "message": HeardSerializer(message).data,
        "questions": PendingQuestionSerializer(pending_questions(message), many=True).data,
    }
