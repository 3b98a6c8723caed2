"""Claims of significance: which discordant pairs or per-run values reproduce a printed p or t."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from labelhub.core.agreement.audit.printed import Number, printed, unit
from labelhub.core.agreement.significance import mcnemar, mcnemar_chi_square
from labelhub.core.agreement.student import TTest, paired_t, welch_t
from labelhub.core.errors import InvalidInput

MOST_ITEMS = 100_000
#: Pairs are searched from the fewest on; with more, a printed p of three digits tells little.
MOST_PAIRS = 500

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Discordant pairs (b, c) that give the printed p-value, by form of McNemar's test."""

    exact: tuple[Pair, ...]
    chi_square: tuple[Pair, ...]
    corrected: tuple[Pair, ...]

    @property
    def reached(self) -> bool:
        """Whether any form of the test reaches the p-value."""
        return bool(self.exact or self.chi_square or self.corrected)


@dataclass(frozen=True, slots=True)
class PairedT:
    """|t| of the paired test and of Welch's; None where nothing varies."""

    follows: bool | None
    paired: float | None
    welch: float | None


def mcnemar_pairs(p: Number, difference: int, items: int) -> Pairs:
    """All pairs b - c = ``difference`` among ``items`` items whose p-value is printed as ``p``.

    The p-value counts as reached within half a unit of its last digit (rounded) or when cut off
    there. Exact binomial, chi-square without and with Edwards' correction (McNemar 1947).
    """
    said = printed(p)
    if not 0 <= said.value <= 1 or not 0 < items <= MOST_ITEMS or abs(difference) > items:
        raise InvalidInput("p is from 0 to 1, and the difference is at most the number of items.")
    fewest = abs(difference)
    pairs = [(b, b - fewest) for b in range(fewest, (items + fewest) // 2 + 1)][:MOST_PAIRS]
    half = unit(said.digits) / 2 + 1e-9

    def reaching(test: Callable[[int, int], float]) -> tuple[Pair, ...]:
        found = [(b, c) for b, c in pairs if abs(test(b, c) - said.value) <= half]
        return tuple(found if difference >= 0 else [(c, b) for b, c in found])

    return Pairs(reaching(mcnemar), reaching(_chi_square), reaching(_corrected))


def paired_t_follows(
    first: Sequence[float], second: Sequence[float], stated: Number | None = None
) -> PairedT:
    """Whether |t| of the paired test over runs is the printed one, beside Welch's |t|.

    ``first`` and ``second``: one value per run, as many of each. Runs of a model have no partner
    among those of another: pairing run i with run i is arbitrary, and Welch's test does without.
    The printed runs are rounded, so |t| may be off by more than a unit: a thousandth is allowed.
    """
    if len(first) != len(second) or len(first) < 2:
        raise InvalidInput("A paired t test needs two lists of the same length, two or more.")
    if not all(map(isfinite, (*first, *second))):
        raise InvalidInput("Values of runs are finite numbers.")
    paired, welch = _size(paired_t(first, second)), _size(welch_t(first, second))
    if stated is None or paired is None:
        return PairedT(None, paired, welch)
    said = printed(stated)
    slack = max(said.tolerance, 0.001 * paired)
    return PairedT(abs(abs(said.value) - paired) <= slack, paired, welch)


def _size(test: TTest) -> float | None:
    return None if test.t is None else abs(test.t)


def _chi_square(b: int, c: int) -> float:
    return _or_one(mcnemar_chi_square(b, c).p)


def _corrected(b: int, c: int) -> float:
    return _or_one(mcnemar_chi_square(b, c, corrected=True).p)


def _or_one(p: float | None) -> float:
    """Without a discordant item nothing differs."""
    return 1.0 if p is None else p
