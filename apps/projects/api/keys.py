"""REST of API keys: one's own, and for operators anybody's."""

from datetime import timedelta
from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.authentication import require_confirmation
from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import ApiKey, User
from apps.accounts.roles import Right
from apps.accounts.selectors import get_key, get_user
from apps.accounts.services import (
    MOST_GRACE_DAYS,
    NewKey,
    create_api_key,
    revoke_api_key,
    rotate_api_key,
)
from apps.common.api.viewsets import ApiViewSet
from apps.common.validation import refuse_unknown
from apps.projects.selectors import get_project
from labelhub.core.errors import Forbidden


class ApiKeySerializer(serializers.ModelSerializer[ApiKey]):
    """An API key, without the key itself."""

    user = serializers.CharField(source="user.username")
    project = serializers.CharField(
        source="project.slug",
        default=None,
        allow_null=True,
        help_text="The only project that it opens; null: all of its owner's.",
    )

    class Meta:
        model = ApiKey
        fields = [
            "id", "name", "prefix", "user", "scope", "project", "created_at", "expires_at",
            "last_used_at",
        ]  # fmt: skip
        read_only_fields = fields


class MadeApiKeySerializer(ApiKeySerializer):
    """A new API key."""

    key = serializers.CharField(help_text="Shown only here.")

    class Meta(ApiKeySerializer.Meta):
        fields = [*ApiKeySerializer.Meta.fields, "key"]
        read_only_fields = fields


class NewApiKeySerializer(serializers.Serializer[Any]):
    """What the key is for."""

    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(choices=ApiKey.Scope.choices, default=ApiKey.Scope.READ)
    project = serializers.CharField(
        required=False, allow_null=True, help_text="A slug: the only project that it opens."
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    user = serializers.CharField(
        required=False, help_text="Whose key; for operators. By default yours."
    )


class RotateSerializer(serializers.Serializer[Any]):
    """How long the old key goes on working."""

    grace_hours = serializers.IntegerField(default=24, min_value=0, max_value=MOST_GRACE_DAYS * 24)


class ApiKeyFilter(django_filters.FilterSet):
    """``?user=&scope=``."""

    user = django_filters.CharFilter(field_name="user__username")
    scope = django_filters.ChoiceFilter(choices=ApiKey.Scope.choices)

    class Meta:
        model = ApiKey
        fields = ["user", "scope"]


class ApiKeyViewSet(ApiViewSet):
    """API keys that work: the caller's own; operators see all."""

    lookup_url_kwarg = "key_id"
    serializer_class = ApiKeySerializer
    filterset_class = ApiKeyFilter

    @property
    def by(self) -> ApiKey | None:
        """The key of the request; None in a session."""
        return self.request.auth if isinstance(self.request.auth, ApiKey) else None

    @property
    def operates(self) -> bool:
        """Whether the caller may act for others."""
        by = self.by
        return self.request.user.is_superuser and (by is None or by.allows(ApiKey.Scope.ADMIN))

    def keys(self) -> QuerySet[ApiKey]:
        """The keys that the caller may see: of a key that is bound to a project, others of it."""
        user: Any = self.request.user
        keys = ApiKey.objects.active().select_related("user", "project")
        if not self.operates:
            keys = keys.filter(user=user)
        return keys if user.bound_to is None else keys.filter(project=user.bound_to)

    def list(self, request: SignedInApiRequest) -> Response:
        """List API keys.

        Those that work, newest first: yours; for operators, with a session or a key of the scope
        ``admin``, everybody's.
        """
        return self.list_page(self.keys())

    @extend_schema(
        request=NewApiKeySerializer,
        responses={
            201: MadeApiKeySerializer,
            404: OpenApiResponse(description="There is no such user or project."),
        },
    )
    def create(self, request: SignedInApiRequest) -> Response:
        """Create an API key.

        It is shown only here. A program can create only keys that allow no more, and for no longer,
        than its own, and that are revoked with it.
        """
        require_confirmation(request)
        refuse_unknown(request.data, NewApiKeySerializer().fields, "An API key")
        sent = self.read_body(NewApiKeySerializer)
        user = self._owner(sent.get("user"))
        slug = sent.get("project")
        made = create_api_key(
            user=user,
            name=sent["name"],
            scope=sent["scope"],
            expires_at=sent.get("expires_at"),
            project_id=get_project(user, slug, Right.VIEW).pk if slug else None,
            by=self.by,
        )
        return _shown(made)

    def retrieve(self, request: SignedInApiRequest, key_id: int) -> Response:
        """Show an API key."""
        return Response(self.get_serializer(get_key(self.keys(), key_id)).data)

    def destroy(self, request: SignedInApiRequest, key_id: int) -> Response:
        """Revoke an API key.

        Programs that use it stop working.
        """
        revoke_api_key(key=get_key(self.keys(), key_id), by=self.by)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=RotateSerializer, responses={201: MadeApiKeySerializer})
    @action(detail=True, methods=["post"])
    def rotate(self, request: SignedInApiRequest, key_id: int) -> Response:
        """Replace an API key.

        The new key is shown only here; the old one works for another ``grace_hours``. A program can
        replace only its own key and those that it created, unless it operates the server.
        """
        require_confirmation(request)
        hours = self.read_body(RotateSerializer)["grace_hours"]
        key = get_key(self.keys(), key_id)
        return _shown(rotate_api_key(key=key, grace=timedelta(hours=hours), by=self.by))

    def _owner(self, username: str | None) -> User:
        user: Any = self.request.user
        if username in (None, user.username):
            return user  # type: ignore[no-any-return]  # signed in
        if not self.operates:
            raise Forbidden("Only operators create keys for others.")
        return get_user(str(username))


def _shown(made: NewKey) -> Response:
    shown: Any = made.key
    shown.key = made.plain
    return Response(MadeApiKeySerializer(shown).data, status=status.HTTP_201_CREATED)
