"""Courtroom against canned replies: hearing, arguments with precedents, deliberation, verdict."""

from typing import Any

import pytest

from labelhub.core.debate import protocol
from labelhub.core.debate.outcome import DebateItem, Precedent
from labelhub.core.llm.types import Reply
from tests.cases import all_cases
from tests.core.debate.canned import (
    FAILED,
    REFUSED,
    TEXT,
    UNREAD,
    Played,
    Said,
    fenced,
    played,
    says,
)

HEARING = "First choice: Dovish\nSecond choice: Neutral"
SAID: dict[str, str | Reply] = {
    "clerk": HEARING,
    "prosecutor": 'It says "cold".',
    "defence": 'It is "high".',
    "reporter": "Its words are soft.",
    "judge": f"The first.\n{says('Dovish')}",
}
SIDES = ['It says "cold".', 'It is "high".']


def precedents(*labels: str, each: int = 4) -> tuple[Precedent, ...]:
    return tuple(
        Precedent(f"{label}{at}", label, f"{label} text {at}", 1 - at / 10)
        for label in labels
        for at in range(1, each + 1)
    )


def tried(
    said: Said | None = None,
    *,
    item: DebateItem | None = None,
    asked: Any = None,
    **given: Any,
) -> Played:
    where = {} if asked is None else {"asked": asked}
    given = {"speaks_first": "prosecution", **given}
    return played("courtroom", {**SAID, **(said or {})}, item=item, given=given, **where)


def test_a_hearing_then_both_sides_then_one_judge_after_the_other() -> None:
    debate = tried()
    assert debate.steps == [
        ["clerk"],
        ["prosecutor", "defence"],
        ["judge/1"],
        ["judge/2"],
        ["judge/3"],
    ]
    assert {call.params["temperature"] for calls in debate.asked for call in calls} == {0.5}
    outputs = ["ranking", "argument", "argument", "decision", "decision", "decision"]
    assert [call.output for calls in debate.asked for call in calls] == outputs


@all_cases("judges", [1, 3, 5])
@all_cases("deliberation", ["parallel", "sequential"])
def test_as_many_calls_as_the_table_says(judges: int, deliberation: str) -> None:
    debate = tried(judges=judges, deliberation=deliberation)
    names = [f"judge/{at}" for at in range(1, judges + 1)]
    parallel = deliberation == "parallel"
    assert debate.steps[2:] == ([names] if parallel else [[name] for name in names])
    count = protocol("courtroom").calls({"judges": judges, "deliberation": deliberation})
    assert count.most == sum(map(len, debate.steps)) == 3 + judges
    assert count.depth_most == len(debate.steps) == (3 if parallel else 2 + judges)
    assert [debate.call(name).sample for name in names] == list(range(1, judges + 1))
    assert debate.call("judge/1").params == {
        "temperature": 0.5, "logprobs": True,
    }  # fmt: skip


@pytest.mark.thorough
def test_the_order_of_the_sides_is_set_or_settled_by_the_item() -> None:
    def first(key: str, order: str) -> str:
        debate = tried(item=DebateItem(key, TEXT), speaks_first=order, judges=1)
        argument = debate.call("judge/1").inputs["arguments"][0]
        assert debate.outcome.signals["heard_first"] == argument["side"]
        assert fenced(debate.read("judge/1"))[1] == argument["text"]
        return str(argument["side"])

    assert first("1", "prosecution") == "prosecution"
    assert first("1", "defence") == "defence"
    tossed = [first(str(key), "by item") for key in range(400)]
    assert tossed == [first(str(key), "by item") for key in range(400)]
    assert 160 < tossed.count("defence") < 240


