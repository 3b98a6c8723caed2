"""Access to a site's REST addresses: members of its project, or its own servers (key ``sk_…``).

A server key is found by its SHA-256 and its site in one query, so that an unknown key, a revoked
one, another site's key and an unknown site get the same response in the same time.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.authentication import sent_key
from apps.accounts.roles import Right
from apps.authors.errors import BadField
from apps.authors.models import Author, Site, SiteKey
from apps.authors.selectors.authors import find_author, find_site_for
from apps.authors.selectors.sites import find_server_key
from apps.common.api.errors import flatten_faults
from apps.common.api.parsers import PlainJSONParser
from apps.common.api.viewsets import ApiViewSet
from apps.common.validation import join_faults

#: Longer than any key, so that nobody can make the server hash megabytes.
LONGEST = 200


@dataclass(frozen=True, slots=True)
class SiteServer:
    """The sender of a request with a server key; not a user."""

    is_authenticated: bool = True


class SiteKeyAuthentication(BaseAuthentication):
    """``Authorization: Token sk_…``, ``Authorization: Bearer sk_…`` or ``X-Api-Key: sk_…``."""

    def authenticate(self, request: Request) -> tuple[SiteServer, SiteKey] | None:
        """The server of the site in the address, or None when no key was sent.

        Raises:
            AuthenticationFailed: (401) this site has no such server key in use.
        """
        plain = sent_key(request.headers)
        if plain is None:
            return None
        kwargs = request.parser_context["kwargs"]
        key = find_server_key(kwargs["public_key"], plain[:LONGEST])
        if key is None:
            raise AuthenticationFailed("This is not a server key of this site, or it was revoked.")
        return SiteServer(), key

    def authenticate_header(self, _request: Request) -> str:
        """The scheme that a 401 response names."""
        return 'Token realm="LabelHub site"'


class HasSiteKey(BasePermission):
    """Only the site's own servers."""

    def has_permission(self, request: Request, _view: APIView) -> bool:
        """Whether the request came with a server key.

        Raises:
            NotAuthenticated: (401) it did not.
        """
        if not isinstance(request.auth, SiteKey):
            raise NotAuthenticated("Use one of the site's server keys (sk_…).")
        return True


class SiteKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes server keys."""

    target_class = "apps.authors.api.access.SiteKeyAuthentication"
    name = ["siteKey", "siteBearerKey"]

    def get_security_definition(self, _auto_schema: object) -> list[dict[str, str]]:
        """One definition per accepted header."""
        return [
            {
                "type": "apiKey",
                "in": "header",
                "name": "Authorization",
                "description": "Token sk_…, a server key of the site",
            },
            {"type": "http", "scheme": "bearer", "description": "sk_…, a server key of the site"},
        ]

    def get_security_requirement(self, _auto_schema: object) -> list[dict[str, list[str]]]:
        """Any one of them."""
        return [{name: []} for name in self.name]


class SiteViewSet(ApiViewSet):
    """Base of viewsets below a site, for people: ``self.site`` of the address's ``public_key``.

    Strangers get 404, members without the right 403, before any handler runs.
    """

    read_right: ClassVar[Right] = Right.VIEW
    write_right: ClassVar[Right] = Right.MANAGE

    @cached_property
    def site(self) -> Site:
        """The site, after the check of the right that the method needs."""
        right = self.read_right if self.request.method in SAFE_METHODS else self.write_right
        return find_site_for(self.request.user, self.kwargs["public_key"], right)

    def lock_shown(self) -> None:
        """Lock the site."""
        Site.objects.select_for_update(no_key=True).filter(pk=self.site.pk).first()
        del self.site

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the right once the caller is known."""
        super().initial(request, *args, **kwargs)
        _ = self.site


class SiteServerViewSet(ApiViewSet):
    """Base of viewsets for the site's own servers: JSON in, JSON out, by server key only."""

    authentication_classes = [SiteKeyAuthentication]
    permission_classes = [HasSiteKey]
    parser_classes = [PlainJSONParser]

    @property
    def site(self) -> Site:
        """The site whose key was sent."""
        return site_of(self.request)

    def author(self, subject: str) -> Author:
        """The author with the host's id ``subject``.

        Raises:
            NotFound: the site has no such author.
        """
        return find_author(self.site, subject)

    def checked(self, sent: serializers.BaseSerializer[Any]) -> dict[str, Any]:
        """As :func:`read`."""
        return read(sent)


def site_of(request: Request) -> Site:
    """The site whose key was sent; only after :class:`HasSiteKey`."""
    return cast(SiteKey, request.auth).site


def read(sent: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """The checked fields of a request of a host's server.

    Raises:
        BadField: fields are invalid; names each one with its error.
    """
    if sent.is_valid():
        return dict(sent.validated_data)
    found = list(flatten_faults(sent.errors))
    raise BadField(join_faults(found[:3]), data={"errors": found})
