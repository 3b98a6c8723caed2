"""The bounds of Wilson's score interval, for every part of the core that tells a share."""

from math import sqrt


def wilson_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Both ends of the score interval of a share (Wilson 1927), within 0 and 1.

    Args:
        share: 0 to 1.
        n: what it is a share of, above 0; need not be whole (an effective number).
        z: how many standard errors wide to either side.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the formula is exact but for rounding.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high
