"""Courtroom against canned replies: hearing, arguments with precedents, deliberation, verdict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.debate.courtroom import TOLERANCE, cut_to_length, equalize_lengths
from labelhub.core.debate.judges import Candidates, choose_candidates
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, Value, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import (
    FAILED,
    REFUSED,
    STANCE,
    TEXT,
    UNREAD,
    Played,
    Replies,
    fenced,
    played,
    says,
)
from tests.growth import assert_linear_time

HEARING = "First choice: Dovish\nSecond choice: Neutral"
REPLIES: dict[str, str | Reply] = {
    "clerk": HEARING,
    "prosecutor": 'It says "cold".',
    "defence": 'It is "high".',
    "reporter": "Its words are soft.",
    "judge": f"The first.\n{says('Dovish')}",
}


def tried(
    replies: Replies | None = None,
    *,
    item: DebateItem | None = None,
    asked: Any = None,
    **given: Any,
) -> Played:
    where = {} if asked is None else {"asked": asked}
    given = {"speaks_first": "prosecution", **given}
    return played("courtroom", {**REPLIES, **(replies or {})}, item=item, given=given, **where)


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
        f"judge/{number}": says(verdict) if isinstance(verdict, str) else verdict
        for number, verdict in enumerate(verdicts, start=1)
    }


@pytest.mark.parametrize("reply", [FAILED, REFUSED, UNREAD])
def test_without_a_hearing_there_is_no_trial(reply: Reply) -> None:
    debate = tried({"clerk": reply})
    assert debate.steps == [["clerk"]]
    assert (debate.outcome.value, debate.outcome.flags) == (None, (str(reply.status),))
    assert debate.outcome.failed == (reply is FAILED)


@all_cases("role", ["prosecutor", "defence"])
@all_cases("reply", [FAILED, REFUSED, " "])
def test_there_is_no_trial_where_a_side_is_not_heard(role: str, reply: str | Reply) -> None:
    debate = tried({role: reply})
    assert len(debate.steps) == 2
    assert (debate.outcome.value, debate.outcome.failed) == (None, reply is FAILED)
    assert debate.outcome.flags
    assert debate.outcome.signals["first"] == "Dovish"


YES_NO = schema_from_names("single", ["Yes", "No"])
SCALE = schema_from_names("ordinal", ["poor", "fair", "good"])
CHOICES = parse_schema({"task": "per_item"})


def two(hearing: Reply, schema: Schema = STANCE, item: DebateItem | None = None) -> Candidates:
    assert hearing.value is not None
    return choose_candidates(hearing.value, hearing, item or DebateItem("1", "text"), schema)


@all_cases(
    ("hearing", "schema", "second", "how"),
    [
        (Reply(value="Dovish", ranking=("Dovish", "Neutral")), STANCE, "Neutral", "ranking"),
        (Reply(value="Dovish", ranking=("Dovish", "Dovish", "Hawkish")),
         STANCE, "Hawkish", "ranking"),
        (Reply(value="Yes", ranking=("Yes",)), YES_NO, "No", "only other"),
        (Reply(value="Yes"), YES_NO, "No", "only other"),
        (Reply(value="Dovish", probabilities={"Dovish": 0.6, "Neutral": 0.3, "Hawkish": 0.1}),
         STANCE, "Neutral", "probabilities"),
        (Reply(value="Dovish", probabilities={"Dovish": 0.2, "Hawkish": 0.1}),
         STANCE, "Hawkish", "probabilities"),
        (Reply(value=3, probabilities={"good": 0.6, "poor": 0.3}), SCALE, 1, "probabilities"),
        (Reply(value=3, ranking=(3, 2)), SCALE, 2, "ranking"),
    ],
)  # fmt: skip
def test_the_second_is_what_the_hearing_tells(
    hearing: Reply, schema: Schema, second: Value, how: str
) -> None:
    found = two(hearing, schema)
    assert (found.first, found.second, found.second_by) == (hearing.value, second, how)


def test_one_choice_is_argued_for_by_both() -> None:
    found = two(Reply(value="a"), CHOICES, DebateItem("1", "text", options=("a",)))
    assert (found.first, found.second) == ("a", "a")


@all_cases(
    ("text", "longest", "left"),
    [
        ("One. Two. Three.", 100, "One. Two. Three."),
        ("One. Two. Three.", 10, "One. Two."),
        ("One. Two. Three.", 9, "One. Two."),
        ("One. Two. Three.", 8, "One."),
        ("Onetwothree.", 5, "Onetw"),
        ("It costs 3.50 a piece. Fine.", 24, "It costs 3.50 a piece."),
        ('He said "no." She left. Then', 24, 'He said "no." She left.'),
        ("一。二。三。", 4, "一。二。"),
        ("First line\nsecond line", 15, "First line"),
        ("Really?! Yes… no", 14, "Really?! Yes…"),
        ("  spaced. ", 8, "spaced."),
        ("", 5, ""),
    ],
)
def test_whole_sentences_are_kept(text: str, longest: int, left: str) -> None:
    assert cut_to_length(text, longest) == left


TEXTS = st.lists(
    st.text(st.sampled_from('ab .!?。\n"'), max_size=12).map(lambda text: f"{text}. "), max_size=12
).map("".join)


@given(TEXTS, TEXTS, st.integers(1, 60))
def test_never_longer_than_allowed_nor_further_apart_than_before(
    first: str, other: str, longest: int
) -> None:
    left, right = equalize_lengths(first, other, longest)
    before = [len(cut_to_length(text, longest)) for text in (first, other)]
    assert max(len(left), len(right)) <= longest
    assert first.strip().startswith(left)
    assert other.strip().startswith(right)
    assert (right, left) == equalize_lengths(other, first, longest)
    assert abs(len(left) - len(right)) <= max(abs(before[0] - before[1]), 0) + 2
    if max(before) <= TOLERANCE * min(before):
        assert [len(left), len(right)] == before


@all_cases("seed", [".", "a", ". ", "。", "\n", '."'])
def test_a_long_text_is_cut_in_time(seed: str) -> None:
    assert_linear_time(lambda text: equalize_lengths(text, "Short.", 5000), seed, 12_500)
