"""Whether machines are as right as they say they are, in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.agreement.standing.truths import Report
from apps.common.figures import number_words, share_words


@dataclass(frozen=True, slots=True)
class Sureness:
    """A machine: how sure it says it is on average, how often it is right, and how far that lies
    apart (``error``, the expected calibration error) and ``brier``; ``n`` items."""

    name: str
    kind: str
    offline: bool
    n: int
    sure: str
    right: str
    error: str
    brier: str


def sureness(report: Report) -> Sequence[Sureness]:
    """Each machine that states how sure it is and can be measured by a truth."""
    found = []
    for name, told in report["calibration"].items():
        bins, n = told["bins"], told["n"]
        sure = sum(one["confidence"] * one["right"]["n"] for one in bins) / n
        right = sum(one["right"]["value"] * one["right"]["n"] for one in bins) / n
        error, brier = told["expected_calibration_error"], told["brier"]
        found.append(
            Sureness(
                name=name,
                kind=told["kind"],
                offline=name in report["offline"].get(told["kind"], ()),
                n=n,
                sure=share_words(sure),
                right=share_words(right),
                error="–" if error is None else f"{error * 100:.0f}",
                brier="–" if brier is None else number_words(brier),
            )
        )
    return found
