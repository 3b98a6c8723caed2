"""REST for a site's managers: what became of offers, by arm, and what others would have earned."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.authors.api.access import SiteScopedMixin
from apps.echo.reporting import evaluate_candidates, make_report, offer_funnel
from apps.echo.selectors.echoes import echo_or_default
from apps.echo.selectors.records import experiment_called


class OfferReportView(SiteScopedMixin):
    """A site's offers in figures."""

    @extend_schema(
        operation_id="site_echo_report",
        responses=OpenApiTypes.OBJECT,
        summary="Report on offers",
    )
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """``funnel``, from messages to clicks; ``report``: click-through with intervals, by day,
        weekday, vertical and days since an author's first offer."""
        echo = echo_or_default(self.site)
        funnel, report = offer_funnel(echo), make_report(echo)
        return Response({"funnel": funnel.to_json(), "report": report.to_json()})


class OffPolicyView(SiteScopedMixin):
    """Other policies, by the log."""

    @extend_schema(
        operation_id="site_echo_off_policy",
        responses=OpenApiTypes.OBJECT,
        summary="Evaluate other policies",
    )
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """What each would have earned at the same moments, by three estimators with intervals; a
        warning where the log says too little of it."""
        return Response(evaluate_candidates(echo_or_default(self.site)).to_json())


class ExperimentReportView(SiteScopedMixin):
    """An experiment in figures."""

    @extend_schema(
        operation_id="site_echo_experiment_report",
        responses=OpenApiTypes.OBJECT,
        summary="Report on an experiment",
    )
    def get(
        self, request: SignedInApiRequest, public_key: str, echo_experiment_id: int
    ) -> Response:
        """Every arm as it was assigned, and against the control: ratio and difference with
        intervals, and looks day by day that are corrected for looking often."""
        experiment = experiment_called(self.site, echo_experiment_id)
        return Response(make_report(experiment.echo, experiment).to_json())
