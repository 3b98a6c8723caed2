"""REST for a site's managers: what Echo has selected and decided."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.roles import Right
from apps.authors.api.access import SiteViewSet
from apps.echo.api.serializers import DecisionSerializer, SelectionRecordSerializer
from apps.echo.selectors.records import decisions_of, selections_of


class SelectionsViewSet(SiteViewSet):
    """What was selected, what of it was asked, and why."""

    read_right = Right.MANAGE
    serializer_class = SelectionRecordSerializer

    @extend_schema(operation_id="site_echo_selections")
    def list(self, request: Request, **_: str) -> Response:
        """List selections.

        One for each message that Echo looked at.
        """
        return self.list_page(selections_of(self.site))


class DecisionsViewSet(SiteViewSet):
    """What was decided about offers."""

    read_right = Right.MANAGE
    serializer_class = DecisionSerializer

    @extend_schema(operation_id="site_echo_decisions")
    def list(self, request: Request, **_: str) -> Response:
        """List decisions about offers.

        One for each message that could have had an offer, in every arm.
        """
        return self.list_page(decisions_of(self.site))
