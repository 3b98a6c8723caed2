"""Comments over REST."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.projects.api.viewsets import ProjectViewSet
from apps.reviews.comments.selectors import SHOWN, comment_rows, get_comment, narrow_comments
from apps.reviews.comments.services import LONGEST, resolve_comment, write_comment
from apps.reviews.models import Comment


class CommentFilter(django_filters.FilterSet):
    """``?shown=&item=``."""

    shown = django_filters.ChoiceFilter(choices=[*SHOWN.items()], method="narrow_to_shown")
    item = extend_schema_field(OpenApiTypes.INT)(
        django_filters.NumberFilter(
            field_name="item_id", min_value=0, max_value=2**63 - 1, label="Of this item alone."
        )
    )

    class Meta:
        model = Comment
        fields = ["shown", "item"]

    def narrow_to_shown(
        self, queryset: QuerySet[Comment], _name: str, shown: str
    ) -> QuerySet[Comment]:
        return narrow_comments(queryset, self.request.user, shown)


class CommentSerializer(serializers.ModelSerializer[Comment]):
    """A comment; its words are empty and ``readable`` is false before you have answered."""

    item = serializers.IntegerField(source="item_id")
    author = serializers.CharField(source="author.username", allow_null=True, default=None)
    text = serializers.SerializerMethodField()
    readable = serializers.BooleanField(default=True)
    mentions = serializers.SerializerMethodField()
    resolved_by = serializers.CharField(
        source="resolved_by.username", allow_null=True, default=None
    )

    class Meta:
        model = Comment
        fields = [
            "id", "item", "author", "text", "readable", "explains", "mentions", "resolved_at",
            "resolved_by", "created_at",
        ]  # fmt: skip

    def get_text(self, comment: Comment) -> str:
        """The words, where they may be read."""
        return comment.text if getattr(comment, "readable", True) else ""

    def get_mentions(self, comment: Comment) -> list[str]:
        """Whom it is meant for."""
        if not getattr(comment, "readable", True):
            return []
        return [row.user.username for row in comment.mentions.all()]


class SaySerializer(serializers.Serializer[Any]):
    """A new comment."""

    item = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    text = serializers.CharField(max_length=LONGEST, help_text="@name tells a member.")


class ResolveSerializer(serializers.Serializer[Any]):
    """Whether a comment is settled."""

    resolved = serializers.BooleanField(default=True)


class CommentViewSet(ProjectViewSet):
    """What people say about the project's items."""

    write_right = Right.REVIEW
    lookup_url_kwarg = "comment_id"
    serializer_class = CommentSerializer
    filterset_class = CommentFilter

    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List comments.

        The newest first. Those that you may not read before you have answered come without their
        words.
        """
        return self.list_page(comment_rows(self.project, request.user, shown=""))

    @extend_schema(request=SaySerializer)
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Comment on an item.

        ``@name`` tells a member.
        """
        sent = self.read_body(SaySerializer)
        written = write_comment(
            project=self.project, user=request.user, item_id=sent["item"], text=sent["text"]
        )
        body = self.get_serializer(written.comment).data
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(request=ResolveSerializer)
    @action(detail=True, methods=["post"])
    def resolve(self, request: SignedInApiRequest, comment_id: int, **_: str) -> Response:
        """Resolve a comment.

        Mark it as settled, or with ``resolved: false`` as open.
        """
        resolve_comment(
            project=self.project,
            user=request.user,
            comment_id=comment_id,
            resolved=self.read_body(ResolveSerializer)["resolved"],
        )
        return Response(
            self.get_serializer(get_comment(self.project, request.user, comment_id)).data
        )
