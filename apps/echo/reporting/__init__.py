"""From stored decisions and what became of offers to figures (paper 004, section 4, appendix A.1).

- ``report_of``: click-through by arm, ratio and difference, by day, weekday, vertical and time
  since first exposure, and looks corrected for looking often.
- ``off_policy_of``: what other policies would have earned.
- ``offer_funnel``: from a message to a click.
"""

from apps.echo.reporting.candidates import Candidate, OffPolicy, evaluate_candidates, off_policy_of
from apps.echo.reporting.funnel import OfferFunnel, offer_funnel
from apps.echo.reporting.report import (
    ArmComparison,
    ArmReport,
    OfferReport,
    make_report,
    report_of,
)

__all__ = [
    "ArmComparison",
    "ArmReport",
    "Candidate",
    "OffPolicy",
    "OfferFunnel",
    "OfferReport",
    "evaluate_candidates",
    "make_report",
    "off_policy_of",
    "offer_funnel",
    "report_of",
]
