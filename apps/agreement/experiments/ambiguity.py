"""Which items are ambiguous, and by whose measure (paper 002: D_rate at most one half)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.agreement.experiments.answers import ArmAnswers
from apps.agreement.experiments.opinions import own_d_rate
from labelhub.core.agreement.ratings import Ints

MOST = 0.5
FEWEST_SAMPLES = 5
NO_MEASURE = "no arm tells which items are ambiguous: add self-consistency with 5 samples or more"


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """By item, shape (items,): whether it is known, and whether it is ambiguous.

    ``source``: the place of the arm that tells; ``words`` say how.
    """

    known: NDArray[np.bool_]
    ambiguous: NDArray[np.bool_]
    source: int
    words: str

    @property
    def normal(self) -> NDArray[np.bool_]:
        """Items known not to be."""
        return self.known & ~self.ambiguous


def shared(arms: Sequence[ArmAnswers], items: int) -> Ambiguity | None:
    """By the samples of one model, the same for all arms; None without five samples of any."""
    for place, each in enumerate(arms):
        settings = each.arm.run.protocol_settings
        samples = settings.get("samples", 0)
        if each.arm.run.protocol == "self_consistency" and samples >= FEWEST_SAMPLES:
            return _by(each, place, items, f"its {samples} samples")
    return None


def own(each: ArmAnswers, place: int, items: int) -> Ambiguity | None:
    """By the arm's own votes; None where it has none."""
    if "d_rate" not in each.told:
        return None
    when = " before the discussion" if "first_d_rate" in each.told else ""
    return _by(each, place, items, f"its own votes{when}")


def _by(each: ArmAnswers, place: int, items: int, words: str) -> Ambiguity:
    """By what a debate tells of its votes."""
    names = [name for name in ("d_rate", "first_d_rate") if name in each.told]
    lines = zip(*(each.told[name] for name in names), strict=True)
    rates = [own_d_rate(dict(zip(names, line, strict=True))) for line in lines]
    return Ambiguity(*told_apart(each.rows, rates, items, MOST), place, words)


def told_apart(
    rows: Ints, rates: Sequence[float | None], items: int, most: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which items are known, and which ambiguous: the mean D_rate of their passes is at most
    ``most``. ``rows`` says which item each rate is of."""
    kept = np.array([rate is not None for rate in rates], dtype=bool)
    found: Ints = rows[kept] if len(kept) else rows
    total = np.bincount(found, [rate for rate in rates if rate is not None], minlength=items)
    passes = np.bincount(found, minlength=items)
    known = passes > 0
    # Tenths and fifths do not add up exactly.
    return known, known & (total <= most * passes + 1e-9)
