"""Echo's way to rank and those it is measured against: one form, and each as plain as it says."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending import matching, policies
from labelhub.core.echo.recommending.matching import ItemIndex, Match, OfferContext
from labelhub.core.echo.recommending.policies import (
    ECHO,
    KEYWORD,
    NOTHING,
    POLICIES,
    RANDOM,
    OfferDecision,
    OfferHistory,
    OfferRule,
    Why,
    decide,
    rule_of,
)
from tests.cases import all_cases
from tests.core.echo.recommending.wares import demo_index, ids, ware

RULE = OfferRule(least_match=0.3, least_topic=0.1, exploring=0.0)
NEW = OfferHistory()
GOOD, SECOND = Match(ware("a"), 0.5, 0.4), Match(ware("b"), 0.4, 0.3)
WEAK, ASIDE = Match(ware("c"), 0.2, 0.2), Match(ware("d"), 0.9, 0.0)


def decided(
    *matches: Match, rule: OfferRule = RULE, history: OfferHistory = NEW, **more: Any
) -> OfferDecision:
    given = {"draw": 0.5} | more
    return decide(rule, matches, history, **given)


@all_cases(
    ("matches", "more", "why"),
    [
        ((GOOD,), {"history": OfferHistory(messages_since=3)}, Why.TOO_FEW_MESSAGES),
        (
            (GOOD,),
            {"history": OfferHistory(messages_since=4, seconds_since=119.0)},
            Why.TOO_SOON,
        ),
        ((GOOD,), {"history": OfferHistory(messages_since=4, seconds_since=-5.0)}, Why.TOO_SOON),
        ((), {}, Why.NO_MATCH),
        ((WEAK,), {}, Why.WEAK_MATCH),
        ((ASIDE,), {}, Why.OFF_TOPIC),
    ],
)
def test_what_forbids(matches: tuple[Match, ...], more: dict[str, Any], why: Why) -> None:
    found = decided(*matches, **more)
    assert (found.match, found.why, found.propensity) == (None, why, 1.0)


@given(st.lists(st.sampled_from([GOOD, SECOND, WEAK, ASIDE]), unique_by=id), st.floats(0, 0.5))
def test_propensities_are_the_shares_of_draws(matches: list[Match], exploring: float) -> None:
    rule = replace(RULE, exploring=exploring)
    draws = [(step + 0.5) / 400 for step in range(400)]
    found = [decided(*matches, rule=rule, draw=draw) for draw in draws]
    counts = Counter(decision.match.item.id if decision.match else "" for decision in found)
    for decision in found:
        share = counts[decision.match.item.id if decision.match else ""] / len(draws)
        assert decision.propensity == pytest.approx(share, abs=0.006)
        assert decision.propensity > 0
        if decision.match:
            assert decision.item_propensities[decision.match.item.id] == decision.propensity


INDEX = ItemIndex(
    [
        ware("kettle", "For a tent and a warm lamp."),
        ware("warm lamp", tags="light"),
        ware("lamp", attributes="level=expert"),
    ]
)


@pytest.mark.parametrize("name", POLICIES)
def test_all_policies_keep_to_count_and_exclusions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (matching, policies):
        monkeypatch.setattr(module, "MOST", 2)
    everything = [item.id for item in demo_index().items]
    text = "tent lamp kettle backpack blanket"
    for draw in (0.0, 0.5, 0.999):
        moment = OfferContext(message_text=text, exclude=everything[:40], draw=draw)
        found = POLICIES[name](demo_index(), moment)
        assert len(found) <= 2
        assert not set(ids(found)) & set(everything[:40])
        assert found == POLICIES[name](demo_index(), moment)
        assert (
            POLICIES[name](demo_index(), OfferContext(message_text=text, exclude=everything)) == []
        )
        assert POLICIES[name](ItemIndex([]), moment) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (ECHO, Why.GOOD_MATCH),
        (KEYWORD, Why.GOOD_MATCH),
        (RANDOM, Why.GOOD_MATCH),
        (NOTHING, Why.NO_MATCH),
    ],
)
def test_each_is_decided_on_its_own_scale_under_the_same_caps(name: str, why: Why) -> None:
    rule = rule_of(name, OfferRule(exploring=0.0))
    moment = OfferContext(message_text="a warm lamp", draw=0.4)
    matches = POLICIES[name](INDEX, moment)
    found = decide(rule, matches, OfferHistory(), draw=0.5)
    assert found.why is why
    held = OfferHistory(messages_since=1)
    found = decide(rule, matches, held, draw=0.5)
    assert found.why is Why.TOO_FEW_MESSAGES
    if name == RANDOM:
        assert matches[0].propensity == pytest.approx(1 / 3)
