"""REST for a site's managers: Echo's settings and switches."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.authors.api.access import SiteScopedMixin
from apps.echo.api.serializers import (
    EchoChangeSerializer,
    EchoSerializer,
    PriorsSerializer,
)
from apps.echo.models import Echo
from apps.echo.selectors.echoes import echo_or_default
from apps.echo.services.configuration import change_echo, ensure_echo, freeze, set_priors
from labelhub.core.errors import InvalidInput

_PRIORS = OpenApiExample(
    "Two are expected to matter", value={"priors": {"urgency": 1, "budget": 0.5}}
)


class EchoView(SiteScopedMixin):
    """A site's Echo."""

    @extend_schema(operation_id="site_echo", responses=EchoSerializer, summary="Show Echo")
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """Settings, and how far it has learnt; of a site that never had it on, what it would be."""
        return _told(echo_or_default(self.site))

    @extend_schema(
        operation_id="site_echo_change",
        request=EchoChangeSerializer,
        responses=EchoSerializer,
        summary="Change Echo",
    )
    def patch(self, request: SignedInApiRequest, public_key: str) -> Response:
        """All of what is sent, or nothing. What only can be read is passed over. Switched off, it
        chooses and offers nothing; what it has learnt stays."""
        sent = EchoChangeSerializer(data=request.data, partial=True)
        strange = sorted({*_names(request.data)} - {*EchoSerializer().fields})
        if strange:
            raise InvalidInput.at(strange[0][:60], "Echo has no such setting.")
        sent.is_valid(raise_exception=True)
        return _told(change_echo(self.site, sent.validated_data))


class PriorsView(SiteScopedMixin):
    """What a site's owner expects of its features."""

    @extend_schema(
        operation_id="site_echo_priors_set",
        request=PriorsSerializer,
        responses=PriorsSerializer,
        examples=[_PRIORS],
        summary="Set the priors",
    )
    def put(self, request: SignedInApiRequest, public_key: str) -> Response:
        """Of features that are left out nothing is expected. What was learnt stays; the log tells
        what has changed."""
        sent = PriorsSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        set_priors(self.site, sent.validated_data["priors"])
        asked = self.site.features.asked()
        told = {row.key: row.parsed.prior for row in asked if row.parsed.prior is not None}
        return Response({"priors": told})


class FreezeView(SiteScopedMixin):
    """Learning held."""

    @extend_schema(
        operation_id="site_echo_freeze", request=None, responses=EchoSerializer, summary="Freeze"
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> Response:
        """What happens from now on is logged and never learnt. Doing it again changes nothing."""
        return _frozen(self, on=True)


class ThawView(SiteScopedMixin):
    """Learning again."""

    @extend_schema(
        operation_id="site_echo_thaw",
        request=None,
        responses=EchoSerializer,
        summary="Learn again",
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> Response:
        """What happens from now on is learnt again. Doing it again changes nothing."""
        return _frozen(self, on=False)


def _told(echo: Echo) -> Response:
    return Response(EchoSerializer(echo).data)


def _names(data: Any) -> list[str]:
    return list(data) if isinstance(data, dict) else []


def _frozen(view: SiteScopedMixin, *, on: bool) -> Response:
    echo = ensure_echo(view.site)
    freeze(echo, on=on)
    return _told(echo)