@all_cases("most", [0, 1, 2, 3])
@all_cases(
    ("wanted", "labels"),
    [("all", ["Dovish", "Hawkish", "Neutral"]), ("candidates", ["Dovish", "Neutral"])],
)
def test_judges_read_the_nearest_precedents_with_their_reasons(
    most: int, wanted: str, labels: list[str]
) -> None:
    item = DebateItem("1", TEXT, precedents=precedents("Dovish", "Hawkish", "Neutral"))
    debate = tried(item=item, precedents=most, precedents_for=wanted, judges=1)
    texts = [f"{label} text {at}" for label in labels for at in range(1, most + 1)]
    reasons = [f"precedent/{at}" for at in range(1, len(texts) + 1)]
    assert debate.steps[1] == ["prosecutor", "defence", *reasons]
    pairs = [part for text in texts for part in (text, "Its words are soft.")]
    assert fenced(debate.read("judge/1")) == [TEXT, *pairs, *SIDES]
    assert debate.read("judge/1").count("\nIts label:\n") == len(texts)
    assert ("reporter" in protocol("courtroom").roles(given(precedents=most))) == bool(most)


def given(**settings: Any) -> dict[str, Any]:
    return protocol("courtroom").read_settings(settings)


@all_cases(
    ("verdicts", "value", "flags", "uncertainty"),
    [
        (["Dovish"] * 3, "Dovish", (), 0.0),
        (["Neutral"] * 3, "Neutral", ("overturned",), 0.5),
        (["Hawkish"] * 3, "Hawkish", ("overturned", "outside"), 0.5),
        (["Dovish", "Dovish", "Neutral"], "Dovish", ("judges_differ",), 0.3334),
        (["Dovish", "Hawkish", "Neutral"], None, ("tie", "judges_differ"), 1.0),
        (["Dovish", UNREAD, "Dovish"], "Dovish", ("unparsed", "judges_differ"), 0.3334),
        (["Dovish", UNREAD, REFUSED], "Dovish",
         ("unparsed", "refused", "no_majority", "judges_differ"), 0.5),
        ([UNREAD] * 3, None, ("unparsed", "judges_differ"), 1.0),
        (["Dovish", FAILED, "Dovish"], "Dovish", ("failed", "judges_differ"), 0.3334),
    ],
)  # fmt: skip
def test_side_by_side_the_majority_decides(
    verdicts: list[str | Reply], value: str | None, flags: tuple[str, ...], uncertainty: float
) -> None:
    outcome = tried(judged(verdicts), deliberation="parallel").outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == (value, flags, uncertainty)
    assert not outcome.failed


@all_cases(
    ("verdicts", "value", "flags", "changes"),
    [
        (["Dovish"] * 3, "Dovish", (), 0),
        (["Dovish", "Dovish", "Neutral"], "Neutral", ("judges_differ", "overturned"), 1),
        (["Neutral", "Hawkish", "Dovish"], "Dovish", ("judges_differ",), 2),
        (["Dovish", UNREAD, "Neutral"], "Neutral", ("unparsed", "judges_differ", "overturned"), 1),
        (["Dovish", "Dovish", UNREAD], None, ("unparsed", "judges_differ"), 0),
        (["Dovish", "Dovish", REFUSED], None, ("refused", "judges_differ"), 0),
    ],
)
def test_one_after_the_other_the_last_decides(
    verdicts: list[str | Reply], value: str | None, flags: tuple[str, ...], changes: int
) -> None:
    outcome = tried(judged(verdicts)).outcome
    assert (outcome.value, outcome.flags) == (value, flags)
    assert outcome.signals["judge_changes"] == changes
    assert not outcome.failed


def judged(verdicts: list[str | Reply]) -> dict[str, str | Reply]:
    return {
        f"judge/{at}": says(verdict) if isinstance(verdict, str) else verdict
        for at, verdict in enumerate(verdicts, start=1)
    }


@pytest.mark.parametrize("reply", [FAILED, REFUSED, UNREAD])
def test_without_a_hearing_there_is_no_trial(reply: Reply) -> None:
    debate = tried({"clerk": reply})
    assert debate.steps == [["clerk"]]
    assert (debate.outcome.value, debate.outcome.flags) == (None, (str(reply.status),))
    assert debate.outcome.failed == (reply is FAILED)


@all_cases("role", ["prosecutor", "defence"])
@all_cases("said", [FAILED, REFUSED, " "])
def test_there_is_no_trial_where_a_side_is_not_heard(role: str, said: str | Reply) -> None:
    debate = tried({role: said})
    assert len(debate.steps) == 2
    assert (debate.outcome.value, debate.outcome.failed) == (None, said is FAILED)
    assert debate.outcome.flags
    assert debate.outcome.signals["first"] == "Dovish"
