"""Confusion counts and the metrics claimed of them: what follows, and the least repair.

Every metric is a quotient of two sums of counts. Along a change of one count (or an exchange
between two) it is therefore a quotient of two straight lines, and the change that makes it what is
printed is found by one division instead of a search.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import isclose, isfinite, nan
from typing import NamedTuple

Four = tuple[float, float, float, float]

COUNTS = ("TP", "FP", "FN", "TN")
#: Which counts, and how often, stand above and below the line.
WEIGHTS: dict[str, tuple[Four, Four]] = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "specificity": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
}
#: One count, or two that keep the number of positives (or negatives) as it is.
DIRECTIONS: tuple[Four, ...] = (
    (1, 0, 0, 0),
    (0, 1, 0, 0),
    (0, 0, 1, 0),
    (0, 0, 0, 1),
    (1, 0, -1, 0),
    (0, 1, 0, -1),
)
AS_PRINTED, SLIP, ONE_COUNT = "as_printed", "slip", "one_count"
SHIFT_LEFT, SHIFT_RIGHT, EXCHANGE = "shift_left", "shift_right", "exchange"
#: Of repairs that change as many cells, the one we would rather believe comes first.
KINDS = (AS_PRINTED, SLIP, ONE_COUNT, SHIFT_LEFT, SHIFT_RIGHT, EXCHANGE)


class Claim(NamedTuple):
    """A printed metric as a fraction, and how far off it may be."""

    metric: str
    value: float
    tolerance: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A row: counts as true positives, false positives, false negatives, true negatives.

    A count that is not printed is NaN. ``claims`` in the order of the columns. ``step``: the unit
    of the counts (1, or 0.1 where they are means of runs).
    """

    counts: Four
    claims: tuple[Claim, ...]
    items: float | None = None
    positives: float | None = None
    step: float = 1.0

    def swapped(self) -> "Evidence":
        """The same row with FP and FN read as each other."""
        tp, fp, fn, tn = self.counts
        return Evidence((tp, fn, fp, tn), self.claims, self.items, self.positives, self.step)


class Repair(NamedTuple):
    """Counts under which all follow but the metrics in ``wrong``; ``changed`` counts differ."""

    kind: str
    counts: Four
    changed: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def cost(self) -> int:
        """How many printed cells must change; a slip of a whole row of metrics is one."""
        return len(self.changed) + len(self.wrong) + (self.kind in {SHIFT_LEFT, SHIFT_RIGHT})


def dot(weights: Four, counts: Four) -> float:
    """Weighted sum; a count that is missing matters only where its weight is not 0."""
    return sum(weight * count for weight, count in zip(weights, counts, strict=True) if weight)


def metric(name: str, counts: Four) -> float | None:
    """The metric as a fraction; None where it is undefined or a count is missing."""
    above, below = WEIGHTS[name]
    whole = dot(below, counts)
    if not whole > 0:  # also where it is NaN
        return None
    part = dot(above, counts)
    return part / whole if isfinite(part) else None


def follows(claim: Claim, counts: Four) -> bool:
    """Whether a claim is what the counts give; an undefined metric says nothing against it."""
    found = metric(claim.metric, counts)
    return found is None or abs(found - claim.value) <= claim.tolerance


def wrong_claims(claims: tuple[Claim, ...], counts: Four) -> tuple[str, ...]:
    """Names of the metrics that the counts do not give."""
    return tuple(claim.metric for claim in claims if not follows(claim, counts))


def shifted(claims: tuple[Claim, ...], by: int) -> tuple[Claim, ...]:
    """The claims if every metric stood ``by`` columns to the left of where it belongs."""
    names = [claim.metric for claim in claims]
    if by > 0:
        pairs = zip(claims[:-by], names[by:], strict=True)
    else:
        pairs = zip(claims[-by:], names[:by], strict=True)
    return tuple(claim._replace(metric=name) for claim, name in pairs)


def as_shifted(evidence: Evidence) -> Iterator[Repair]:
    """One column to the left or right, where two metrics at least then follow and none does not."""
    for kind, by in ((SHIFT_LEFT, 1), (SHIFT_RIGHT, -1)):
        claims = shifted(evidence.claims, by)
        known = [claim for claim in claims if metric(claim.metric, evidence.counts) is not None]
        if len(known) >= 2 and not wrong_claims(claims, evidence.counts):
            yield Repair(kind, evidence.counts, (), ())


def sums_agree(evidence: Evidence, counts: Four) -> bool:
    """Whether counts add up to the items and positives known, as far as they are known."""
    total, positives = sum(counts), counts[0] + counts[2]
    return _agree(total, evidence.items, evidence.step) and _agree(
        positives, evidence.positives, evidence.step
    )


