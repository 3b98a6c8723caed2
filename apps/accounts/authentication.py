"""REST sign-in by API key.

A key is looked up by its SHA-256, so no comparison of secrets takes place whose time could tell
anything. A session works too (Django REST framework's own class) and then needs the CSRF token.
"""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from apps.accounts.models import ApiKey, User
from apps.accounts.services import key_digest
from apps.common.prepared import prepared

SCHEMES = ("token", "bearer")
USE_IS_NOTED_EVERY = timedelta(minutes=1)


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Token KEY``, ``Authorization: Bearer KEY`` or ``X-Api-Key: KEY``."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        """The key's owner, or None when no key was sent.

        Raises:
            AuthenticationFailed: (401) the key is unknown or revoked, or its owner inactive.
            PermissionDenied: (403, code ``scope``) a read key asks for a change.
        """
        if sent_key(request.headers) is None:
            return None
        key = active_key(request.headers)
        if key is None:
            raise AuthenticationFailed("This API key is not known, or it was revoked.")
        if not key.may_write and request.method not in SAFE_METHODS:
            raise PermissionDenied("This API key may only read; use one with write scope.", "scope")
        _note_use(key)
        return key.user, key

    def authenticate_header(self, _request: Request) -> str:
        """What a 401 names as the way in."""
        return 'Token realm="LabelHub"'


@prepared
def _key_by_digest(digest: str) -> QuerySet[ApiKey]:
    return ApiKey.objects.active().select_related("user").filter(digest=digest)


def sent_key(headers: Mapping[str, str]) -> str | None:
    """The key in a request's headers, whatever it is worth."""
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    if scheme.lower() in SCHEMES:
        return rest.strip()
    return headers.get("X-Api-Key")


def active_key(headers: Mapping[str, str]) -> ApiKey | None:
    """The key in a request's headers with its owner, if both are active."""
    plain = sent_key(headers)
    return None if plain is None else _key_by_digest.first(key_digest(plain))


def _note_use(key: ApiKey) -> None:
    """Write the time of use, at most once a minute: a busy client must not cost a write each."""
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > USE_IS_NOTED_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the keys."""

    target_class = "apps.accounts.authentication.ApiKeyAuthentication"
    name = ["apiKey", "bearerKey", "xApiKey"]

    def get_security_definition(self, _auto_schema: object) -> list[dict[str, str]]:
        """One definition per accepted header."""
        return [
            {
                "type": "apiKey",
                "in": "header",
                "name": "Authorization",
                "description": "The word Token, a space and your API key: `Token KEY`",
            },
            {"type": "http", "scheme": "bearer", "description": "Your API key"},
            {
                "type": "apiKey",
                "in": "header",
                "name": "X-Api-Key",
                "description": "Your API key",
            },
        ]

    def get_security_requirement(self, _auto_schema: object) -> list[dict[str, list[str]]]:
        """Any one of them."""
        return [{name: []} for name in self.name]
