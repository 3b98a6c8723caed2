"""REST sign-in by API key.

A key is looked up by its SHA-256, so that no comparison of secrets leaks timing. Sessions work too
(Django REST framework's own class) and need the CSRF token.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from apps.accounts.models import ApiKey, User
from apps.accounts.providers import is_absent
from apps.common.prepared import prepared
from apps.common.request_record import security
from apps.common.sealing import digest

SCHEMES = ("token", "bearer")
USE_RECORD_INTERVAL = timedelta(minutes=1)
#: Characters of what can be a key: nobody makes the server hash megabytes.
LONGEST_KEY = 200


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Token KEY``, ``Authorization: Bearer KEY`` or ``X-Api-Key: KEY``."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        """The key's owner, or None when no key was sent.

        Raises:
            AuthenticationFailed: (401) the key is unknown, revoked or expired (code
                ``key_expired``), its owner is inactive, or has not come by the provider for too
                long (code ``sign_in_required``).
            PermissionDenied: (403, code ``scope``) the key's scope is too narrow.
        """
        plain = sent_key(request.headers)
        if plain is None:
            return None
        key = _usable_key(plain)
        if key is None:
            raise AuthenticationFailed("This API key is unknown or revoked.")
        if key.is_expired:
            raise AuthenticationFailed(
                f"This API key expired at {key.expires_at:%Y-%m-%d %H:%M} UTC: use another one.",
                "key_expired",
            )
        if is_absent(key.user):
            raise AuthenticationFailed(
                f"The owner of this API key has not signed in by the company's sign-in for "
                f"{settings.LABELHUB_SSO_KEY_DAYS} days: once they do, it works again.",
                "sign_in_required",
            )
        needed = _needed_scope(request)
        if not key.allows(needed):
            security.warning(
                "scope refused",
                user=key.user.username,
                user_id=key.user_id,
                key=f"ApiKey {key.pk}",
                scope=key.scope,
                needed=needed,
            )
            raise PermissionDenied(
                f"This API key has the scope {key.scope}: use one with the scope {needed}.", "scope"
            )
        now = timezone.now()
        # At most once a minute, to save a write for each request of a busy client.
        if key.last_used_at is None or now - key.last_used_at > USE_RECORD_INTERVAL:
            ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
        key.user.bound_to = key.project_id
        return key.user, key

    def authenticate_header(self, _request: Request) -> str:
        """The ``WWW-Authenticate`` header of a 401."""
        return 'Token realm="LabelHub"'


@prepared
def _key_by_digest(value: str) -> QuerySet[ApiKey]:
    return ApiKey.objects.select_related("user").filter(
        digest=value, revoked_at__isnull=True, user__is_active=True
    )


def _needed_scope(request: Request) -> str:
    """The scope that the view asks for; other views are read or written."""
    view: Any = request.parser_context.get("view")
    if hasattr(view, "needed_scope"):
        return str(view.needed_scope())
    return "read" if request.method in SAFE_METHODS else "write"


def _usable_key(plain: str) -> ApiKey | None:
    """The key, which may have expired."""
    return _key_by_digest.first(digest(plain)) if len(plain) <= LONGEST_KEY else None


def sent_key(headers: Mapping[str, str]) -> str | None:
    """The key in a request's headers, unchecked."""
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    if scheme.lower() in SCHEMES:
        return rest.strip()
    return headers.get("X-Api-Key")


def active_key(headers: Mapping[str, str]) -> ApiKey | None:
    """The key in a request's headers, if key and owner are active."""
    plain = sent_key(headers)
    key = None if plain is None else _usable_key(plain)
    return None if key is None or key.is_expired or is_absent(key.user) else key


def require_confirmation(request: Request) -> None:
    """Let a page's script do only what its owner has just confirmed with password, second step or
    provider; programs with a key are not concerned.

    Raises:
        PermissionDenied: (403, code ``confirmation_required``) they have not.
    """
    by_session = isinstance(request.successful_authenticator, SessionAuthentication)
    if by_session and is_reauthentication_required(request, app=""):
        raise PermissionDenied(
            "Confirm first that it is you, at /accounts/reauthenticate/, or use an API key.",
            "confirmation_required",
        )


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The keys in the OpenAPI document."""

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
