"""What a policy would have earned: against planted truths, and refusals where the log is silent."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelhub.core.echo import off_policy
from labelhub.core.echo.off_policy import LoggedDecision, evaluate
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure
from tests.cases import all_cases

Floats = NDArray[np.float64]
ACTIONS, RUNS = 4, 1000
#: The logging policy does everything with at least this chance, as Echo's exploring share does.
EXPLORES = 0.1


def rows(n: int, weight: float = 1.0, reward: float = 0.0) -> list[LoggedDecision]:
    """Alike decisions, each of an author of its own."""
    return [LoggedDecision(0.5, 0.5 * weight, reward) for _ in range(n)]


def chances(scores: Floats, explores: float) -> Floats:
    """A softmax that explores."""
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    share: Floats = grown / grown.sum(axis=1, keepdims=True)
    return (1 - explores) * share + explores / ACTIONS


class Columns(NamedTuple):
    """A log; each of shape (decisions,)."""

    propensity: Floats
    candidate: Floats
    reward: Floats
    author: NDArray[np.int64]
    predicted: Floats
    expected: Floats


class World:
    """Five kinds of message; what each action earns for each, and two policies."""

    def __init__(self, rng: np.random.Generator, *, base: float, apart: float) -> None:
        self.rewards = np.minimum(base * np.exp(rng.normal(0, 0.6, (5, ACTIONS))), 0.4)
        scores = rng.normal(size=(5, ACTIONS))
        self.logging = chances(scores, EXPLORES)
        self.candidate = chances(scores + rng.normal(0, apart, (5, ACTIONS)), 0.02)
        self.model = self.rewards * np.exp(rng.normal(0, 0.4, (5, ACTIONS)))
        self.truth = float((self.candidate * self.rewards).sum(axis=1).mean())

    def log(self, rng: np.random.Generator, authors: int, alike: float) -> Columns:
        """Authors of unequal diligence, who click more or less than others."""
        messages = 1 + rng.poisson(rng.gamma(0.7, 4 / 0.7, authors))
        author = np.repeat(np.arange(authors), messages)
        # From half to one and a half times: no chance is cut off at 1, and the mean is 1.
        liking = np.where(rng.random(authors) < 0.5, 1 - alike, 1 + alike)[author]
        kind = rng.integers(5, size=len(author))
        draw = rng.random((len(author), 1))
        done = (self.logging[kind].cumsum(axis=1) < draw).sum(axis=1).clip(0, ACTIONS - 1)
        earned = rng.random(len(author)) < self.rewards[kind, done] * liking
        return Columns(
            self.logging[kind, done],
            self.candidate[kind, done],
            earned.astype(np.float64),
            author,
            self.model[kind, done],
            (self.candidate * self.model).sum(axis=1)[kind],
        )


def inside(found: Figure, truth: float) -> bool:
    """Whether the interval holds the truth."""
    low, high = found["low"], found["high"]
    return low is not None and high is not None and low <= truth <= high


@pytest.mark.thorough
@all_cases("alike", [0.0, 0.5])
@all_cases(("base", "apart"), [(0.05, 0.5), (0.05, 1.5), (0.15, 1.0)])
def test_intervals_hold_what_the_candidate_earns(base: float, apart: float, alike: float) -> None:
    rng = np.random.default_rng([41, int(base * 100), int(apart * 10), int(alike * 10)])
    world = World(rng, base=base, apart=apart)
    hits = np.zeros(3)
    sizes: list[float] = []
    for _ in range(RUNS):
        drawn = world.log(rng, 250, alike)
        # As columns: making thousands of rows a thousand times takes longer than all else.
        weight = drawn.candidate / drawn.propensity
        log = off_policy._Log(weight, drawn.reward, drawn.author, drawn.predicted, drawn.expected)
        sizes.append(float(weight.sum()) ** 2 / float((weight**2).sum()))
        hits += [inside(f, world.truth) for f in off_policy._estimates(log, sizes[-1])]
    print(f"base {base} apart {apart} alike {alike}: {hits / RUNS}, ESS {np.mean(sizes):.0f}")
    assert (hits / RUNS >= 0.93).all()
    assert (hits / RUNS <= 0.97).all()


def test_estimates_are_those_of_their_definitions() -> None:
    rng = np.random.default_rng(2)
    log = [
        LoggedDecision(0.25 + 0.5 * a, 0.5 * b + 0.2, float(c > 0.5), "", d, e)
        for a, b, c, d, e in rng.random((500, 5)).tolist()
    ]
    weights = np.array([row.candidate / row.propensity for row in log])
    rewards = np.array([row.reward for row in log])
    predicted, expected = (
        np.array([getattr(row, name) for row in log]) for name in ("predicted", "expected")
    )
    found = evaluate(log)

    assert found.ips["value"] == pytest.approx((weights * rewards).mean())
    assert found.snips["value"] == pytest.approx((weights * rewards).sum() / weights.sum())
    corrected = expected + weights * (rewards - predicted)
    assert found.doubly_robust["value"] == pytest.approx(corrected.mean())
    assert found.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_where_the_log_says_too_little_no_number_is_given() -> None:
    found = evaluate(rows(99, reward=1))
    for figure in (found.ips, found.snips, found.doubly_robust):
        assert figure["value"] is None
        assert "the effective sample size is 99; 100 are needed" in figure["reason"]
    assert "thin" in found.warning
    assert evaluate(rows(100, reward=1)).ips["value"] == 1


def test_thin_overlap_is_told_though_there_are_numbers() -> None:
    heavy = [*rows(3000, weight=0.01), *[LoggedDecision(0.001, 0.2, 0.0)] * 120]
    found = evaluate(heavy)
    assert found.ips["value"] is not None
    assert "Overlap is thin: 3120 messages have an effective sample size of" in found.warning
    thin = [*rows(2000), LoggedDecision(0.001, 0.12, 1.0)]
    assert "one message carries 6 % of all weight" in evaluate(thin).warning


@pytest.mark.thorough
@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 2, st.floats(-5, 5)), min_size=100, max_size=150))
def test_any_log_gives_finite_numbers_or_reasons(log: list[tuple[float, float, float]]) -> None:
    found = evaluate([LoggedDecision(*row, "", 0.1, 0.1) for row in log])
    for figure in (found.ips, found.snips, found.doubly_robust):
        if figure["value"] is None:
            assert figure["reason"]
        elif figure["low"] is None or figure["high"] is None:
            assert "all rewards are equal" in figure["doubt"]
        else:
            assert figure["low"] - 1e-9 <= figure["value"] <= figure["high"] + 1e-9


@all_cases(
    ("wrong", "field"),
    [
        (LoggedDecision(0.0, 0.5, 1), "propensity"),
        (LoggedDecision(-0.1, 0.5, 1), "propensity"),
        (LoggedDecision(1.01, 0.5, 1), "propensity"),
        (LoggedDecision(float("nan"), 0.5, 1), "propensity"),
        (LoggedDecision(0.5, 1.5, 1), "candidate"),
        (LoggedDecision(0.5, -0.5, 1), "candidate"),
        (LoggedDecision(0.5, 0.5, float("inf")), "reward"),
        (LoggedDecision(0.5, 0.5, 1, "", float("nan"), 0), "predicted"),
        (LoggedDecision(0.5, 0.5, 1, "", 0, float("inf")), "expected"),
    ],
)
def test_impossible_rows_are_refused_by_number(wrong: LoggedDecision, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: Row 3"):
        evaluate([*rows(2), wrong, *rows(2)])
