"""REST for a site's managers: Echo's settings and switches, and what became of offers."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteViewSet
from apps.echo.api.serializers import (
    EchoChangeSerializer,
    EchoSerializer,
    PriorsSerializer,
)
from apps.echo.models import Echo
from apps.echo.reporting import evaluate_candidates, make_report, offer_funnel
from apps.echo.selectors.echoes import echo_or_default
from apps.echo.services.configuration import change_echo, ensure_echo, freeze, set_priors
from labelhub.core.errors import InvalidInput

_PRIORS = OpenApiExample(
    "Two are expected to matter", value={"priors": {"urgency": 1, "budget": 0.5}}
)


class EchoViewSet(SiteViewSet):
    """A site's Echo."""

    serializer_class = EchoSerializer

    def retrieve(self, request: Request, **_: str) -> Response:
        """Show Echo.

        Settings, and how far it has learnt; of a site that never had it on, what it would be.
        """
        return self._answer(echo_or_default(self.site))

    @extend_schema(request=EchoChangeSerializer)
    def partial_update(self, request: Request, **_: str) -> Response:
        """Change Echo.

        All of what is sent, or nothing. What only can be read is passed over. Switched off, it
        chooses and offers nothing; what it has learnt stays.
        """
        sent: Any = request.data
        names = set(sent) if isinstance(sent, dict) else set()
        strange = sorted(names - {*EchoSerializer().fields})
        if strange:
            raise InvalidInput.at(strange[0][:60], "Echo has no such setting.")
        changes = self.read_body(EchoChangeSerializer, partial=True)
        return self._answer(change_echo(self.site, changes))

    @extend_schema(request=PriorsSerializer, responses=PriorsSerializer, examples=[_PRIORS])
    @action(detail=False, methods=["put"], url_path="priors", url_name="priors")
    def priors_set(self, request: Request, **_: str) -> Response:
        """Set the priors.

        Of features that are left out nothing is expected. What was learnt stays; the log tells
        what has changed.
        """
        set_priors(self.site, self.read_body(PriorsSerializer)["priors"])
        features = self.site.features.asked()
        priors = {row.key: row.parsed.prior for row in features if row.parsed.prior is not None}
        return Response({"priors": priors})

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def freeze(self, request: Request, **_: str) -> Response:
        """Stop learning.

        What happens from now on is logged and never learnt. Doing it again changes nothing.
        """
        return self._frozen(on=True)

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def thaw(self, request: Request, **_: str) -> Response:
        """Resume learning.

        What happens from now on is learnt again. Doing it again changes nothing.
        """
        return self._frozen(on=False)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=False)
    def report(self, request: Request, **_: str) -> Response:
        """Report on offers.

        ``funnel``, from messages to clicks; ``report``: click-through with intervals, by day,
        weekday, vertical and days since an author's first offer.
        """
        echo = echo_or_default(self.site)
        funnel, report = offer_funnel(echo), make_report(echo)
        return Response({"funnel": funnel.to_json(), "report": report.to_json()})

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=False, url_path="off-policy")
    def off_policy(self, request: Request, **_: str) -> Response:
        """Evaluate other policies.

        What each would have earned at the same moments, by three estimators with intervals; a
        warning where the log says too little of it.
        """
        return Response(evaluate_candidates(echo_or_default(self.site)).to_json())

    def _frozen(self, *, on: bool) -> Response:
        echo = ensure_echo(self.site)
        freeze(echo, on=on)
        return self._answer(echo)

    def _answer(self, echo: Echo) -> Response:
        return Response(self.get_serializer(echo).data)
