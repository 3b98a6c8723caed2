"""Courtroom against canned replies: hearing, arguments with precedents, deliberation, verdict."""

from typing import Any

import pytest

from labelhub.core.debate import protocol
from labelhub.core.debate.outcome import DebateItem, Precedent
from labelhub.core.llm.types import Reply
from labelhub.core.schema import TASKS, parse_schema, schema_from_names
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


def test_each_side_is_given_its_claim_and_hears_nobody() -> None:
    debate = tried()
    for role, claim in (("prosecutor", "Dovish"), ("defence", "Neutral")):
        assert f"You argue that the right answer is:\n{claim}\n" in debate.read(role)
        assert fenced(debate.read(role)) == [TEXT]
        assert debate.call(role).params == {"temperature": 0.5, "max_tokens": 300}


def test_parallel_judges_hear_the_sides_and_no_opinions() -> None:
    debate = tried(deliberation="parallel")
    for number in (1, 2, 3):
        assert fenced(debate.read(f"judge/{number}")) == [TEXT, *SIDES]
        assert debate.call(f"judge/{number}").inputs["opinions"] == []
        assert "judges before you" not in debate.read(f"judge/{number}")
        assert "precedent" not in debate.read(f"judge/{number}").casefold()


def test_a_later_judge_hears_exactly_those_before() -> None:
    said = {f"judge/{at}": f"Opinion {at}.\n{says('Dovish')}" for at in range(1, 6)}
    debate = tried({**said, "judge/2": REFUSED, "judge/3": UNREAD}, judges=5)
    heard = [fenced(debate.read(f"judge/{at}"))[3:] for at in range(1, 6)]
    first, third, fourth = said["judge/1"], UNREAD.text, said["judge/4"]
    assert heard == [[], [first], [first], [first, third], [first, third, fourth]]
    assert "Judge 3:" in debate.read("judge/4")
    assert "Judge 2:" not in debate.read("judge/4")


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


def test_arguments_are_read_at_about_the_same_length() -> None:
    long = "It says that rates are to stay. " * 40
    debate = tried({"prosecutor": long, "defence": "It says so. And it says why. That is all."})
    one, other = fenced(debate.read("judge/1"))[1:3]
    assert len(one) <= 1.25 * len(other)
    assert one.endswith(".")
    signals = debate.outcome.signals
    assert (signals["lengths"], signals["lengths_read"]) == (
        [len(long.strip()), len(other)],
        [len(one), len(other)],
    )


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


def test_the_reason_of_a_precedent_is_the_same_question_wherever_it_is_used() -> None:
    def asked(key: str, text: str) -> Any:
        item = DebateItem(key, text, precedents=precedents("Dovish", each=1))
        return tried(item=item, precedents=1).call("precedent/1")

    one, other = asked("1", TEXT), asked("2", "Something else.")
    assert one.messages == other.messages
    assert one.once
    assert one.params == {"temperature": 0}
    assert TEXT not in one.messages[1].content
    assert "Its verified label is:\nDovish\n" in one.messages[1].content


@pytest.mark.parametrize("reply", [FAILED, REFUSED])
def test_a_precedent_stands_without_a_reason_too(reply: Reply) -> None:
    item = DebateItem("1", TEXT, precedents=precedents("Dovish", each=1))
    debate = tried({"reporter": reply}, item=item, precedents=1, judges=1)
    assert fenced(debate.read("judge/1")) == [TEXT, "Dovish text 1", *SIDES]
    assert "Because:" not in debate.read("judge/1")
    assert (debate.outcome.value, debate.outcome.failed) == ("Dovish", False)
    assert str(reply.status) in debate.outcome.flags


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


def test_a_failed_judge_ends_the_sequence_to_be_tried_again() -> None:
    debate = tried(judged(["Dovish", FAILED, "Dovish"]))
    assert debate.steps[2:] == [["judge/1"], ["judge/2"]]
    assert (debate.outcome.value, debate.outcome.failed) == (None, True)


def test_side_by_side_a_quorum_is_needed() -> None:
    outcome = tried(judged(["Dovish", FAILED, FAILED]), deliberation="parallel").outcome
    assert (outcome.value, outcome.evidence, outcome.failed) == (None, {}, True)
    assert outcome.uncertainty == 1.0


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


def test_what_is_told_of_a_trial() -> None:
    outcome = tried(judged(["Dovish", "Neutral", "Dovish"])).outcome
    assert outcome.signals["candidates"] == ["Dovish", "Neutral"]
    assert outcome.signals["second_by"] == "ranking"
    assert outcome.signals["verdicts"] == ["Dovish", "Neutral", "Dovish"]
    assert outcome.signals["first"] == "Dovish"
    assert outcome.signals["d_rate"] == 0.3333
    assert outcome.signals["precedents"] == 0


def test_points_of_a_scale_are_argued_for_by_name() -> None:
    scale = schema_from_names("ordinal", ["poor", "fair", "good"])
    said = {"clerk": "First choice: good\nSecond choice: fair", "judge": says("good")}
    item = DebateItem("1", TEXT, precedents=precedents("poor", "good", each=1))
    debate = tried(said, asked=scale, item=item, precedents=1, precedents_for="candidates")
    assert "You argue that the right answer is:\ngood\n" in debate.read("prosecutor")
    assert "The defence argues for this answer:\nfair\n" in debate.read("judge/1")
    assert debate.steps[1] == ["prosecutor", "defence", "precedent/1"]
    assert "\nIts label:\ngood\n" in debate.read("judge/1")
    assert (debate.outcome.value, debate.outcome.signals["candidates"]) == (3, [3, 2])


def test_choices_that_come_with_the_text_are_fenced_claims() -> None:
    item = DebateItem("1", TEXT, options=("the cook", "the guest"))
    said = {"clerk": "First choice: the cook\nSecond choice: the guest", "judge": says("the guest")}
    debate = tried(said, asked=parse_schema({"task": "per_item"}), item=item)
    assert fenced(debate.read("prosecutor"))[-1] == "the cook"
    assert fenced(debate.read("judge/1"))[2:] == ["the cook", SIDES[0], "the guest", SIDES[1]]
    assert debate.outcome.value == "the guest"


@pytest.mark.parametrize("task", ["multi", "text"])
def test_it_is_not_for_answers_that_are_too_many_to_argue_for(task: str) -> None:
    info = protocol("courtroom")
    assert TASKS[task] not in info.tasks
    assert info.not_for.endswith("Use ecj there, or for sets of labels discussion.")
