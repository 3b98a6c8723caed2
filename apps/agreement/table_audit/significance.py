"""Tests of significance on numbers that somebody has at hand, in the shapes of REST."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from labelhub.core.agreement.audit import mcnemar_pairs
from labelhub.core.agreement.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
from labelhub.core.agreement.significance import (
    LEVEL,
    ChiSquare,
    mcnemar,
    mcnemar_chi_square,
    mcnemar_mid_p,
)
from labelhub.core.agreement.student import TTest, paired_t, welch_t
from labelhub.core.errors import InvalidInput

#: The values are so large that a sum or a square of them is beyond what a float holds.
NOT_FINITE = "not_finite"


def t_tests(pair: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Two lists of values: Welch's test, and the paired one where both have as many values.

    What cannot be computed is null with the reason.
    """
    first, second = pair
    # Sums of numbers near the limits of floats are infinite; _t says so.
    with np.errstate(over="ignore", invalid="ignore"):
        if len(first) == len(second):
            paired = _t(paired_t(first, second), "paired t test, two-sided")
        else:
            paired = {"t": None, "p": None, "reason": "lists_of_different_length"}
        welch = _t(welch_t(first, second), "Welch's t test, two-sided")
    return {"paired": paired, "welch": welch}


def mcnemar_tests(counts: Mapping[str, int]) -> dict[str, Any]:
    """McNemar's test of ``b`` against ``c`` discordant items in all its forms."""
    b, c = counts["b"], counts["c"]
    return {
        "exact": mcnemar(b, c),
        "mid_p": mcnemar_mid_p(b, c),
        "chi_square": _chi_square(mcnemar_chi_square(b, c)),
        "chi_square_corrected": _chi_square(mcnemar_chi_square(b, c, corrected=True)),
    }


def several(p_values: Sequence[float | None]) -> dict[str, Any]:
    """Adjusted p-values in the order given, and how many stay below the level by each."""
    adjusted = {
        "holm": holm(p_values),
        "benjamini_hochberg": benjamini_hochberg(p_values),
        "benjamini_yekutieli": benjamini_yekutieli(p_values),
    }
    below = {
        name: sum(p is not None and p < LEVEL for p in values)
        for name, values in {"unadjusted": p_values, **adjusted}.items()
    }
    return {**adjusted, "level": LEVEL, "below_level": below}


def discordant(claim: Mapping[str, Any]) -> dict[str, Any]:
    """The pairs (b, c) of whole items whose p-value is printed so, by form of McNemar's test."""
    try:
        pairs = mcnemar_pairs(claim["p"], claim["difference"], claim["items"])
    except InvalidInput as error:
        raise InvalidInput.at("discordant", error.message) from error
    return asdict(pairs) | {"reached": pairs.reached}


def _t(test: TTest, method: str) -> dict[str, Any]:
    """The test as JSON can say it; what is not finite is null, and so is all that rests on it."""
    told = asdict(test)
    numbers = {name: told[name] for name in ("difference", "t", "df", "p", "low", "high")}
    strange = [
        name for name, each in numbers.items() if each is not None and not math.isfinite(each)
    ]
    if strange:
        rest = ("t", "df", "p", "low", "high")
        told |= dict.fromkeys((*rest, *strange)) | {"reason": NOT_FINITE}
    return told | {"method": method}


def _chi_square(test: ChiSquare) -> dict[str, Any]:
    return test._asdict()
