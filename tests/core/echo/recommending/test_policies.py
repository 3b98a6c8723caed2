"""Echo's way to rank and those it is measured against: one form, and each as plain as it says."""

from collections import Counter

import pytest

from labelhub.core.echo.recommending.deciding import OfferHistory, OfferRule, Why, decide
from labelhub.core.echo.recommending.item_index import ItemIndex
from labelhub.core.echo.recommending.matching import match
from labelhub.core.echo.recommending.policies import (
    ECHO,
    KEYWORD,
    NOTHING,
    POLICIES,
    RANDOM,
    Moment,
    policy_of,
    rule_of,
)
from labelhub.core.errors import InvalidInput
from tests.core.echo.recommending.wares import demo_index, ids, says, ware

INDEX = ItemIndex(
    [
        ware("kettle", "For a tent and a warm lamp."),
        ware("warm lamp", tags="light"),
        ware("lamp", attributes="level=expert"),
    ]
)


def test_echo_is_the_matching() -> None:
    selected = [says("level", "expert")]
    moment = Moment(message_text="a lamp", selected=selected)
    assert policy_of(ECHO)(INDEX, moment) == match(INDEX, "a lamp", (), selected)


def test_keywords_count_words_in_title_and_tags_alone() -> None:
    moment = Moment(message_text="a warm lamp, a lamp with light", selected=[says("level", "x")])
    found = policy_of(KEYWORD)(INDEX, moment)
    assert [(each.item.id, each.score) for each in found] == [("warm lamp", 3.0), ("lamp", 1.0)]
    assert found[0].shared == ("warm", "lamp", "light")


def test_random_takes_each_item_equally_often() -> None:
    found = [
        policy_of(RANDOM)(INDEX, Moment(message_text="", draw=at / 300, exclude=["lamp"]))
        for at in range(300)
    ]
    assert Counter(each.item.id for (each,) in found) == {"kettle": 150, "warm lamp": 150}
    assert {each.propensity for (each,) in found} == {0.5}


def test_nothing_is_nothing() -> None:
    assert policy_of(NOTHING)(INDEX, Moment(message_text="lamp")) == []


@pytest.mark.parametrize("name", POLICIES)
def test_all_policies_keep_to_count_and_exclusions(name: str) -> None:
    everything = [item.id for item in demo_index().items]
    text = "tent lamp kettle backpack blanket"
    for draw in (0.0, 0.5, 0.999):
        moment = Moment(message_text=text, exclude=everything[:40], count=2, draw=draw)
        found = policy_of(name)(demo_index(), moment)
        assert len(found) <= 2
        assert not set(ids(found)) & set(everything[:40])
        assert found == policy_of(name)(demo_index(), moment)
        assert policy_of(name)(demo_index(), Moment(message_text=text, exclude=everything)) == []
        assert policy_of(name)(ItemIndex([]), moment) == []


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
    rule = rule_of(name, OfferRule(least_success=0.2, exploring=0.0))
    moment = Moment(message_text="a warm lamp", draw=0.4)
    matches = policy_of(name)(INDEX, moment)
    found = decide(rule, matches, OfferHistory(), success=0.5, sensitive=False, draw=0.5)
    assert found.why is why
    held = OfferHistory(messages_since=1)
    found = decide(rule, matches, held, success=0.5, sensitive=False, draw=0.5)
    assert found.why is Why.TOO_FEW_MESSAGES
    if name == RANDOM:
        assert matches[0].propensity == pytest.approx(1 / 3)


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="echo, keyword, random, nothing"):
        policy_of("luck")
    with pytest.raises(InvalidInput, match="draw"):
        Moment(message_text="", draw=1.0)
