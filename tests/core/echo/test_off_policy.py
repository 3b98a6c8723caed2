"""What a policy would have earned: against planted truths, and refusals where the log is silent."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelhub.core.echo.off_policy import Warn, evaluate
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure
from tests.cases import all_cases

Floats = NDArray[np.float64]
ACTIONS, RUNS = 4, 1000
#: The logging policy does everything with at least this chance, as Echo's exploring share does.
EXPLORES = 0.1
NAMES = ("ips", "snips")


def alike(n: int, weight: float = 1.0, reward: float = 0.0) -> tuple[list[float], ...]:
    """Propensities, candidates and rewards of alike decisions."""
    return [0.5] * n, [0.5 * weight] * n, [reward] * n


def of_strangers(*columns: Iterable[float]) -> dict[str, Any]:
    """Decisions of an author each."""
    propensity, candidate, reward = (list(column) for column in columns)
    return evaluate(propensity, candidate, reward, range(len(reward)))


def chances(scores: Floats, explores: float) -> Floats:
    """A softmax that explores."""
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    share: Floats = grown / grown.sum(axis=1, keepdims=True)
    return (1 - explores) * share + explores / ACTIONS


class Log(NamedTuple):
    """A log; each of shape (decisions,)."""

    propensity: Floats
    candidate: Floats
    reward: Floats
    author: NDArray[np.int64]


class World:
    """Five kinds of message; what each action earns for each, and two policies."""

    def __init__(self, rng: np.random.Generator, *, base: float, apart: float) -> None:
        self.rewards = np.minimum(base * np.exp(rng.normal(0, 0.6, (5, ACTIONS))), 0.4)
        scores = rng.normal(size=(5, ACTIONS))
        self.logging = chances(scores, EXPLORES)
        self.candidate = chances(scores + rng.normal(0, apart, (5, ACTIONS)), 0.02)
        self.truth = float((self.candidate * self.rewards).sum(axis=1).mean())

    def log(self, rng: np.random.Generator, alike: float, draws: int = 0) -> Log:
        """250 authors of unequal diligence, who click more or less than others.

        With ``draws`` the propensities are counted in so many draws, the decision being one.
        """
        messages = 1 + rng.poisson(rng.gamma(0.7, 4 / 0.7, 250))
        author = np.repeat(np.arange(250), messages)
        # From half to one and a half times: no chance is cut off at 1, and the mean is 1.
        liking = np.where(rng.random(250) < 0.5, 1 - alike, 1 + alike)[author]
        kind = rng.integers(5, size=len(author))
        draw = rng.random((len(author), 1))
        done = (self.logging[kind].cumsum(axis=1) < draw).sum(axis=1).clip(0, ACTIONS - 1)
        propensity = self.logging[kind, done]
        if draws:
            propensity = (1 + rng.binomial(draws - 1, propensity)) / draws
        earned = rng.random(len(author)) < self.rewards[kind, done] * liking
        return Log(propensity, self.candidate[kind, done], earned.astype(np.float64), author)


def inside(found: Figure, truth: float) -> bool:
    """Whether the interval holds the truth."""
    low, high = found["low"], found["high"]
    return low is not None and high is not None and low <= truth <= high


@pytest.mark.thorough
@all_cases("draws", [0, 200])
@all_cases("likeness", [0.0, 0.5])
@all_cases(("base", "apart"), [(0.05, 0.5), (0.05, 1.5), (0.15, 1.0)])
def test_intervals_hold_what_the_candidate_earns(
    base: float, apart: float, likeness: float, draws: int
) -> None:
    rng = np.random.default_rng([41, int(base * 100), int(apart * 10), int(likeness * 10)])
    world = World(rng, base=base, apart=apart)
    found = [evaluate(*world.log(rng, likeness, draws)) for _ in range(RUNS)]
    hits = [np.mean([inside(f[name], world.truth) for f in found]) for name in NAMES]
    sizes = np.mean([f["effective_sample_size"] for f in found])
    print(f"{base} apart {apart} alike {likeness} draws {draws}: {hits}, ESS {sizes:.0f}")
    assert min(hits) >= 0.93
    assert max(hits) <= 0.97


def test_counted_propensities_have_no_bias_if_the_decision_is_one_of_the_draws() -> None:
    """Ten actions of different probability, 200 draws; the candidate likes the rare ones."""
    rng = np.random.default_rng(7)
    logging = np.array([0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.04, 0.03])
    candidate = logging[::-1]
    rewards = np.linspace(0.1, 0.9, 10)
    done = rng.choice(10, size=200_000, p=logging)
    others = rng.binomial(199, logging[done])
    earned = (rng.random(len(done)) < rewards[done]).astype(np.float64)
    truth = float(candidate @ rewards)
    ips = evaluate((1 + others) / 200, candidate[done], earned, done)["ips"]["value"]
    assert ips == pytest.approx(truth, rel=0.02)
    seen = others > 0
    biased = evaluate(others[seen] / 199, candidate[done][seen], earned[seen], done[seen])["ips"]
    assert biased["value"] is not None
    assert biased["value"] > 1.1 * truth


def test_estimates_are_those_of_their_definitions() -> None:
    rng = np.random.default_rng(2)
    a, b, c = rng.random((3, 500))
    propensity, candidate, reward = 0.25 + 0.5 * a, 0.5 * b + 0.2, (c > 0.5).astype(float)
    weights = candidate / propensity
    found = of_strangers(propensity, candidate, reward)

    assert found["ips"]["value"] == pytest.approx((weights * reward).mean())
    assert found["snips"]["value"] == pytest.approx((weights * reward).sum() / weights.sum())
    assert found["effective_sample_size"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert found["capped"] == 0


def test_where_the_log_says_too_little_no_number_is_given() -> None:
    found = of_strangers(*alike(99, reward=1))
    assert found["ips"] == found["snips"] == {"value": None, "reason": "too few effective messages"}
    assert found["warning"] == Warn.THIN_OVERLAP
    assert of_strangers(*alike(100, reward=1))["ips"]["value"] == 1
    assert evaluate([], [], [], [])["warning"] == Warn.NO_OVERLAP
    assert of_strangers(*alike(200, weight=0))["warning"] == Warn.NO_OVERLAP


def test_thin_overlap_is_told_though_there_are_numbers_and_weights_are_bounded() -> None:
    rare = ([0.001] * 120, [0.2] * 120, [1.0] * 120)
    heavy = of_strangers(*(x + y for x, y in zip(alike(3000, weight=0.01), rare, strict=True)))
    assert heavy["snips"]["value"] is not None
    assert heavy["warning"] == Warn.THIN_OVERLAP
    assert heavy["max_weight"] == pytest.approx(200)
    assert heavy["capped"] == 120
    assert heavy["ips"]["value"] == pytest.approx(120 / 3120**0.5)
    single = of_strangers(*([*x, y] for x, y in zip(alike(2000), (0.001, 0.12, 1.0), strict=True)))
    assert single["warning"] == Warn.THIN_OVERLAP
    assert of_strangers([0.5, 0.25] * 500, [0.5] * 1000, [1] * 1000)["warning"] == Warn.MEAN_WEIGHT


@pytest.mark.thorough
@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 2, st.floats(0, 5)), min_size=100, max_size=150))
def test_any_log_gives_finite_numbers_or_reasons(log: list[tuple[float, float, float]]) -> None:
    found = of_strangers(*zip(*log, strict=True))
    for figure in (found["ips"], found["snips"]):
        if figure["value"] is None:
            assert figure["reason"]
        else:
            assert figure["low"] is not None
            assert figure["high"] is not None
            assert figure["low"] - 1e-9 <= figure["value"] <= figure["high"] + 1e-9


@all_cases(
    ("row", "field"),
    [
        ((0.0, 0.5, 1), "propensity"),
        ((-0.1, 0.5, 1), "propensity"),
        ((1.01, 0.5, 1), "propensity"),
        ((float("nan"), 0.5, 1), "propensity"),
        ((0.5, 1.5, 1), "candidate"),
        ((0.5, -0.5, 1), "candidate"),
        ((0.5, 0.5, float("inf")), "reward"),
        ((0.5, 0.5, -1), "reward"),
    ],
)
def test_impossible_rows_are_refused_by_number(row: tuple[float, ...], field: str) -> None:
    columns = [[*column, wrong] for column, wrong in zip(alike(2), row, strict=True)]
    with pytest.raises(InvalidInput, match=f"{field}: Row 3"):
        of_strangers(*columns)
