"""What a promise takes, in numbers, against the statistics it rests on."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agreement.automation import promise
from apps.agreement.automation.pool import accepted_but_for_certainty
from apps.debates.selectors.rules import EndedDebate
from labelhub.core.agreement.risk_control import (
    audit_bound,
    choose_threshold,
    labels_needed,
    upper_bound,
)
from labelhub.core.debate import routing
from labelhub.core.debate.routing import Rule
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

DOUBTS = st.lists(st.integers(0, 10_000).map(lambda n: round(n / 10_000, 4)), min_size=1)


def test_the_sample_is_large_enough_for_the_hoped_share_and_two_stray_errors() -> None:
    size = promise.sample_size(0.05, 0.95, 0.5)
    assert size == math.ceil(labels_needed(0.05, 0.95, 2) / 0.5) == 248
    assert promise.start_errors(0.05, 0.95, 0.5, size) == 2


@given(DOUBTS)
def test_a_bound_accepts_by_the_test_just_what_it_accepts_by_the_rule(doubts: list[float]) -> None:
    bounds = promise.bounds_to_test(doubts)
    choice = promise.decide(doubts, [False] * len(doubts), bounds, (0.5, 0.5, 0))
    assert bounds == sorted(set(bounds))
    for bound, step in zip(bounds, choice.path, strict=True):
        rule = Rule(frozenset(), {"uncertainty": bound}, 0.0)
        passed = [
            not routing.reasons(rule, flags=(), signals={"uncertainty": doubt}, labelled=True)
            for doubt in doubts
        ]
        assert sum(passed) == step.accepted


@given(DOUBTS)
def test_the_bounds_can_be_stored_as_a_rule(doubts: list[float]) -> None:
    for bound in promise.bounds_to_test(doubts):
        raw = Rule(frozenset(), {"uncertainty": bound}).to_json()
        assert routing.read_rule(raw).bounds == {"uncertainty": bound}


def test_the_decision_is_that_of_fixed_sequence_testing() -> None:
    random = np.random.default_rng(5)
    doubts = [float(draw) for draw in np.round(random.random(400), 2)]
    wrong = [bool(draw) for draw in random.random(400) < np.array(doubts) / 4]
    bounds = promise.bounds_to_test(doubts)
    choice = promise.decide(doubts, wrong, bounds, (0.1, 0.95, 2))
    scores = [-doubt for doubt in doubts]
    thresholds = [math.nextafter(-bound, math.inf) for bound in bounds]
    direct = choose_threshold(scores, wrong, 0.1, thresholds, 0.95, start_errors=2)
    assert choice == direct
    assert choice.chosen is not None
    assert choice.chosen.bound == upper_bound(choice.chosen.errors, choice.chosen.accepted)


@pytest.mark.thorough
@all_cases(("target", "good"), [(0.05, 0), (0.05, 1000), (0.2, 300), (0.02, 2000)])
def test_a_doubled_error_is_noticed_after_about_so_many_audits(target: float, good: int) -> None:
    generator = np.random.default_rng(5)
    expected = promise.audits_to_notice(target, 0.95, good)
    rates = np.repeat([target / 2, 2 * target], [good, 4 * expected])
    audits = [audit_bound(generator.random(rates.size) < rates, target) for _ in range(40)]
    delays = [audit.broken_at - good for audit in audits if audit.broken_at]
    assert len(delays) == 40
    assert 0.65 * expected <= np.median(delays) <= expected


@pytest.mark.thorough
@given(st.floats(1e-6, 0.5), st.floats(0.5, 0.999), st.integers(0, 20_000))
def test_so_many_audits_are_known_at_once_for_each_promise(
    target: float, confidence: float, good: int
) -> None:
    soon = promise.audits_to_notice(target, confidence, 0)
    assert 0 < promise.audits_to_notice(target, confidence, good) <= 10 * soon + 100


@all_cases(
    ("confidence", "expected"),
    [
        (0.95, (5, 100)),
        (0.9, (10, 100)),
        (0.5, (50, 100)),
        (0.99, (1, 100)),
        (0.999, (1, 1000)),
        (0.975, (25, 1000)),
        (0.9321, (68, 1000)),
    ],
)
def test_the_confidence_counts_projects(confidence: float, expected: tuple[int, int]) -> None:
    missed, projects = promise.misses_among(confidence)
    assert (missed, projects) == expected
    assert missed / projects >= 1 - confidence - 1e-9


def test_two_labels_leave_a_tenth_of_the_reviewers_mistakes() -> None:
    """Of right answers: one label wrong; both alike, or they differ and the expert errs."""
    generator = np.random.default_rng(8)
    first, second, expert = generator.random((3, 200_000)) < 0.03
    counted = np.where(first == second, first, expert)
    assert promise.slips_counted(0.03, 1) == 0.03
    assert promise.slips_counted(0.03, 2) == pytest.approx(counted.mean(), rel=0.1)


def test_the_audit_notices_within_the_items_at_hand_within_limits() -> None:
    assert promise.audit_share(0.05, 0.95, 1_000_000, 0.0) == promise.LEAST_AUDIT
    assert promise.audit_share(0.05, 0.95, 100, 0.0) == promise.MOST_AUDIT
    assert promise.audit_share(0.05, 0.95, 100, 0.4) == 0.4
    assert promise.audit_share(0.05, 0.95, 5_000, 0.0) == pytest.approx(0.0618)


@all_cases(
    ("target", "confidence", "coverage"),
    [
        (0.0, 0.95, 0.5), (-0.1, 0.95, 0.5), (0.51, 0.95, 0.5), (math.nan, 0.95, 0.5),
        (math.inf, 0.95, 0.5), (0.05, 0.49, 0.5), (0.05, 1.0, 0.5), (0.05, math.nan, 0.5),
        (0.05, 0.95, 0.0), (0.05, 0.95, 2.0), (0.05, 0.95, math.nan),
    ],
)  # fmt: skip
def test_numbers_that_nothing_can_be_promised_by_are_refused(
    target: float, confidence: float, coverage: float
) -> None:
    with pytest.raises(InvalidInput, match="must be from"):
        promise.check_terms(promise.Terms(target, confidence, coverage))


@all_cases(
    ("status", "flags", "signals", "expected"),
    [
        ("done", (), {"uncertainty": 1.0}, True),
        ("done", ("tie",), {"uncertainty": 0.0}, False),
        ("done", (), {"uncertainty": 0.0, "d_rate": 0.2}, False),
        ("unparsed", (), {"uncertainty": 0.0}, False),
        ("failed", (), {"uncertainty": 0.0}, False),
    ],
)
def test_what_the_rule_sends_in_any_case_is_outside_the_promise(
    status: str, flags: tuple[str, ...], signals: dict[str, float], expected: bool
) -> None:
    ended = EndedDebate(1, 1, "a", status, "good", signals, flags, ())
    assert accepted_but_for_certainty(Rule(), ended) is expected
