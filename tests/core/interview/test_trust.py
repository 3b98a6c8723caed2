"""Many small signs make an author's answers doubtful; no single one does."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.trust import (
    SIGNS,
    STRONG,
    TrustEvidence,
    elicits,
    judge_trust,
)
from tests.cases import all_cases

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HONEST = TrustEvidence(
    answers=20,
    early_attempts=1,
    positions=(0, 2, 1, 3, 3, 0, 1, 2, 2, 1, 0, 3, 1, 2, 0, 3, 2, 0, 1, 1),
    nofit=2,
    skips=4,
    reask_agreed=5,
    reask_total=6,
    answers_per_hour=4,
    messages_per_minute=5,
    median_over_ms=2_300,
    messages=60,
    duplicate_share=0.1,
    machine_like_share=0.02,
    countries=((NOW, "DE"), (NOW + timedelta(hours=9), "FR")),
    surveys=20,
    eliciting=2,
    network_authors=3,
)
#: For each sign the evidence at its worst, all else honest.
WORST: dict[str, dict[str, Any]] = {
    "early": {"early_attempts": 500},
    "instant": {"median_over_ms": -250},
    "steady": {"late_over_ms": 20},
    "guessing": {"expected_agreed": 10, "expected_total": 60, "usual_agreement": 0.7},
    "same_position": {"positions": (1,) * 200},
    "inconsistent": {"reask_agreed": 0, "reask_total": 100},
    "abstaining": {"answers": 500, "early_attempts": 0, "nofit": 0, "skips": 0},
    "many_answers": {"answers_per_hour": 10_000},
    "flood": {"messages_per_minute": 10_000},
    "repeating": {"duplicate_share": 1.0},
    "machine_like": {"machine_like_share": 1.0},
    "eliciting": {"surveys": 500, "eliciting": 500},
    "travel": {
        "countries": tuple((NOW + timedelta(minutes=n), ("US", "VN")[n % 2]) for n in range(50))
    },
    "crowded_network": {"network_authors": 10_000},
}
STRONG_SIGNS = [name for name, sign in SIGNS.items() if sign.most == STRONG]


@all_cases("verified", [True, False])
@all_cases(("first", "other"), [*combinations(STRONG_SIGNS, 2)])
def test_two_strong_signs_do(first: str, other: str, verified: bool) -> None:
    if {first, other} == {"early", "steady"}:
        pytest.skip("the first explains half of the other")
    found = judge_trust(replace(HONEST, **WORST[first], **WORST[other], verified=verified))
    assert found.low
    assert {signal.name for signal in found.signals} == {first, other}


@all_cases(
    "changed",
    [
        {"answers": 2, "early_attempts": 5},
        {"positions": (1,) * 4},
        {"answers": 0, "early_attempts": 0, "nofit": 4, "skips": 5},
        {"answers": 40, "nofit": 0, "skips": 0},
        {"reask_agreed": 0, "reask_total": 3},
        {"answers": 7, "early_attempts": 0, "median_over_ms": 0},
        {"messages": 7, "duplicate_share": 1.0, "machine_like_share": 1.0},
        {"surveys": 4, "eliciting": 4},
        {"countries": ((NOW, "US"), (NOW + timedelta(minutes=61), "DE"))},
        {"countries": ((NOW, "XX"), (NOW, "DE"), (NOW, "T1"), (NOW, ""))},
    ],
)
def test_too_little_to_go_by_says_nothing(changed: dict[str, Any]) -> None:
    assert judge_trust(replace(HONEST, **changed)).signals == ()


EVIDENCE = st.builds(
    TrustEvidence,
    answers=st.integers(0, 200),
    early_attempts=st.integers(0, 100),
    positions=st.lists(st.integers(0, 3), max_size=60).map(tuple),
    nofit=st.integers(0, 20),
    skips=st.integers(0, 20),
    reask_agreed=st.integers(0, 10),
    reask_total=st.integers(10, 20),
    answers_per_hour=st.floats(0, 100),
    messages_per_minute=st.floats(0, 100),
    median_over_ms=st.none() | st.floats(-250, 5_000),
    late_over_ms=st.none() | st.floats(-250, 5_000),
    expected_agreed=st.integers(0, 40),
    expected_total=st.integers(40, 80),
    usual_agreement=st.none() | st.floats(0, 1),
    messages=st.integers(0, 100),
    duplicate_share=st.floats(0, 1),
    machine_like_share=st.floats(0, 1),
    surveys=st.integers(30, 60),
    eliciting=st.integers(0, 30),
    network_authors=st.integers(0, 100),
    verified=st.booleans(),
)


@given(EVIDENCE)
def test_the_verdict_is_the_same_each_time_and_never_rests_on_one_sign(
    evidence: TrustEvidence,
) -> None:
    found = judge_trust(evidence)
    assert found == judge_trust(replace(evidence))
    assert 0 <= found.score <= 1
    assert found.low == (found.score < 0.5)
    assert not (found.low and len(found.signals) < 2)
    assert all(0 < signal.strength <= 1 and signal.detail for signal in found.signals)


@given(
    EVIDENCE,
    st.sampled_from(
        [
            *("early_attempts", "answers_per_hour", "messages_per_minute", "duplicate_share"),
            *("machine_like_share", "eliciting", "network_authors"),
        ]
    ),
    st.integers(1, 20),
)
def test_more_of_what_speaks_against_an_author_never_raises_trust(
    evidence: TrustEvidence, field: str, more: int
) -> None:
    value = getattr(evidence, field)
    worse = min(1.0, value + more / 20) if field.endswith("share") else value + more
    changed = {field: worse, "surveys": max(evidence.surveys, int(worse))}
    if field != "eliciting":
        changed["surveys"] = evidence.surveys
    assert judge_trust(replace(evidence, **changed)).score <= judge_trust(evidence).score


@given(EVIDENCE)
def test_another_broken_re_ask_or_another_answer_at_the_same_place_never_raises_trust(
    evidence: TrustEvidence,
) -> None:
    before = judge_trust(evidence).score
    broken = replace(evidence, reask_total=evidence.reask_total + 1)
    assert judge_trust(broken).score <= before
    places = evidence.positions
    favourite = max(range(4), key=places.count)
    assert judge_trust(replace(evidence, positions=(*places, favourite))).score <= before
    assert judge_trust(replace(evidence, verified=True)).score >= before


@all_cases(
    "wrong",
    [
        {"answers": -1},
        {"answers_per_hour": float("nan")},
        {"duplicate_share": 1.1},
        {"reask_agreed": 1},
        {"eliciting": 1},
        {"positions": (4,)},
        {"median_over_ms": float("inf")},
    ],
)
def test_counts_that_cannot_be_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        TrustEvidence(**wrong)


LONG = "I am looking for a quiet dishwasher that fits under a low kitchen worktop please"


@all_cases(
    ("text", "earlier", "sent_for_it"),
    [
        ("hi", [], True),
        ("hm ok", [LONG], True),
        (LONG, [], False),
        (LONG + "!", ["Hello there, friend", LONG], True),
        ("cheap flights to Rome", [LONG], False),
    ],
)
def test_a_message_is_taken_as_sent_for_a_survey_if_empty_or_said_before(
    text: str, earlier: list[str], sent_for_it: bool
) -> None:
    assert elicits(text, earlier) is sent_for_it
