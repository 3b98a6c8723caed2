"""REST of accounts, for operators."""

from typing import Any

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.authentication import require_confirmation
from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.services import change_user, create_user
from apps.common.api.filters import BooleanFilter
from apps.common.api.viewsets import ApiViewSet, Router
from apps.common.validation import refuse_unknown
from labelhub.core.errors import NotFound


class IsOperator(BasePermission):
    """Superusers, with a session or a key of the scope admin."""

    message = "Only operators of this installation may do this."

    def has_permission(self, request: Request, _view: Any) -> bool:
        """Whether they may."""
        return request.user.is_superuser


class OperatorViewSet(ApiViewSet):
    """Base of viewsets for operators."""

    permission_classes = [IsOperator]

    def needed_scope(self) -> str:
        """Also to read."""
        return "admin"


class UserSerializer(serializers.ModelSerializer[User]):
    """An account."""

    email = serializers.CharField(read_only=True, help_text="May be empty.")

    class Meta:
        model = User
        fields = [
            "id", "username", "email", "first_name", "last_name", "is_active", "is_superuser",
            "must_change_password", "date_joined", "last_login",
        ]  # fmt: skip
        read_only_fields = fields


class MadeUserSerializer(UserSerializer):
    """A new account with its first password."""

    password = serializers.CharField(
        help_text="Shown only here; they choose another when they first sign in."
    )

    class Meta(UserSerializer.Meta):
        fields = [*UserSerializer.Meta.fields, "password"]
        read_only_fields = fields


class UserChangeSerializer(serializers.Serializer[Any]):
    """What to change of an account."""

    email = serializers.EmailField(required=False, allow_blank=True)
    first_name = serializers.CharField(required=False, allow_blank=True, max_length=150)
    last_name = serializers.CharField(required=False, allow_blank=True, max_length=150)
    is_active = serializers.BooleanField(
        required=False, help_text="False ends their sessions and stops their keys."
    )
    is_superuser = serializers.BooleanField(required=False)


class NewUserSerializer(serializers.Serializer[Any]):
    """A new account."""

    username = serializers.CharField(max_length=150)
    email = serializers.EmailField(required=False, allow_blank=True)
    superuser = serializers.BooleanField(
        default=False, help_text="Whether they operate the server."
    )
    makes_accounts = serializers.BooleanField(
        default=False, help_text="Whether they create accounts for the projects that they manage."
    )


class UserFilter(django_filters.FilterSet):
    """``?username=&email=&is_active=&is_superuser=``."""

    username = django_filters.CharFilter()
    email = django_filters.CharFilter(lookup_expr="iexact")
    is_active = BooleanFilter()
    is_superuser = BooleanFilter()

    class Meta:
        model = User
        fields = ["username", "email", "is_active", "is_superuser"]


class UserViewSet(OperatorViewSet):
    """The accounts of this installation."""

    lookup_url_kwarg = "user_id"
    serializer_class = UserSerializer
    filterset_class = UserFilter

    def user(self) -> User:
        """The account in the address.

        Raises:
            NotFound: there is none.
        """
        user = User.objects.filter(pk=self.kwargs["user_id"]).first()
        if user is None:
            raise NotFound("There is no such account.")
        return user

    def list(self, request: SignedInApiRequest) -> Response:
        """List accounts.

        By user name.
        """
        return self.list_page(User.objects.order_by("username"))

    @extend_schema(request=NewUserSerializer, responses={201: MadeUserSerializer})
    def create(self, request: SignedInApiRequest) -> Response:
        """Create an account.

        The answer holds its first password, once.
        """
        require_confirmation(request)
        refuse_unknown(request.data, NewUserSerializer().fields, "An account")
        made: Any = create_user(**self.read_body(NewUserSerializer))
        made.user.password = made.password
        shown = MadeUserSerializer(made.user).data
        return Response(shown, status=status.HTTP_201_CREATED)

    def retrieve(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Show an account."""
        return Response(self.get_serializer(self.user()).data)

    @extend_schema(request=UserChangeSerializer)
    def partial_update(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Change an account.

        ``is_active: false`` deactivates it: what the person did stays.
        """
        require_confirmation(request)
        refuse_unknown(request.data, UserChangeSerializer().fields, "An account")
        changes = self.read_body(UserChangeSerializer)
        change_user(user=self.user(), actor=request.user, **changes)
        return self.retrieve(request)


router = Router()
router.register("users", UserViewSet, "api_user")
urlpatterns = router.urls
