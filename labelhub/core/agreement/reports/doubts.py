"""What figures of other families need before they stand in a report: codes, bounds and doubts."""

from labelhub.core.agreement.estimation import doubted, few
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet

CLUSTERS_IGNORED = (
    "clusters_ignored: the interval takes items for independent, yet several share {unit}"
)
#: What ``scores`` says of a number that is not there, as the codes of a report.
CODES = {
    "no item has both a prediction and gold": reasons.NO_SINGLE_ANSWER,
    "predictions or gold do not vary": reasons.NO_VARIATION,
    "the label was never predicted": reasons.NEVER_PREDICTED,
    "the label is never in gold": reasons.NEVER_TRUE,
    "the label is neither predicted nor in gold": reasons.NEITHER,
}


def clusters_ignored(sheet: Sheet) -> str | None:
    """The doubt about an interval that draws items where items belong together; else None."""
    return None if sheet.clusters is None else CLUSTERS_IGNORED.format(unit=sheet.unit)


def of_scores(found: Figure, items: int) -> Figure:
    """A figure of ``scores`` with its reason as a code, ends around its value, and its doubts.

    ``items``: how many it rests on.
    """
    if found["value"] is None:
        return {**found, "reason": CODES.get(found["reason"], found["reason"])}
    return doubted(around(found), few(items))


def around(found: Figure) -> Figure:
    """The figure with an interval that holds its value."""
    value, low, high = found["value"], found.get("low"), found.get("high")
    if value is None or low is None or high is None:
        return found
    return {**found, "low": min(low, value), "high": max(high, value)}
