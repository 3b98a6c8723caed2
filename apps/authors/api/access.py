"""Who gets through to a site's addresses: members of its project, or its own servers."""

from functools import cached_property
from typing import Any, ClassVar, cast

from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.roles import Right
from apps.authors.api.authentication import HasSiteKey, SiteKeyAuthentication, SiteServer
from apps.authors.errors import BadField
from apps.authors.models import Author, Site
from apps.authors.selectors.records import author_called, site_for
from apps.common.api.errors import faults, summary
from apps.common.api.parsers import PlainJSONParser


class SiteScopedMixin(APIView):
    """``self.site`` of the address's ``public_key``; strangers get 404, members without the right
    403. Put it before the framework's own view class: it checks before any handler runs."""

    read_right: ClassVar[Right] = Right.VIEW
    write_right: ClassVar[Right] = Right.MANAGE

    @cached_property
    def site(self) -> Site:
        """The site, after the check of the right that the method needs."""
        right = self.read_right if self.request.method in SAFE_METHODS else self.write_right
        return site_for(self.request.user, self.kwargs["public_key"], right)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the right once the caller is known."""
        super().initial(request, *args, **kwargs)
        _ = self.site


class SiteServerView(APIView):
    """An address for the site's own servers: JSON in, JSON out, by server key only."""

    authentication_classes = [SiteKeyAuthentication]
    permission_classes = [HasSiteKey]
    parser_classes = [PlainJSONParser]

    def author(self, subject: str) -> Author:
        """The author whom the host calls ``subject``.

        Raises:
            NotFound: the site does not know them.
        """
        return author_called(server_of(self.request).site, subject)


def server_of(request: Request) -> SiteServer:
    """Whose key opened the door; only behind :class:`HasSiteKey`."""
    return cast(SiteServer, request.auth)


def read(sent: serializers.Serializer[Any]) -> dict[str, Any]:
    """The checked fields of what a host's server sent.

    Raises:
        BadField: naming each field and what is wrong with it.
    """
    if sent.is_valid():
        return dict(sent.validated_data)
    found = list(faults(sent.errors))
    raise BadField(summary(found), data={"errors": found})
