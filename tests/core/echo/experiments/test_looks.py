"""Sequential looks: as many as one likes, and no more false alarms than promised."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.clusters import rate_of, ratio_bounds
from labelhub.core.echo.experiments.looks import Look, look_at
from tests.cases import all_cases
from tests.core.echo.experiments.trials import AGAIN, Floats, Planted, likings

DAYS, RUNS = 28, 400
#: The paper's arms, arms of one size, and few authors that differ much.
SIZES = [
    (2076, 342, 0.014, 0.03),
    (600, 600, 0.02, 0.05),
    (1500, 1500, 0.05, 0.05),
    (200, 200, 0.05, 0.1),
    (60, 60, 0.05, 0.3),
]


def grown(rng: np.random.Generator, arm: Planted) -> tuple[Floats, Floats]:
    """Clicks and impressions by author, cumulated by day: authors come, come back, and leave."""
    start = rng.integers(0, DAYS, arm.authors)
    stay = rng.geometric(0.15, arm.authors)
    daily = rng.gamma(0.7, arm.messages / 0.7, arm.authors)
    day = np.arange(DAYS)
    there = (day >= start[:, None]) & (day < (start + stay)[:, None])
    shown = np.where(there, rng.poisson(daily[:, None], there.shape), 0)
    shown[np.arange(arm.authors), start] += 1
    clicked = rng.binomial(shown, likings(rng, arm)[:, None])
    clicks = clicked + rng.poisson(AGAIN * clicked)
    return clicks.cumsum(1).astype(np.float64), shown.cumsum(1).astype(np.float64)


def looks_of(arm: tuple[Floats, Floats], base: tuple[Floats, Floats]) -> list[Look]:
    """A look at the end of each day."""
    every: list[Look] = []
    for day in range(DAYS):
        rate, other = (rate_of(k[:, day], n[:, day]) for k, n in (arm, base))
        every.append(look_at(rate, other, every[-1] if every else None))
    return every


def outside(found: Look, truth: float) -> bool:
    """Whether an interval was told and misses the truth."""
    low, high = found["ratio"].get("low"), found["ratio"].get("high")
    return (low is not None and low > truth) or (high is not None and high < truth)


@pytest.mark.thorough
@all_cases(("arm", "base", "chance", "alike"), SIZES)
def test_arms_that_are_alike_raise_no_more_alarms_than_promised(
    arm: int, base: int, chance: float, alike: float
) -> None:
    """And who looks daily at the interval of one look is misled far more often."""
    rng = np.random.default_rng([97, arm, base])
    alarms, misled = 0, 0
    for _ in range(RUNS):
        data = (
            grown(rng, Planted(arm, 1, chance, alike)),
            grown(rng, Planted(base, 1, chance, alike)),
        )
        every = looks_of(*data)
        alarms += every[-1]["may_stop"]
        misled += any(_excludes_one(data, day) for day in range(4, DAYS))
    print(f"{arm}/{base}: alarms {alarms / RUNS:.4f}, single-look intervals {misled / RUNS:.3f}")
    assert alarms / RUNS <= 0.05
    assert misled > 2 * alarms


def _excludes_one(data: tuple[tuple[Floats, Floats], tuple[Floats, Floats]], day: int) -> bool:
    arm, other = (rate_of(clicks[:, day], shown[:, day]) for clicks, shown in data)
    if arm is None or other is None or other.value == 0:
        return False
    low, high = ratio_bounds(arm, other)
    return low > 1 or high < 1


@pytest.mark.thorough
@pytest.mark.parametrize(("ratio", "found_in"), [(2.0, 0.25), (5.4, 0.95)])
def test_a_planted_ratio_is_found_and_lies_within_at_all_looks(
    ratio: float, found_in: float
) -> None:
    """How often it is found is no promise; far less often than here would be a fault."""
    rng = np.random.default_rng(101)
    stopped, missed = 0, 0
    for _ in range(RUNS):
        arm = grown(rng, Planted(2076, 1, 0.014 * ratio, 0.03))
        every = looks_of(arm, grown(rng, Planted(342, 1, 0.014, 0.03)))
        stopped += every[-1]["may_stop"]
        missed += any(outside(look, ratio) for look in every)
    print(f"ratio {ratio}: stopped {stopped / RUNS:.3f}, ever outside {missed / RUNS:.4f}")
    assert missed / RUNS <= 0.05
    assert stopped / RUNS >= found_in


UNITS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30)), min_size=2, max_size=30)


@given(UNITS, UNITS)
def test_a_look_alarms_exactly_when_its_interval_excludes_one(
    arm: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    rate, base = (rate_of(*zip(*units, strict=True)) for units in (arm, other))
    found = look_at(rate, base, least=1, tightest_at=30)
    ratio = found["ratio"]
    if ratio["value"] is not None and abs(found["p"] - 0.05) > 1e-6:
        assert outside(found, 1.0) == found["may_stop"]
        low, high = ratio["low"], ratio["high"]
        assert (low or 0) <= ratio["value"] * (1 + 1e-9)
        assert ratio["value"] <= (inf if high is None else high) * (1 + 1e-9)
