"""REST for a host's own servers: questions are fetched and answered, data is shown and deleted.

The server's clock counts, as over the socket: a question is sent when it is fetched here, and on
the screen when ``shown/`` is posted.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteServerViewSet, read
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


class TurnViewSet(SiteServerViewSet):
    """Whose turn it is."""

    @extend_schema(
        operation_id="site_question_next",
        parameters=[WhoSerializer],
        responses={200: WhoseTurnSerializer, **_LIMITED},
    )
    def retrieve(self, request: Request, **_: str) -> Response:
        """Fetch the question (server key).

        The question to put to the author now, marked as sent; null when there is none. One at
        a time: the next comes when this one is answered or sent away.
        """
        author = self.author(self.read_query(WhoSerializer)["author"])
        check_open(author.site, None)
        question = next_question(author)
        if question is None:
            return Response({"question": None})
        words = question_words(question, author, of=question.message.questions.count())
        return Response({"question": words | {"status": question.status}})


class QuestionViewSet(SiteServerViewSet):
    """A question to an author."""

    lookup_url_kwarg = "qid"
    lookup_value_converter = "str"

    @extend_schema(
        request=WhoSerializer, responses={200: QuestionStateSerializer, **_EARLY, **_LIMITED}
    )
    @action(detail=True, methods=["post"])
    def shown(self, request: Request, qid: str, **_: str) -> Response:
        """Tell that a question is shown (server key).

        The time to read it begins; the first time counts. Also right after its message was
        posted, without fetching it, provided that it is its turn.
        """
        now = timezone.now()
        author = self.author(self.read_body(WhoSerializer)["author"])
        question = question_of(author, qid)
        if question.pushed_at is None:
            turn = next_question(author)
            if turn is None or turn.pk != question.pk:
                raise TooEarly("Another question comes first; fetch the next question.")
        mark_shown(author, question.uid, now)
        question.refresh_from_db(fields=["shown_at"])
        since = (now - (question.shown_at or now)) // timedelta(milliseconds=1)
        return _state(author, qid, after_ms=max(0, question.min_ms - since))

    @extend_schema(
        request=SaidSerializer, responses={200: QuestionStateSerializer, **_EARLY, **_LIMITED}
    )
    @action(detail=True, methods=["post"])
    def answer(self, request: Request, qid: str, **_: str) -> Response:
        """Answer a question (server key).

        Taken once, committed when this answers, not before it could be read. ``undo_ms``: so
        long it can be taken back.
        """
        received = timezone.now()
        sent = self.read_body(SaidSerializer)
        author = self.author(sent["author"])
        check_open(author.site, None)
        answer = submitted_answer(sent)
        record_answer(author, question_uid(qid), answer, consent=None, received=received)
        return _state(author, qid, undo_ms=UNDO_MS)

    @extend_schema(
        request=DismissalSerializer, responses={200: QuestionStateSerializer, **_LIMITED}
    )
    @action(detail=True, methods=["post"])
    def dismiss(self, request: Request, qid: str, **_: str) -> Response:
        """Send a question away (server key).

        Doing it again changes nothing. That nothing fits is an answer: see there.
        """
        sent = self.read_body(DismissalSerializer)
        author = self.author(sent["author"])
        dismiss(author, question_uid(qid), sent["how"])
        return _state(author, qid)

    @extend_schema(request=WhoSerializer, responses={200: QuestionStateSerializer, **_LIMITED})
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, qid: str, **_: str) -> Response:
        """Take an answer back (server key).

        Within seconds; the question is open again and its label withdrawn.
        """
        author = self.author(self.read_body(WhoSerializer)["author"])
        undo(author, question_uid(qid))
        return _state(author, qid)


class AuthorViewSet(SiteServerViewSet):
    """An author's data; also of a site that is switched off."""

    @extend_schema(responses={200: OpenApiTypes.OBJECT, **_LIMITED})
    def retrieve(self, request: Request, subject: str, **_: str) -> Response:
        """Show an author's data (server key).

        Everything that is kept of them.
        """
        return Response(author_data(self.author(_subject(subject))))

    @extend_schema(operation_id="site_author_erase", responses={200: ErasureSerializer, **_LIMITED})
    def destroy(self, request: Request, subject: str, **_: str) -> Response:
        """Delete an author's data (server key).

        What they wrote and answered, and every label of it, for good; the receipt proves it.
        """
        return Response(ErasureSerializer(erase_author(self.author(_subject(subject)))).data)


class OptOutViewSet(SiteServerViewSet):
    """Somebody who does not want to be asked."""

    @extend_schema(
        operation_id="site_author_optout",
        request=None,
        responses={200: OptedOutSerializer, **_LIMITED},
    )
    def create(self, request: Request, subject: str, **_: str) -> Response:
        """Never ask an author again (server key).

        Also before they have written anything: it is remembered. What they answered stays.
        """
        with transaction.atomic():
            author = author_of_subject(self.site, _subject(subject))
            opt_out(author)
            author.refresh_from_db(fields=["opted_out_at"])
        return Response(OptedOutSerializer(author).data)


def _subject(raw: str) -> str:
    return str(read(WhoSerializer(data={"author": raw}))["author"])


def _state(author: Author, qid: str, **more: int) -> Response:
    question = question_of(author, qid)
    body = {"id": str(question.uid), "status": question.status, **more}
    return Response(QuestionStateSerializer(body).data)
