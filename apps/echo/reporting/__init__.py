"""From stored decisions and what became of offers to figures (paper 004, section 4, appendix A.1).

- ``make_report``: click-through by arm, ratio and difference, by day, weekday, vertical and time
  since first exposure, and looks corrected for looking often.
- ``evaluate_candidates``: what other policies would have earned.
- ``offer_funnel``: from a message to a click.
- ``experiment_mark``: whether an experiment's report would be another one.
"""

from apps.echo.reporting.candidates import Candidate, OffPolicy, evaluate_candidates
from apps.echo.reporting.funnel import OfferFunnel, offer_funnel
from apps.echo.reporting.records import experiment_mark
from apps.echo.reporting.report import (
    ArmComparison,
    ArmReport,
    OfferReport,
    make_report,
)

__all__ = [
    "ArmComparison",
    "ArmReport",
    "Candidate",
    "OffPolicy",
    "OfferFunnel",
    "OfferReport",
    "evaluate_candidates",
    "experiment_mark",
    "make_report",
    "offer_funnel",
]
