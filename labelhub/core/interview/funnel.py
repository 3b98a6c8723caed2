"""The counts of a site from message to answer, and alerts for changes beyond chance.

Shares are of *shown* questions, not of sent ones: a question that nobody saw says nothing about its
wording.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import scipy

from labelhub.core.interview.chance import LEAST_EXPECTED, two_shares, wilson

METHOD = "Wilson, 95 %"
#: The significance level of a rise and the fewest cases on both sides; strict, because people may
#: look every day.
LEVEL = 0.01
LEAST_COMPARED = 30
#: The significance level of uneven positions of chosen options.
POSITION_LEVEL = 0.001


@dataclass(frozen=True, slots=True)
class Funnel:
    """The counts of a period.

    messages: authors' messages; dropped: of these by the stage that dropped them; taskable: those
    worth a question. surveys: messages asked about. shown, answered, nofit ("none of these fit"),
    skipped, closed, expired: questions. early: questions on which an option was chosen too early.
    optouts: authors who asked not to be asked again.
    """

    messages: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    taskable: int = 0
    surveys: int = 0
    shown: int = 0
    answered: int = 0
    nofit: int = 0
    skipped: int = 0
    closed: int = 0
    expired: int = 0
    early: int = 0
    optouts: int = 0


@dataclass(frozen=True, slots=True)
class FunnelRate:
    """A share with its 95 % interval and its definition.

    ``value``, ``low`` and ``high`` are None if it cannot be computed; ``reason`` then says why.
    """

    name: str
    definition: str
    part: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class Alert:
    """A rate that got worse: its ``name``, the words for it, and the p-value."""

    name: str
    words: str
    p: float


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """Whether the places of chosen options look shuffled; ``p`` is None if n is too small."""

    n: int
    statistic: float | None
    p: float | None
    alarm: bool
    words: str


def rates(funnel: Funnel) -> dict[str, FunnelRate]:
    """Every rate of ``funnel`` by its name; dropping stages as ``dropped:<stage>``."""
    shown, messages, fitted = funnel.shown, funnel.messages, funnel.answered + funnel.nofit
    found = [
        _rate(f"dropped:{stage}", f"messages dropped by {stage} / messages", count, messages)
        for stage, count in sorted(funnel.dropped.items())
    ]
    found += [
        _rate("taskable", "messages worth a question / messages", funnel.taskable, messages),
        _rate("asked", "messages asked about / those worth it", funnel.surveys, funnel.taskable),
        _rate("answered", "questions answered / shown", funnel.answered, shown),
        _rate("nofit", "none of these fit / (answered + none of these fit)", funnel.nofit, fitted),
        _rate("skipped", "questions skipped / shown", funnel.skipped, shown),
        _rate("closed", "questions closed / shown", funnel.closed, shown),
        _rate("expired", "questions expired / shown", funnel.expired, shown),
        _rate("early", "questions chosen too early on / shown", funnel.early, shown),
        _rate("optouts", "authors who opted out / questions shown", funnel.optouts, shown),
    ]
    return {rate.name: rate for rate in found}


def alerts(now: Funnel, before: Funnel) -> list[Alert]:
    """The rises since ``before`` beyond chance, in plain words; the gravest first."""
    found = [alert for name in _WATCHED for alert in _risen(name, now, before)]
    return sorted(found, key=lambda alert: alert.p)


def position_check(counts: Sequence[int]) -> PositionCheck:
    """Pearson's chi-square test of the choices at each place.

    Args:
        counts: one number for each place, of questions with shuffled options.
    """
    n = sum(counts)
    if len(counts) < 2 or n < LEAST_EXPECTED * len(counts):
        few = (
            f"There are too few answers ({n}): at least {LEAST_EXPECTED} for each place are needed."
        )
        return PositionCheck(n, None, None, alarm=False, words=few)
    statistic, p = map(float, scipy.stats.chisquare(counts))
    alarm = p < POSITION_LEVEL
    places = ", ".join(f"{count / n:.0%}" for count in counts)
    verdict = "more uneven than shuffling explains" if alarm else "as even as shuffling makes them"
    words = f"The places of the {n} chosen options ({places}) are {verdict} (p = {p:.2g})."
    return PositionCheck(n, statistic, p, alarm=alarm, words=words)


def _rate(name: str, definition: str, part: int, n: int) -> FunnelRate:
    reason = "" if n else "nothing to count yet"
    if part > n > 0:
        # Reports of shown questions travel apart from answers and may be lost.
        reason = "more were counted than there can be; reports are missing"
    if reason:
        return FunnelRate(name, definition, part, n, None, None, None, method="", reason=reason)
    low, high = wilson(part, n)
    return FunnelRate(name, definition, part, n, part / n, low, high, method=METHOD, reason="")


#: Watched rates, and the message when one rises.
_WATCHED: Mapping[str, str] = {
    "nofit": "“None of these fit” rose from {before} to {now}: look at the options offered.",
    "optouts": "Opting out rose from {before} to {now} of questions shown: ask less often.",
}


def _risen(name: str, now: Funnel, before: Funnel) -> Iterator[Alert]:
    new, old = rates(now)[name], rates(before)[name]
    if new.value is None or old.value is None or min(new.n, old.n) < LEAST_COMPARED:
        return
    p = two_shares(new.part, new.n, old.part, old.n)
    if new.value > old.value and p < LEVEL:
        words = _WATCHED[name].format(before=_percent(old), now=_percent(new))
        yield Alert(name, f"{words} Chance alone explains this in {p:.2g} of cases.", p)


def _percent(rate: FunnelRate) -> str:
    return f"{rate.part / rate.n:.1%} ({rate.part} of {rate.n})"
