"""Rates of clustered events against planted truths, and what holds for any counts."""

from math import inf, isfinite, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.clusters import (
    Bounds,
    difference_bounds,
    mean_bounds,
    rate_of,
    ratio_bounds,
    share_bounds,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.echo.experiments.trials import AGAIN, Planted, rates

RUNS = 2000
BAND = (0.93, 0.97)
#: The paper's baseline and Echo: 1,711 and 10,378 impressions.
FEWER, MORE = 342, 2076

UNITS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=2, max_size=20)


def holds(bounds: Bounds, truth: float) -> bool:
    """Whether the truth lies within."""
    return bounds[0] <= truth <= bounds[1]


@given(UNITS)
def test_a_rate_lies_in_its_interval(units: list[tuple[int, int]]) -> None:
    events, exposure = zip(*units, strict=True)
    rate = rate_of(events, exposure)
    if sum(exposure) == 0:
        assert rate is None
        return
    assert rate is not None
    low, high = mean_bounds(rate)
    if rate.alone:
        assert not isfinite(low)
        return
    assert 0 <= low <= rate.value * (1 + 1e-9)
    assert rate.value <= high * (1 + 1e-9)
    assert high > low


@given(UNITS)
def test_a_share_lies_in_its_interval(units: list[tuple[int, int]]) -> None:
    part, whole = zip(*[(min(a, b), b) for a, b in units], strict=True)
    rate = rate_of(part, whole)
    if rate is None or rate.alone:
        return
    low, high = share_bounds(rate)
    assert 0 <= low <= rate.value + 1e-12
    assert rate.value - 1e-12 <= high <= 1


@given(UNITS, UNITS)
def test_turning_the_arms_turns_the_ratio_and_the_difference(
    arm: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    a, b = (rate_of(*zip(*units, strict=True)) for units in (arm, other))
    if a is None or b is None or a.alone or b.alone:
        return
    low, high = difference_bounds(a, b)
    assert difference_bounds(b, a) == pytest.approx((-high, -low))
    if a.value and b.value:
        low, high = ratio_bounds(a, b)
        assert low <= a.value / b.value <= high
        back = ratio_bounds(b, a)
        assert (1 / back[1] if back[1] else inf) == pytest.approx(low, rel=1e-6)


def test_of_one_author_nothing_is_told() -> None:
    alone, others = rate_of([3], [40]), rate_of([3, 2, 1], [40, 20, 7])
    assert alone is not None
    assert others is not None
    for bounds in (mean_bounds(alone), share_bounds(alone), ratio_bounds(alone, others)):
        assert not any(isfinite(end) for end in bounds)
    assert not any(isfinite(end) for end in difference_bounds(others, alone))


@all_cases(
    ("events", "exposure"),
    [([1], [1, 2]), ([-1], [1]), ([1], [-1]), ([nan], [1]), ([[1]], [[1]])],
)
def test_unusable_sums_are_refused(events: list[float], exposure: list[float]) -> None:
    with pytest.raises(InvalidInput):
        rate_of(events, exposure)


@pytest.mark.thorough
@all_cases("alike", [0.0, 0.1])
@all_cases("ratio", [1.0, 5.4])
@all_cases("base", [0.01, 0.014, 0.05])
def test_planted_rates_lie_in_their_intervals(base: float, ratio: float, alike: float) -> None:
    """Arms as large as the paper's; per click-through, share, ratio and difference."""
    seed = np.random.SeedSequence(entropy=71, spawn_key=(int(base * 1000), int(ratio * 10)))
    rng = np.random.default_rng(seed.spawn(11)[int(alike * 100)])
    control = rates(rng, Planted(FEWER, 5, base, alike), RUNS)
    arm = rates(rng, Planted(MORE, 5, base * ratio, alike), RUNS)
    mean = base * (1 + AGAIN)
    found = {
        "control": np.mean([holds(mean_bounds(clicks), mean) for clicks, _ in control]),
        "arm": np.mean([holds(mean_bounds(clicks), mean * ratio) for clicks, _ in arm]),
        "share": np.mean([holds(share_bounds(clicked), base) for _, clicked in control]),
        "ratio": np.mean(
            [holds(ratio_bounds(a[0], c[0]), ratio) for a, c in zip(arm, control, strict=True)]
        ),
        "difference": np.mean(
            [
                holds(difference_bounds(a[0], c[0]), mean * (ratio - 1))
                for a, c in zip(arm, control, strict=True)
            ]
        ),
    }
    print(f"base {base} ratio {ratio} alike {alike}: {found}")
    assert all(BAND[0] <= rate <= BAND[1] for rate in found.values()), found


@pytest.mark.thorough
@pytest.mark.parametrize(("authors", "messages"), [(100, 5.0), (40, 8.0)])
def test_in_small_arms_intervals_are_too_wide_and_never_too_narrow(
    authors: int, messages: float
) -> None:
    rng = np.random.default_rng(29)
    for base, ratio, alike in ((0.014, 1, 0.1), (0.01, 1.5, 0.03), (0.05, 3, 0.1)):
        control = rates(rng, Planted(authors, messages, base, alike), RUNS)
        arm = rates(rng, Planted(authors, messages, base * ratio, alike), RUNS)
        mean = base * (1 + AGAIN)
        inside = [holds(mean_bounds(clicks), mean) for clicks, _ in control]
        # Without clicks in the control there is no ratio, and nothing wrong is told.
        covered = [
            holds(ratio_bounds(a[0], c[0]), ratio)
            for a, c in zip(arm, control, strict=True)
            if c[0].value > 0
        ]
        print(
            f"{authors} authors, base {base}: {np.mean(inside):.3f}, ratio {np.mean(covered):.3f}"
        )
        assert min(np.mean(inside), np.mean(covered)) >= BAND[0]
