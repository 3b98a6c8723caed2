"""Adjudication and comments over REST."""

from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.projects.api.mixins import ProjectScopedMixin
from apps.projects.models import Item
from apps.reviews.api.adjudication_serializers import (
    AdjudicatedSerializer,
    AdjudicationSerializer,
    CaseSerializer,
    CommentSerializer,
    OpinionsSerializer,
    ResolveSerializer,
    SaySerializer,
    SendBackSerializer,
    SentBackSerializer,
)
from apps.reviews.models import Comment
from apps.reviews.ruling_form import read_wanted
from apps.reviews.selectors.adjudication import Case, check_expert, docket, project_to_adjudicate
from apps.reviews.selectors.comments import SHOWN, comment_rows, get_comment
from apps.reviews.selectors.opinions import opinions_to_read
from apps.reviews.services.adjudicating import adjudicate
from apps.reviews.services.commenting import resolve_comment, write_comment
from apps.reviews.services.sending_back import send_back
from labelhub.core.errors import NotFound

FILTERS = [
    OpenApiParameter("against", str, description="Labels against each other, as a row gives them."),
    OpenApiParameter("by", int, description="The id of an annotator."),
    OpenApiParameter("age", str, enum=["day", "week"], description="Waiting for longer than that."),
    OpenApiParameter("between", str, enum=["people", "machine"]),
]


class DocketView(ProjectScopedMixin, generics.GenericAPIView[Any]):
    """What waits for an expert."""

    read_right = Right.REVIEW
    queryset = Item.objects.none()  # for the OpenAPI document
    serializer_class = CaseSerializer

    @extend_schema(
        operation_id="adjudication_list",
        parameters=FILTERS,
        responses=CaseSerializer(many=True),
    )
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """Items on which people disagree, or where a sure machine contradicts them. For experts."""
        check_expert(request.user, self.project)
        cases = list(docket(self.project, read_wanted(request.query_params)).cases)
        page = cast(list[Case], self.paginate_queryset(cast(Any, cases)))
        return self.get_paginated_response(CaseSerializer(page, many=True).data)


class OpinionsView(APIView):
    """Every opinion of an item."""

    @extend_schema(operation_id="item_opinions", responses=OpinionsSerializer)
    def get(self, request: SignedInApiRequest, pk: int) -> Response:
        """What everybody says of it, and why. For experts, of what waits for them or what they have
        labelled."""
        item = Item.objects.visible_to(request.user).select_related("project").filter(pk=pk).first()
        if item is None:
            raise NotFound(f"There is no item {pk}, or you may not know of it.")
        project = project_to_adjudicate(request.user, item.project.slug)
        case = opinions_to_read(project, request.user, pk)
        return Response(OpinionsSerializer(case).data)


class _OneCase(ProjectScopedMixin, APIView):
    """An item of the project, for its experts alone."""

    write_right = Right.REVIEW

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check who asks, and that there is such an item, before what was sent is looked at."""
        super().initial(request, *args, **kwargs)
        check_expert(request.user, self.project)
        if not Item.objects.filter(project=self.project, pk=kwargs["pk"]).exists():
            raise NotFound(f"There is no item {kwargs['pk']} in the project '{self.project.slug}'.")


class RulingView(_OneCase):
    """An expert's decision."""

    @extend_schema(
        operation_id="adjudicate",
        request=AdjudicationSerializer,
        responses={200: AdjudicatedSerializer, 201: AdjudicatedSerializer},
    )
    def post(self, request: SignedInApiRequest, slug: str, pk: int) -> Response:
        """Settle an item; 200 where the same ruling had been stored before. For experts."""
        sent = AdjudicationSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        done = adjudicate(
            project=self.project,
            user=request.user,
            item_id=pk,
            ruling=sent.to_ruling(),
            lease_token=sent.validated_data["lease"],
        )
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        return Response(AdjudicatedSerializer(done).data, status=code)


class SendBackView(_OneCase):
    """An item goes back to those who labelled it."""

    @extend_schema(
        operation_id="adjudication_send_back",
        request=SendBackSerializer,
        responses=SentBackSerializer,
    )
    def post(self, request: SignedInApiRequest, slug: str, pk: int) -> Response:
        """Withdraw what they said and ask the same people again, with the reason. For experts."""
        sent = SendBackSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        reason = sent.validated_data["reason"]
        back = send_back(project=self.project, user=request.user, item_id=pk, reason=reason)
        return Response(SentBackSerializer(back).data)


class CommentListView(ProjectScopedMixin, generics.ListAPIView[Comment]):
    """What people say about the project's items."""

    write_right = Right.REVIEW
    queryset = Comment.objects.none()  # for the OpenAPI document; see get_queryset
    serializer_class = CommentSerializer

    def get_queryset(self) -> Any:
        """The comments, the newest first."""
        user, query = cast(User, self.request.user), self.request.query_params
        rows = comment_rows(self.project, user, shown=query.get("shown", ""))
        item = query.get("item", "")
        if item.isascii() and item.isdigit() and len(item) < 19:
            rows = rows.filter(item=int(item))
        return rows

    @extend_schema(
        operation_id="comment_list",
        parameters=[
            OpenApiParameter("shown", str, enum=list(SHOWN)),
            OpenApiParameter("item", int, description="Of this item alone."),
        ],
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Those that you may not read before you have answered come without their words."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="comment_create", request=SaySerializer, responses={201: CommentSerializer}
    )
    def post(self, request: SignedInApiRequest, **_: str) -> Response:
        """Say something about an item; ``@name`` tells a member."""
        sent = SaySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        data = sent.validated_data
        written = write_comment(
            project=self.project, user=request.user, item_id=data["item"], text=data["text"]
        )
        body = CommentSerializer(written.comment).data
        return Response(body, status=status.HTTP_201_CREATED)


class CommentResolveView(ProjectScopedMixin, APIView):
    """A comment is settled, or open again."""

    write_right = Right.REVIEW

    @extend_schema(
        operation_id="comment_resolve", request=ResolveSerializer, responses=CommentSerializer
    )
    def post(self, request: SignedInApiRequest, slug: str, comment_id: int) -> Response:
        """Mark it as settled, or with ``resolved: false`` as open."""
        sent = ResolveSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        resolve_comment(
            project=self.project,
            user=request.user,
            comment_id=comment_id,
            resolved=sent.validated_data["resolved"],
        )
        comment = get_comment(self.project, request.user, comment_id)
        return Response(CommentSerializer(comment).data)
