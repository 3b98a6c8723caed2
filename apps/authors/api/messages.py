"""``sites/{public_key}/messages/``: a host's server posts messages, managers read them."""

import time
from datetime import datetime
from threading import BoundedSemaphore
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers, status
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.roles import Right
from apps.authors.api.access import HasSiteKey, SiteKeyAuthentication, read, site_of
from apps.authors.api.records import MessageFilter, MessageSerializer
from apps.authors.errors import BadField, ConsentRequired, TooLong
from apps.authors.models import Erasure, Message, Question
from apps.authors.selectors.authors import find_site_for
from apps.authors.selectors.messages import pending_questions
from apps.authors.services.answers import DISMISSALS, LONGEST_WORD
from apps.authors.services.authors import post_message
from apps.authors.services.limits import CLOCKS_DIFFER
from apps.authors.services.messages import Incoming, StoredMessage
from apps.authors.tasks import launch_asking
from apps.common.api.parsers import PlainJSONParser
from apps.common.api.viewsets import ApiViewSet

LONGEST_TEXT, LONGEST_REF, LONGEST_SUBJECT = 8000, 64, 200
LONGEST_WAIT = 10.0


@extend_schema_field(
    {
        "oneOf": [
            {"type": "boolean", "enum": [True]},
            {
                "type": "object",
                "properties": {"version": {"type": "integer", "minimum": 1}},
                "required": ["version"],
            },
        ],
        "description": "The author agreed to the present text (true), or to this version of it.",
    }
)
class ConsentField(serializers.Field[Any, Any, Any, Any]):
    """The version of the consent text; None for the present one."""

    def to_internal_value(self, data: Any) -> int | None:
        """``true``, or an object with a version."""
        version = data.get("version") if isinstance(data, dict) else None
        if data is True:
            return None
        if isinstance(version, bool) or not isinstance(version, int):
            raise ConsentRequired(
                'Nothing was stored: send "consent": true, or {"version": N}, once the author has '
                "agreed."
            )
        return version

    def to_representation(self, value: Any) -> Any:
        """Never shown."""
        return value


class SubjectField(serializers.CharField):
    """The host's id of an author, not trimmed."""

    def __init__(self, **more: Any) -> None:
        super().__init__(trim_whitespace=False, max_length=LONGEST_SUBJECT, **more)

    def to_internal_value(self, data: Any) -> str:
        """Printable text, as in signed identities."""
        subject = super().to_internal_value(data)
        if not subject.strip() or not subject.isprintable():
            raise serializers.ValidationError("Must be printable text.")
        return subject