def as_printed(evidence: Evidence) -> Repair:
    """No repair: what is wrong if the counts are right."""
    wrong = wrong_claims(evidence.claims, evidence.counts)
    return Repair(AS_PRINTED, evidence.counts, (), wrong)


def repairs(evidence: Evidence) -> list[Repair]:
    """All repairs tried, the one that changes the fewest cells first.

    Those whose counts add up to the wrong number are left out, unless there is no other.
    """
    tried = [as_printed(evidence), *as_shifted(evidence), *_changed(evidence)]
    sound = [each for each in tried if sums_agree(evidence, each.counts)] or tried
    return sorted(sound, key=lambda each: _rank(evidence, each))


def _rank(evidence: Evidence, tried: Repair) -> tuple[int, bool, float, float, int]:
    """Few changes first; of as many, the truest sum, then the wrong metrics least wrong."""
    wrong = [claim for claim in evidence.claims if claim.metric in tried.wrong]
    found = [(metric(claim.metric, tried.counts), claim) for claim in wrong]
    off = sum(abs(value - claim.value) for value, claim in found if value is not None)
    gap = 0.0 if evidence.items is None else abs(sum(tried.counts) - evidence.items)
    gap = round(gap, 6) if isfinite(gap) else 0.0
    place = KINDS.index(tried.kind)
    return tried.cost, tried.kind != AS_PRINTED, gap, round(off, 9), place


def _agree(sum_found: float, known: float | None, step: float) -> bool:
    # Four means rounded to a step may together be two steps off.
    slack = 0.01 if step == 1 else 2 * step + 1e-9
    return known is None or not isfinite(sum_found) or abs(sum_found - known) <= slack


def _changed(evidence: Evidence) -> Iterator[Repair]:
    for direction in DIRECTIONS:
        single = dot(direction, direction) == 1
        slips = _slips(evidence, direction) if single else set()
        solved = set(chain(_by_metrics(evidence, direction), _by_sums(evidence, direction)))
        for step in slips | solved:
            kind = EXCHANGE if not single else SLIP if step in slips else ONE_COUNT
            if (found := _moved(evidence, direction, step, kind)) is not None:
                yield found


def _moved(evidence: Evidence, direction: Four, step: float, kind: str) -> Repair | None:
    moved = tuple(
        round(count + weight * step, 6)
        for count, weight in zip(evidence.counts, direction, strict=True)
    )
    counts: Four = (moved[0], moved[1], moved[2], moved[3])
    if step == 0 or min(counts) < 0:
        return None
    changed = tuple(name for name, weight in zip(COUNTS, direction, strict=True) if weight)
    return Repair(kind, counts, changed, wrong_claims(evidence.claims, counts))


def _by_metrics(evidence: Evidence, direction: Four) -> Iterator[float]:
    """Steps along the direction at which a claim is met, on the grid the counts stand on."""
    for claim in evidence.claims:
        above, below = WEIGHTS[claim.metric]
        slope = dot(above, direction) - claim.value * dot(below, direction)
        gap = claim.value * dot(below, evidence.counts) - dot(above, evidence.counts)
        step = gap / slope if abs(slope) > 1e-12 else nan
        if isfinite(step) and abs(step) < 1e12:
            nearest = round(step / evidence.step)
            yield from (round((nearest + off) * evidence.step, 6) for off in (-1, 0, 1))


def _by_sums(evidence: Evidence, direction: Four) -> Iterator[float]:
    """Steps at which the counts add up to the known items and positives."""
    everything, positive = (1.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 0.0)
    for known, weights in ((evidence.items, everything), (evidence.positives, positive)):
        slope = dot(weights, direction)
        gap = nan if known is None else known - dot(weights, evidence.counts)
        if slope and isfinite(gap):
            yield round(gap / slope, 6)


def _slips(evidence: Evidence, direction: Four) -> set[float]:
    """Steps from the printed count to those a slip of the finger turns into it."""
    at = direction.index(1)
    count = evidence.counts[at]
    if not (isfinite(count) and count >= 0):
        return set()
    text = f"{count:.6f}".rstrip("0").rstrip(".")
    meant = {float(each) for each in _one_slip_away(text) if _is_number(each)}
    return {round(each - count, 6) for each in meant if not isclose(each, count)}


def _one_slip_away(text: str) -> Iterator[str]:
    """A digit too many or a point lost, two digits exchanged, a nought too few."""
    for at in range(len(text)):
        yield text[:at] + text[at + 1 :]
        yield text[:at] + "." + text[at:]
        yield text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
    yield text + "0"


def _is_number(text: str) -> bool:
    return text.count(".") <= 1 and any(letter.isdigit() for letter in text)
