"""REST for a host's own servers: fetch and answer questions, show and delete data.

Times are the server's, as over the socket: a question is sent when it is fetched, and shown when
``shown/`` is posted.
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
)
from apps.authors.errors import TooEarly
from apps.authors.models import Author
from apps.authors.selectors.authors import question_of, question_uid
from apps.authors.selectors.messages import question_words
from apps.authors.selectors.sites import check_open
from apps.authors.services.answers import UNDO_MS, SubmittedAnswer, dismiss, record_answer, undo
from apps.authors.services.authors import author_of_subject, opt_out
from apps.authors.services.privacy import author_data, erase_author
from apps.authors.services.questions import mark_shown, next_question
from apps.common.audit import Action, record

_LIMITED = {429: OpenApiResponse(description="Too many requests with this key; see Retry-After.")}
_EARLY = {
    425: OpenApiResponse(
        description="Too early to have been read; send it again after `data.after_ms`."
    )
}


class TurnViewSet(SiteServerViewSet):
    """The author's next question."""

    @extend_schema(
        operation_id="site_question_next",
        parameters=[WhoSerializer],
        responses={200: WhoseTurnSerializer, **_LIMITED},
    )
    def retrieve(self, request: Request, **_: str) -> Response:
        """Fetch the question (server key).

        The author's next question, marked as sent; null if there is none. The one after it comes
        when this one is answered or dismissed.
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
        """Report that a question is shown (server key).

        Starts the time to read; only the first report counts. You need not fetch the question
        before, if it is the author's next one.
        """
        now = timezone.now()
        author = self.author(self.read_body(WhoSerializer)["author"])
        question = question_of(author, qid)
        if question.pushed_at is None:
            turn = next_question(author)
            if turn is None or turn.pk != question.pk:
                raise TooEarly("Another question comes first; fetch the next question.")
        mark_shown(author.pk, question.uid, now)
        question.refresh_from_db(fields=["shown_at"])
        since = (now - (question.shown_at or now)) // timedelta(milliseconds=1)
        return _state(author, qid, after_ms=max(0, question.min_ms - since))

    @extend_schema(
        request=SaidSerializer, responses={200: QuestionStateSerializer, **_EARLY, **_LIMITED}
    )
    @action(detail=True, methods=["post"])
    def answer(self, request: Request, qid: str, **_: str) -> Response:
        """Answer a question (server key).

        Stored once, and committed before the response. Refused before the question could be read.
        ``undo_ms``: how long the answer can be undone.
        """
        received = timezone.now()
        sent = self.read_body(SaidSerializer)
        author = self.author(sent["author"])
        check_open(author.site, None)
        answer = SubmittedAnswer(
            ref=sent["id"],
            option=sent.get("option", ""),
            word=sent.get("word", ""),
            nofit=sent["nofit"],
            visible_ms=sent["visible_ms"],
        )
        record_answer(author, question_uid(qid), answer, consent=None, received=received)
        return _state(author, qid, undo_ms=UNDO_MS)

    @extend_schema(
        request=DismissalSerializer, responses={200: QuestionStateSerializer, **_LIMITED}
    )
    @action(detail=True, methods=["post"])
    def dismiss(self, request: Request, qid: str, **_: str) -> Response:
        """Dismiss a question (server key).

        A repetition changes nothing. "None of these fit" is an answer, not a dismissal.
        """
        sent = self.read_body(DismissalSerializer)
        author = self.author(sent["author"])
        dismiss(author, question_uid(qid), sent["how"])
        return _state(author, qid)

    @extend_schema(request=WhoSerializer, responses={200: QuestionStateSerializer, **_LIMITED})
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, qid: str, **_: str) -> Response:
        """Undo an answer (server key).

        Possible for some seconds; reopens the question and withdraws the label.
        """
        author = self.author(self.read_body(WhoSerializer)["author"])
        undo(author, question_uid(qid))
        return _state(author, qid)


class AuthorViewSet(SiteServerViewSet):
    """An author's data, also if the site is switched off."""

    @extend_schema(responses={200: OpenApiTypes.OBJECT, **_LIMITED})
    def retrieve(self, request: Request, subject: str, **_: str) -> Response:
        """Show an author's data (server key).

        All stored data about the author.
        """
        author = self.author(_subject(subject))
        with transaction.atomic():
            record(Action.AUTHOR_EXPORTED, self.site)
        return Response(author_data(author))

    @extend_schema(operation_id="site_author_erase", responses={200: ErasureSerializer, **_LIMITED})
    def destroy(self, request: Request, subject: str, **_: str) -> Response:
        """Delete an author's data (server key).

        Deletes messages, answers and all their labels for good; returns a receipt.
        """
        return Response(ErasureSerializer(erase_author(self.author(_subject(subject)))).data)


class OptOutViewSet(SiteServerViewSet):
    """The opt-out of an author."""

    @extend_schema(
        operation_id="site_author_optout",
        request=None,
        responses={200: OptedOutSerializer, **_LIMITED},
    )
    def create(self, request: Request, subject: str, **_: str) -> Response:
        """Never ask an author again (server key).

        Also before the author's first message. Existing answers stay.
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
