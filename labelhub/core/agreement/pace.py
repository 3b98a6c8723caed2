"""The pace of one person, robust against single answers: a phone call, a slipped finger.

Times of answers are skewed and have gross outliers, so the median of their logarithm and its median
absolute deviation describe them (Hampel 1974; Leys et al. 2013); half of the answers could not
spoil these.
"""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.ratings import Floats
from labelhub.core.agreement.significance import FEWEST_FOR_MEDIAN, median

#: So many robust deviations away a time is an outlier.
AWAY = 3.0
#: The deviation of a normal distribution for each median absolute deviation.
PER_MAD = 1.4826
#: Half or twice the median is no outlier, however even the answers are.
LEAST_FACTOR = 2.0
#: The resolution of the clocks; a time of 0 has no logarithm.
SHORTEST = 0.1

#: The least that reading costs, in seconds a character: 50 ms for a word of six with its blank.
PER_CHARACTER = 0.05 / 6
#: So many characters of a longer text may have been enough.
MOST_CHARACTERS = 600
#: Seconds until a finger moves at all, and for each bit of choice.
REACTION, PER_BIT = 0.2, 0.15


@dataclass(frozen=True, slots=True)
class PaceLimits:
    """Times outside are outliers; None where too few are known."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Pace:
    """Of one person: the median in seconds, and how many answers lie outside their own limits."""

    seconds: Figure
    slow: int
    fast: int
    limits: PaceLimits | None


def least_seconds(characters: ArrayLike, choices: ArrayLike) -> Floats:
    """The least time in seconds in which a person can look at a text and choose; accepting a
    suggestion or not is one choice. Shapes broadcast.

    A word is allowed 50 ms: five times as fast as people read in silence (238 words a minute,
    Brysbaert 2019) and twice as fast as they scan for a single word (600, Carver 1992), so skimming
    stays above it. The time to choose among n is added: 0.2 s, and 0.15 s for each bit of
    log2(n + 1) (Hick 1952; Hyman 1953). The limit accuses people: the far higher one that has a
    question read in full is in ``core.interview.limits``.
    """
    read = np.minimum(np.asarray(characters, dtype=np.float64), MOST_CHARACTERS) * PER_CHARACTER
    bits = np.log2(np.asarray(choices, dtype=np.float64) + 1)
    least: Floats = read + REACTION + PER_BIT * bits
    return least


def known_times(seconds: ArrayLike) -> Floats:
    """Only times that were measured: finite, not below 0; none shorter than ``SHORTEST``."""
    times = np.asarray(seconds, dtype=np.float64)
    return np.maximum(times[np.isfinite(times) & (times >= 0)], SHORTEST)


def outlier_limits(times: Floats) -> PaceLimits | None:
    """Where outliers begin: the median times and by the factor of three robust deviations, which is
    at least ``LEAST_FACTOR``. None below six times."""
    if len(times) < FEWEST_FOR_MEDIAN:
        return None
    logs = np.log(times)
    middle = float(np.median(logs))
    spread = AWAY * PER_MAD * float(np.median(np.abs(logs - middle)))
    spread = max(spread, log(LEAST_FACTOR))
    return PaceLimits(exp(middle - spread), exp(middle + spread))


def measure_pace(seconds: ArrayLike) -> Pace:
    """The pace by one person's times in seconds; NaN where none was measured."""
    times = known_times(seconds)
    ends = outlier_limits(times)
    if ends is None:
        return Pace(median(times), 0, 0, None)
    slow, fast = int((times > ends.high).sum()), int((times < ends.low).sum())
    return Pace(median(times), slow, fast, ends)