class PostedMessageSerializer(serializers.Serializer[Any]):
    """A message of an author, or the assistant's reply."""

    author = SubjectField(help_text="Your id of the author.")
    id = serializers.CharField(
        max_length=LONGEST_REF,
        help_text="Your id of the message; a repeated id is the same message.",
    )
    conversation = serializers.CharField(max_length=LONGEST_REF)
    text = serializers.CharField(trim_whitespace=False, help_text="At most 8,000 characters.")
    role = serializers.ChoiceField(choices=Message.Role.choices, default=Message.Role.AUTHOR)
    lang = serializers.RegexField(
        r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", max_length=35, required=False, default=""
    )
    country = serializers.RegexField(r"^[A-Za-z]{2}$", required=False, default="")
    consent = ConsentField()
    consented_at = serializers.DateTimeField(
        required=False,
        default=None,
        help_text="When the author agreed, not in the future; required if the author's data was "
        "deleted before.",
    )
    wait = serializers.FloatField(
        min_value=0, max_value=LONGEST_WAIT, default=0,
        help_text="Seconds to wait for the questions.",
    )  # fmt: skip

    def validate_consented_at(self, moment: datetime | None) -> datetime | None:
        """Refuse a time in the future."""
        if moment is not None and moment > timezone.now() + CLOCKS_DIFFER:
            raise serializers.ValidationError(
                "Must not be in the future: send when the author agreed, and check your clock."
            )
        return moment

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Check the consent before all other fields."""
        if isinstance(data, dict):
            self.fields["consent"].to_internal_value(data.get("consent"))
            if isinstance(data.get("text"), str) and len(data["text"]) > LONGEST_TEXT:
                raise TooLong.at("text", f"Must be at most {LONGEST_TEXT:,} characters.")
        found: dict[str, Any] = super().to_internal_value(data)
        return found


class WhoSerializer(serializers.Serializer[Any]):
    """The author of the request."""

    author = SubjectField(help_text="Your id of the author.")


class DismissalSerializer(WhoSerializer):
    """How a question was dismissed."""

    how = serializers.ChoiceField(choices=list(DISMISSALS))


class SaidSerializer(WhoSerializer):
    """An answer: ``option``, ``word`` or ``nofit``; a word may accompany ``nofit``."""

    id = serializers.CharField(
        max_length=LONGEST_REF, help_text="Your id of the answer; a repeated id is the same answer."
    )
    option = serializers.CharField(required=False, max_length=8, help_text="The option's id.")
    word = serializers.CharField(required=False, max_length=LONGEST_WORD)
    nofit = serializers.BooleanField(required=False, default=False)
    visible_ms = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=2**31 - 1
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the three ways to answer."""
        ways = [way for way in ("option", "word") if way in attrs]
        if ways == ["option", "word"] or (attrs["nofit"] and "option" in attrs):
            raise BadField("Send only one of option, word and nofit.")
        if not ways and not attrs["nofit"]:
            raise BadField("The answer is missing: send an option, a word, or nofit.")
        return attrs


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id", "label"],
            "properties": {"id": {"type": "string"}, "label": {"type": "string"}},
        },
    }
)
class OptionsField(serializers.JSONField):
    """The options, in the order in which to show them."""


class SurveyPlaceSerializer(serializers.Serializer[Any]):
    """The question's place in its survey."""

    n = serializers.IntegerField()
    of = serializers.IntegerField()


class PendingQuestionSerializer(serializers.Serializer[Any]):
    """A question as in the widget's ``question`` frame, with its status."""

    qid = serializers.UUIDField()
    re = serializers.CharField(help_text="Id of the message.")
    conv = serializers.CharField()
    kind = serializers.CharField(help_text="choice4 or word.")
    text = serializers.CharField()
    quote = serializers.ListField(
        child=serializers.IntegerField(), help_text="Which part of the message to quote."
    )
    opts = OptionsField()
    min_ms = serializers.IntegerField(help_text="Time to read; earlier answers are refused.")
    expires = serializers.IntegerField(help_text="Milliseconds since 1970.")
    survey = SurveyPlaceSerializer()
    lang = serializers.CharField()
    dir = serializers.ChoiceField(choices=["ltr", "rtl"])
    why = serializers.CharField()
    reward = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=Question.Status.choices)


class HeardSerializer(serializers.ModelSerializer[Message]):
    """A message; status ``received``: the models are still working on it."""

    id = serializers.CharField(source="ref")

    class Meta:
        model = Message
        fields = ["id", "status", "dropped_at", "reason"]


class PostedSerializer(serializers.Serializer[Any]):
    """The present state of a message, and the questions for its author."""

    message = HeardSerializer()
    questions = PendingQuestionSerializer(many=True)


class WhoseTurnSerializer(serializers.Serializer[Any]):
    """The author's next question."""

    question = PendingQuestionSerializer(allow_null=True)


