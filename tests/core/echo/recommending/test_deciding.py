"""Whether to show anything: what forbids, what passes, and how likely each choice was."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.deciding import (
    Decision,
    OfferHistory,
    OfferRule,
    Why,
    decide,
    resting_items,
)
from labelhub.core.echo.recommending.matching import Match
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.echo.recommending.wares import ware

RULE = OfferRule(least_match=0.3, least_topic=0.1, least_success=0.02, exploring=0.0)
NEW = OfferHistory()
PATIENT = OfferHistory(messages_since=4, seconds_since=120.0, items={"a": 40})
GOOD, SECOND = Match(ware("a"), 0.5, 0.4), Match(ware("b"), 0.4, 0.3)
WEAK, ASIDE = Match(ware("c"), 0.2, 0.2), Match(ware("d"), 0.9, 0.0)


def decided(
    *matches: Match, rule: OfferRule = RULE, history: OfferHistory = NEW, **more: Any
) -> Decision:
    given = {"success": 0.5, "sensitive": False, "draw": 0.5} | more
    return decide(rule, matches, history, **given)


def test_the_best_is_shown() -> None:
    found = decided(GOOD, SECOND)
    assert (found.match, found.why, found.propensity) == (GOOD, Why.GOOD_MATCH, 1.0)
    assert found.show


@all_cases(
    ("matches", "more", "why"),
    [
        ((GOOD,), {"sensitive": True}, Why.SENSITIVE),
        ((GOOD,), {"history": OfferHistory(messages_since=3)}, Why.TOO_FEW_MESSAGES),
        (
            (GOOD,),
            {"history": OfferHistory(messages_since=4, seconds_since=119.0)},
            Why.TOO_SOON,
        ),
        ((GOOD,), {"history": OfferHistory(messages_since=4, seconds_since=-5.0)}, Why.TOO_SOON),
        ((), {}, Why.NO_MATCH),
        ((GOOD,), {"history": OfferHistory(items={"a": 39})}, Why.SHOWN_BEFORE),
        ((WEAK,), {}, Why.WEAK_MATCH),
        ((ASIDE,), {}, Why.OFF_TOPIC),
        ((GOOD,), {"success": 0.01}, Why.UNLIKELY),
    ],
)
def test_what_forbids(matches: tuple[Match, ...], more: dict[str, Any], why: Why) -> None:
    found = decided(*matches, **more)
    assert (found.match, found.why, found.propensity, found.show) == (None, why, 1.0, False)


def test_one_that_passes_is_taken_where_a_better_one_does_not() -> None:
    assert decided(ASIDE, GOOD).match is GOOD
    assert decided(GOOD, SECOND, history=OfferHistory(items={"a": 1})).match is SECOND
    assert decided(GOOD, history=PATIENT).match is GOOD


def test_which_items_rest() -> None:
    assert resting_items(RULE, OfferHistory(items={"a": 39, "b": 40})) == {"a"}


def test_exploring_draws_any_candidate_and_tells_how_likely_it_was() -> None:
    rule = replace(RULE, exploring=0.1)
    assert decided(WEAK, rule=rule, draw=0.1).why is Why.WEAK_MATCH
    assert decided(WEAK, rule=rule, draw=0.1).propensity == 0.9
    first, last = (decided(GOOD, WEAK, rule=rule, draw=draw) for draw in (0.04, 0.0999))
    assert (first.match, first.explored, first.why) == (GOOD, True, Why.EXPLORING)
    assert first.propensity == pytest.approx(0.95)
    assert last.match is WEAK
    assert last.propensity == pytest.approx(0.05)


@pytest.mark.parametrize("more", [{"sensitive": True}, {"history": OfferHistory(messages_since=1)}])
def test_exploring_passes_over_no_limit(more: dict[str, Any]) -> None:
    assert not decided(GOOD, rule=replace(RULE, exploring=0.5), draw=0.0, **more).show


@given(st.lists(st.sampled_from([GOOD, SECOND, WEAK, ASIDE]), unique_by=id), st.floats(0, 0.5))
def test_propensities_are_the_shares_of_draws(matches: list[Match], exploring: float) -> None:
    rule = replace(RULE, exploring=exploring)
    draws = [(at + 0.5) / 400 for at in range(400)]
    found = [decided(*matches, rule=rule, draw=draw) for draw in draws]
    counts = Counter(each.match.item.id if each.match else "" for each in found)
    for each in found:
        share = counts[each.match.item.id if each.match else ""] / len(draws)
        assert each.propensity == pytest.approx(share, abs=0.006)
        assert each.propensity > 0
        if each.match:
            assert each.item_propensities[each.match.item.id] == each.propensity


@pytest.mark.parametrize(
    "wrong",
    [{"draw": 1.0}, {"draw": -0.1}, {"draw": float("nan")}, {"success": 1.5}],
)
def test_numbers_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        decided(GOOD, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"least_match": -1}, {"exploring": 0.6}, {"every_messages": 0}, {"min_seconds": float("nan")}],
)
def test_rules_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        OfferRule(**wrong)
