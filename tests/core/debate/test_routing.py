"""When people are asked: a rule over flags and signals, and the share that is audited."""

import math
from typing import Any

import pytest

from labelhub.core.debate.routing import (
    FLAGS,
    MOST_AUDIT,
    InvalidRule,
    Rule,
    is_audited,
    read_rule,
    reasons,
)
from tests.cases import all_cases


def why(
    rule: Rule | None = None, *, flags: tuple[str, ...] = (), labelled: bool = True, **signals: Any
) -> tuple[str, ...]:
    return reasons(rule or Rule(), flags=flags, signals=signals, labelled=labelled)


@all_cases("flag", FLAGS)
def test_every_flag_goes_to_people_under_the_usual_rule(flag: str) -> None:
    assert why(flags=(flag,)) == (flag,)
    assert why(read_rule({"flags": []}), flags=(flag,)) == ()


@all_cases(
    ("signals", "found"),
    [
        ({}, ()),
        ({"d_rate": 0.5}, ("low_d_rate",)),
        ({"d_rate": 0.6}, ()),
        ({"judge_changes": 1}, ("judges_changed",)),
        ({"judge_changes": 0}, ()),
        ({"margin": 0.0, "entropy": 1.0, "uncertainty": 1.0, "first_d_rate": 0.0}, ()),
        ({"d_rate": None}, ()),
        ({"d_rate": True}, ()),
        ({"d_rate": "0"}, ()),
    ],
)
def test_signals_beyond_their_bounds_go_to_people(
    signals: dict[str, Any], found: tuple[str, ...]
) -> None:
    assert why(**signals) == found


def test_what_has_no_label_goes_to_people_whatever_the_rule_says() -> None:
    nothing = read_rule({"flags": [], "bounds": {}, "audit": 0})
    assert why(nothing, labelled=False) == ("unparsed",)
    assert why(nothing, flags=("tie", "injection"), labelled=False) == ("tie", "injection")
    assert why(nothing, flags=("tie",), labelled=True) == ()


def test_a_rule_is_read_back_as_it_was_written() -> None:
    rule = read_rule({"flags": ["tie"], "bounds": {"margin": 0.25}, "audit": 0.1})
    assert read_rule(rule.to_json()) == rule
    assert rule.to_json() == {"flags": ["tie"], "bounds": {"margin": 0.25}, "audit": 0.1}
    assert read_rule({}) == Rule()
    assert Rule().to_json()["bounds"] == {"d_rate": 0.5, "judge_changes": 1}


@all_cases(
    ("raw", "problem"),
    [
        ([], "must be an object"),
        ({"flag": []}, "'flag' is unknown"),
        ({"flags": "tie"}, "must be a list"),
        ({"flags": ["ties"]}, "there is no flag 'ties'; the flags are: unparsed"),
        ({"flags": [["tie"]]}, "there is no flag"),
        ({"bounds": []}, "must map signals"),
        ({"bounds": {"speed": 1}}, "there is no signal 'speed'; the signals are: d_rate"),
        ({"bounds": {"d_rate": 2}}, "'d_rate' must be a number from 0 to 1"),
        ({"bounds": {"d_rate": True}}, "'d_rate' must be a number"),
        ({"bounds": {"d_rate": math.nan}}, "'d_rate' must be a number"),
        ({"bounds": {"rounds_needed": 6}}, "from 0 to 5"),
        ({"audit": -0.1}, "'audit' must be a number from 0 to 0.5"),
        ({"audit": "1"}, "'audit' must be a number"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_in_words(raw: Any, problem: str) -> None:
    with pytest.raises(InvalidRule, match=problem):
        read_rule(raw)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.2, MOST_AUDIT])
def test_about_the_wanted_share_is_audited_always_the_same_items(share: float) -> None:
    rule = Rule(audit=share)
    chosen = [is_audited(rule, str(key), "salt") for key in range(5000)]
    assert chosen == [is_audited(rule, str(key), "salt") for key in range(5000)]
    assert abs(sum(chosen) / 5000 - share) < 0.02
    wider = [is_audited(Rule(audit=MOST_AUDIT), str(key), "salt") for key in range(5000)]
    assert all(more for some, more in zip(chosen, wider, strict=True) if some)
