"""REST for a host's own servers: questions are fetched and answered, data is shown and deleted.

The server's clock counts, as over the socket: a question is sent when it is fetched here, and on
the screen when ``shown/`` is posted.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteServerView, read, server_of
from apps.authors.api.messages import (
    DismissalSerializer,
    ErasureSerializer,
    OptedOutSerializer,
    QuestionStateSerializer,
    SaidSerializer,
    WhoSerializer,
    WhoseTurnSerializer,
    submitted_answer,
)
from apps.authors.errors import TooEarly
from apps.authors.models import Author
from apps.authors.selectors.authors import question_of, question_uid
from apps.authors.selectors.messages import question_words
from apps.authors.selectors.sites import check_open
from apps.authors.services.answers import UNDO_MS, dismiss, record_answer, undo
from apps.authors.services.authors import author_of_subject, opt_out
from apps.authors.services.privacy import author_data, erase_author
from apps.authors.services.questions import mark_shown, next_question

_LIMITED = {429: OpenApiResponse(description="Too many requests with this key; see Retry-After.")}
_EARLY = {
    425: OpenApiResponse(
        description="Too early to have been read; `data.after_ms` tells when to send it again."
    )
}


class TurnView(SiteServerView):
    """Whose turn it is."""

    @extend_schema(
        operation_id="site_question_next",
        parameters=[WhoSerializer],
        responses={200: WhoseTurnSerializer, **_LIMITED},
        summary="Fetch the question (server key)",
    )
    def get(self, request: Request, public_key: str) -> Response:
        """The question to put to the author now, marked as sent; null when there is none. One at
        a time: the next comes when this one is answered or sent away."""
        author = self.author(read(WhoSerializer(data=request.query_params))["author"])
        check_open(author.site, None)
        question = next_question(author)
        if question is None:
            return Response({"question": None})
        words = question_words(question, author, of=question.message.questions.count())
        return Response({"question": words | {"status": question.status}})


class ShownView(SiteServerView):
    """A question on the screen."""

    @extend_schema(
        operation_id="site_question_shown",
        request=WhoSerializer,
        responses={200: QuestionStateSerializer, **_EARLY, **_LIMITED},
        summary="Tell that a question is shown (server key)",
    )
    def post(self, request: Request, public_key: str, qid: str) -> Response:
        """The time to read it begins; the first time counts. Also right after its message was
        posted, without fetching it, provided that it is its turn."""
        now = timezone.now()
        author = self.author(read(WhoSerializer(data=request.data))["author"])
        question = question_of(author, qid)
        if question.pushed_at is None:
            turn = next_question(author)
            if turn is None or turn.pk != question.pk:
                raise TooEarly("It is not this question's turn yet; fetch whose it is.")
        mark_shown(author, question.uid, now)
        question.refresh_from_db(fields=["shown_at"])
        since = (now - (question.shown_at or now)) // timedelta(milliseconds=1)
        return _state(author, qid, after_ms=max(0, question.min_ms - since))


class AnswerView(SiteServerView):
    """An answer."""

    @extend_schema(
        operation_id="site_question_answer",
        request=SaidSerializer,
        responses={200: QuestionStateSerializer, **_EARLY, **_LIMITED},
        summary="Answer a question (server key)",
    )
    def post(self, request: Request, public_key: str, qid: str) -> Response:
        """Taken once, committed when this answers, not before it could be read. ``undo_ms``: so
        long it can be taken back."""
        received = timezone.now()
        sent = read(SaidSerializer(data=request.data))
        author = self.author(sent["author"])
        check_open(author.site, None)
        answer = submitted_answer(sent)
        record_answer(author, question_uid(qid), answer, consent=None, received=received)
        return _state(author, qid, undo_ms=UNDO_MS)


class DismissView(SiteServerView):
    """No answer."""

    @extend_schema(
        operation_id="site_question_dismiss",
        request=DismissalSerializer,
        responses={200: QuestionStateSerializer, **_LIMITED},
        summary="Send a question away (server key)",
    )
    def post(self, request: Request, public_key: str, qid: str) -> Response:
        """Doing it again changes nothing. That nothing fits is an answer: see there."""
        sent = read(DismissalSerializer(data=request.data))
        author = self.author(sent["author"])
        dismiss(author, question_uid(qid), sent["how"])
        return _state(author, qid)


class UndoView(SiteServerView):
    """An answer taken back."""

    @extend_schema(
        operation_id="site_question_undo",
        request=WhoSerializer,
        responses={200: QuestionStateSerializer, **_LIMITED},
        summary="Take an answer back (server key)",
    )
    def post(self, request: Request, public_key: str, qid: str) -> Response:
        """Within seconds; the question is open again and its label withdrawn."""
        author = self.author(read(WhoSerializer(data=request.data))["author"])
        undo(author, question_uid(qid))
        return _state(author, qid)


class AuthorView(SiteServerView):
    """An author's data; also of a site that is switched off."""

    @extend_schema(
        operation_id="site_author",
        responses={200: OpenApiTypes.OBJECT, **_LIMITED},
        summary="Show an author's data (server key)",
    )
    def get(self, request: Request, public_key: str, subject: str) -> Response:
        """Everything that is kept of them."""
        return Response(author_data(self.author(_subject(subject))))

    @extend_schema(
        operation_id="site_author_erase",
        responses={200: ErasureSerializer, **_LIMITED},
        summary="Delete an author's data (server key)",
    )
    def delete(self, request: Request, public_key: str, subject: str) -> Response:
        """What they wrote and answered, and every label of it, for good; the receipt proves it."""
        return Response(ErasureSerializer(erase_author(self.author(_subject(subject)))).data)


class OptOutView(SiteServerView):
    """Somebody who does not want to be asked."""

    @extend_schema(
        operation_id="site_author_optout",
        request=None,
        responses={200: OptedOutSerializer, **_LIMITED},
        summary="Never ask an author again (server key)",
    )
    def post(self, request: Request, public_key: str, subject: str) -> Response:
        """Also before they have written anything: it is remembered. What they answered stays."""
        with transaction.atomic():
            author = author_of_subject(server_of(request).site, _subject(subject))
            opt_out(author)
            author.refresh_from_db(fields=["opted_out_at"])
        return Response(OptedOutSerializer(author).data)


def _subject(raw: str) -> str:
    return str(read(WhoSerializer(data={"author": raw}))["author"])


def _state(author: Author, qid: str, **more: int) -> Response:
    question = question_of(author, qid)
    body = {"id": str(question.uid), "status": question.status, **more}
    return Response(QuestionStateSerializer(body).data)
