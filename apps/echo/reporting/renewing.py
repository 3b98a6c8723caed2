"""Figures of a large log made anew, beside the requests that show the last ones."""

from datetime import datetime

from apps.echo.models import Echo
from apps.echo.reporting.candidates import OFF_POLICY, off_policy_of
from apps.echo.reporting.report import report_of


def renew_figures(
    what: str, echo_id: int, experiment_id: int | None, since: datetime | None
) -> None:
    """Compute and keep them; nothing where the site or the experiment is gone."""
    echo = Echo.objects.filter(pk=echo_id).select_related("site").first()
    if echo is None:
        return
    if what == OFF_POLICY:
        off_policy_of(echo, renew=True)
    elif experiment_id is None:
        report_of(echo, since=since, renew=True)
    elif (experiment := echo.experiments.filter(pk=experiment_id).first()) is not None:
        report_of(echo, experiment, since, renew=True)
