"""The report on anchoring in plain words."""

from apps.projects.models import Project
from labelhub.core.agreement.figures import Figure


def sentence(difference: Figure) -> str:
    """What seeing the suggestion does, with its doubt."""
    value, low, high = (difference.get(name) for name in ("value", "low", "high"))
    if not isinstance(value, float):
        return f"What seeing the suggestion does cannot be told yet: {difference.get('reason')}."
    if not isinstance(low, float) or not isinstance(high, float):
        return "What seeing the suggestion does cannot be told: the answers do not vary."
    points = f"{_points(low)} to {_points(high)}"
    if low <= 0 <= high:
        return (
            "Whether reviewers take over the suggestion more often when they see it cannot be "
            f"told: by {points} points."
        )
    more = "more" if value > 0 else "less"
    if value < 0:
        points = f"{_points(-high)} to {_points(-low)}"
    return (
        f"Reviewers take over the suggestion {_points(abs(value))} points {more} often when they "
        f"see it ({points})."
    )


def in_points(difference: Figure) -> dict[str, object]:
    """A difference of shares as people read it: ``{"words": "6 points", "range": "3 to 10"}``, or
    with a ``reason``."""
    value, low, high = difference.get("value"), difference.get("low"), difference.get("high")
    if value is None:
        return {"value": None, "reason": difference.get("reason")}
    return {
        "value": value,
        "words": f"{_points(value)} points",
        "range": "" if low is None or high is None else f"{_points(low)} to {_points(high)}",
        "method": difference.get("method"),
    }


def _points(difference: float) -> str:
    return f"{round(100 * difference) + 0:d}".replace("-", "−")


def warning(project: Project, *, any_withheld: bool) -> str:
    """Why nothing new will be known, and how to change that; empty where all is well."""
    if project.blind_share:
        return ""
    kept = " What is told here is of before." if any_withheld else ""
    return (
        "Every suggestion is shown, so nothing tells whether people follow it. Set the share "
        f"of items that are shown without in the review plan; 10 % is a good beginning.{kept}"
    )
