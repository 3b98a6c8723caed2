"""Any two arms on the same items: who is right where the other is not.

With one pass for each item this is McNemar's test. With replicates an item counts once, by how much
more often the one arm gets it right than the other: the signs of these differences are flipped at
random. Counting only for whom an item is would favour the arm whose answers vary less. Where the
items of an author are drawn together, their signs are flipped together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from labelhub.core.agreement.arms import Tally
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.resampling import SAME, Floats, Resample, divided, ends
from labelhub.core.agreement.significance import EXACT, LEVEL, mcnemar, mcnemar_mid_p

NO_COMMON = "no item was answered by both"
FLIPS = 9999
FLIPPED = f"sign-flip permutation test of rates by item, two-sided, {FLIPS} flips, seed {SEED}"
#: Signs that are held at once.
BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Pair:
    """Arm ``one`` against arm ``other`` (their places) on ``items`` that both answered.

    ``b``: items that only ``one`` gets right, or more often; ``c``: that only ``other`` does.
    ``p`` is that of ``method``, and ``p_holm`` adjusted for all pairs; ``mid_p`` is McNemar's of b
    and c, where an item has one pass, else ``p`` again. ``difference`` is ``one``'s accuracy less
    ``other``'s.
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
    method: str = EXACT

    @property
    def winner(self) -> int | None:
        """The arm that is reliably better, at 5 % after the adjustment; None where neither is."""
        gap = self.difference["value"]
        if self.p_holm >= LEVEL or not gap:
            return None
        return self.one if gap > 0 else self.other

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, the arms by their places."""
        names = ("items", "b", "c", "p", "mid_p", "p_holm", "difference", "method")
        return {name: getattr(self, name) for name in names}


def compare(sample: Resample, arms: Sequence[Tally]) -> list[Pair]:
    """Every two arms, adjusted for their number by Holm."""
    places = list(combinations(range(len(arms)), 2))
    tested = [_tested(sample, arms[one], arms[other]) for one, other in places]
    adjusted = holm([each.p for each in tested])
    return [
        Pair(
            one=one,
            other=other,
            p_holm=p_holm,
            difference=difference(sample, arms[one], arms[other]),
            **test._asdict(),
        )
        for (one, other), test, p_holm in zip(places, tested, adjusted, strict=True)
    ]


def sign_flip(differences: Floats) -> float:
    """Two-sided p-value of the mean of ``differences``, shape (items,), being 0.

    Each sign is as likely, item by item, by the project's seed: the share of sums at least as large
    among the flips and what was seen (Good 2005, section 3.2; Phipson and Smyth 2010 for the one
    added). Exact where the arms could change places, and right for many items where only the means
    are equal. 1 without items that differ; at least 1 / (flips + 1).
    """
    apart = differences[np.abs(differences) > SAME]
    if not len(apart):
        return 1.0
    generator = np.random.default_rng(SEED)
    least = abs(float(apart.sum())) - SAME * len(apart)
    as_large, step = 0, max(BLOCK // len(apart), 1)
    for at in range(0, FLIPS, step):
        shape = (min(step, FLIPS - at), len(apart))
        signs = generator.integers(2, size=shape, dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ apart) >= least).sum())
    return (1 + as_large) / (1 + FLIPS)


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
    return figure(
        whole[0] / whole[1] - whole[2] / whole[3],
        low=low,
        high=high,
        n=int(common.sum()),
        method=f"paired {sample.method(np.maximum(one.passes, other.passes) * common)}",
    )


class _Test(NamedTuple):
    """The parts of a ``Pair`` that are known before the adjustment."""

    items: int
    b: int
    c: int
    p: float
    mid_p: float
    method: str


def _tested(sample: Resample, one: Tally, other: Tally) -> _Test:
    """Items both answered; those either gets right more often; whether that is chance."""
    common = (one.passes > 0) & (other.passes > 0)
    ours, theirs = one.right * other.passes, other.right * one.passes
    items = int(common.sum())
    b, c = int((common & (ours > theirs)).sum()), int((common & (ours < theirs)).sum())
    if sample.simple(np.maximum(one.passes, other.passes) * common):
        return _Test(items, b, c, mcnemar(b, c), mcnemar_mid_p(b, c), EXACT)
    # Whole numbers first, so that equal rates differ by nothing.
    passes = (one.passes * other.passes)[common]
    differences = (ours - theirs)[common] / passes
    if sample.authors is not None:
        by_author = np.zeros(sample.authors.max() + 1)
        np.add.at(by_author, sample.authors[common], differences)
        p = sign_flip(by_author)
        return _Test(items, b, c, p, p, FLIPPED.replace("item", "author"))
    p = sign_flip(differences)
    return _Test(items, b, c, p, p, FLIPPED)
