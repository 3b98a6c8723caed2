"""Any two arms on the same items: who is right where the other is not.

With one pass for each item this is McNemar's test. With replicates an item counts once, for the arm
that gets it right more often (a sign test over items; with one pass it is the same test).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from labelhub.core.agreement.arms import Tally
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.resampling import CLUSTERED, Resample, divided, ends
from labelhub.core.agreement.significance import EXACT, LEVEL, mcnemar, mcnemar_mid_p

NO_COMMON = "no item was answered by both"


@dataclass(frozen=True, slots=True)
class Pair:
    """Arm ``one`` against arm ``other`` (their places) on ``items`` that both answered.

    ``b``: items that only ``one`` gets right, or more often; ``c``: that only ``other`` does.
    ``p_holm`` is adjusted for all pairs; ``difference`` is ``one``'s accuracy less ``other``'s.
    """

    one: int
    other: int
    items: int
    b: int
    c: int
    p: float
    mid_p: float
    p_holm: float
    difference: Figure

    @property
    def winner(self) -> int | None:
        """The arm that is reliably better, at 5 % after the adjustment; None where neither is."""
        if self.p_holm >= LEVEL:
            return None
        return self.one if self.b > self.c else self.other

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, the arms by their places."""
        names = ("items", "b", "c", "p", "mid_p", "p_holm", "difference")
        return {name: getattr(self, name) for name in names} | {"method": EXACT}


def compare(sample: Resample, arms: Sequence[Tally]) -> list[Pair]:
    """Every two arms, adjusted for their number by Holm."""
    pairs = list(combinations(range(len(arms)), 2))
    counted = [_discordant(arms[one], arms[other]) for one, other in pairs]
    p_values = [mcnemar(b, c) for _, b, c in counted]
    return [
        Pair(
            one=one,
            other=other,
            items=items,
            b=b,
            c=c,
            p=p,
            mid_p=mcnemar_mid_p(b, c),
            p_holm=adjusted,
            difference=difference(sample, arms[one], arms[other]),
        )
        for (one, other), (items, b, c), p, adjusted in zip(
            pairs, counted, p_values, holm(p_values), strict=True
        )
    ]


def difference(sample: Resample, one: Tally, other: Tally) -> Figure:
    """Accuracy of ``one`` less that of ``other`` on the items that both answered."""
    common = (one.passes > 0) & (other.passes > 0)
    if not common.any():
        return undefined(NO_COMMON)
    columns = [each * common for each in (one.right, one.passes, other.right, other.passes)]
    sums = sample.sums(np.stack(columns, axis=1))
    drawn = divided(sums[:, 0], sums[:, 1]) - divided(sums[:, 2], sums[:, 3])
    whole = [int(column.sum()) for column in columns]
    low, high = ends(drawn)
    several = max(int(one.passes.max()), int(other.passes.max())) > 1
    return figure(
        whole[0] / whole[1] - whole[2] / whole[3],
        low=low,
        high=high,
        n=int(common.sum()),
        method=f"paired {CLUSTERED if several else BOOTSTRAP}",
    )


def _discordant(one: Tally, other: Tally) -> tuple[int, int, int]:
    """Items both answered; those ``one`` gets right more often; those ``other`` does."""
    common = (one.passes > 0) & (other.passes > 0)
    ours, theirs = one.right * other.passes, other.right * one.passes
    b, c = common & (ours > theirs), common & (ours < theirs)
    return int(common.sum()), int(b.sum()), int(c.sum())