class QuestionStateSerializer(serializers.Serializer[Any]):
    """The state of a question; ``after_ms``: time until it can be answered."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Question.Status.choices)
    after_ms = serializers.IntegerField(required=False)
    undo_ms = serializers.IntegerField(required=False)


class ErasureSerializer(serializers.ModelSerializer[Erasure]):
    """Receipt of a deletion; it says how much was deleted, not whose data."""

    removed = serializers.DictField(child=serializers.IntegerField())

    class Meta:
        model = Erasure
        fields = ["receipt", "removed", "erased_at", "limits_until"]


class OptedOutSerializer(serializers.Serializer[Any]):
    """When an author opted out."""

    opted_out_at = serializers.DateTimeField()


#: Most requests of one process that wait at a time; each holds a thread. Further requests are
#: answered at once.
MOST_WAITING = 4
#: Seconds between two checks.
LOOK_EVERY = 0.1

_places = BoundedSemaphore(MOST_WAITING)


def wait_until_asked(message: Message, *, until: float) -> None:
    """Update ``message`` from the database until its result is known or the time is over.

    Args:
        until: seconds of the monotonic clock.
    """
    if not _open(message) or time.monotonic() >= until or not _places.acquire(blocking=False):
        return
    try:
        while _open(message) and (left := until - time.monotonic()) > 0:
            time.sleep(min(LOOK_EVERY, left))
            row = Message.objects.filter(pk=message.pk).values("status", "dropped_at", "reason")
            for field, value in (row.first() or {"status": Message.Status.DROPPED}).items():
                setattr(message, field, value)
    finally:
        _places.release()


def _open(message: Message) -> bool:
    return message.status == Message.Status.RECEIVED


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


class MessagesViewSet(ApiViewSet):
    """Messages of a site: GET with a user's key, POST with a server key."""

    serializer_class = MessageSerializer
    filterset_class = MessageFilter

    @property
    def _posting(self) -> bool:
        # The OpenAPI generator asks before there is a request.
        return getattr(self.request, "method", "") == "POST"

    def get_authenticators(self) -> list[BaseAuthentication]:
        """POST requires a server key, all other methods a user's key."""
        return [SiteKeyAuthentication()] if self._posting else super().get_authenticators()

    def get_permissions(self) -> Any:
        """Likewise."""
        return [HasSiteKey()] if self._posting else super().get_permissions()

    def get_parsers(self) -> list[BaseParser]:
        """Only JSON is posted."""
        return [PlainJSONParser()]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Reading requires a manager of the site's project."""
        super().initial(request, *args, **kwargs)
        if not self._posting:
            self.site = find_site_for(request.user, kwargs["public_key"], Right.MANAGE)

    @extend_schema(operation_id="site_messages")
    def list(self, request: Request, **_: str) -> Response:
        """List messages.

        Newest first, without personal data, with the verdict of each stage.
        """
        heard = self.site.messages.select_related("author", "conversation")
        return self.list_page(heard.order_by("-received_at", "-pk"))

    @extend_schema(
        operation_id="site_message_post",
        request=PostedMessageSerializer,
        responses={
            200: OpenApiResponse(PostedSerializer, "The message was stored before."),
            201: PostedSerializer,
            429: OpenApiResponse(description="Too many requests with this key; see Retry-After."),
        },
        examples=[_EXAMPLE],
    )
    def create(self, request: Request, **_: str) -> Response:
        """Post a message (server key).

        A repeated message is stored once; a worker asks the models about it. ``questions`` are
        those about this message; ``questions/`` gives the author's next one.
        """
        heard = receive(request)
        body = message_state(heard.message)
        return Response(body, status.HTTP_201_CREATED if heard.fresh else status.HTTP_200_OK)


def receive(request: Request) -> StoredMessage:
    """Store a message that a site's server posts, have a worker ask about it, and wait as long as
    the request says.

    Raises:
        BadField: fields are invalid; also all errors of ``post_message``.
    """
    sent = read(PostedMessageSerializer(data=request.data))
    site = site_of(request)
    heard = post_message(
        site,
        sent["author"],
        Incoming(
            ref=sent["id"],
            conversation=sent["conversation"],
            role=sent["role"],
            text=sent["text"],
            language=sent["lang"][:2].lower(),
            country=sent["country"],
        ),
        version=sent["consent"],
        consented_at=sent["consented_at"],
    )
    message, started = heard.message, time.monotonic()
    if heard.fresh and message.status == Message.Status.RECEIVED:
        launch_asking(message.pk)
    wait_until_asked(message, until=started + sent["wait"])
    return heard


def message_state(message: Message) -> dict[str, Any]:
    """The present state of a message, and the questions for its author."""
    return {
        "message": HeardSerializer(message).data,
        "questions": PendingQuestionSerializer(pending_questions(message), many=True).data,
    }
