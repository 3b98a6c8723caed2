"""The bounds of Wilson's score interval, for all shares in the core."""

from math import sqrt


def wilson_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Both ends of the score interval of a share (Wilson 1927), within 0 and 1.

    Args:
        share: 0 to 1.
        n: the size of the whole, above 0, perhaps an effective number that is not whole.
        z: standard errors to either side.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At 0 and 1 only rounding can be wrong.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high
