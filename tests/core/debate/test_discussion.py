"""Discussion against canned replies: annotate alone, read each other, annotate again, count."""

from collections.abc import Sequence

import pytest

from labelhub.core.debate import protocol
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema
from tests.core.debate.canned import FAILED, REFUSED, TEXT, UNREAD, Played, fenced, played, says

Turns = dict[str, str | Reply]


def discussed(*rounds: Sequence[str | Reply], **settings: int) -> Played:
    """A discussion of these rounds, each with the answers of A, B, C …"""
    said: Turns = {
        f"r{number}/{letter}": f"{letter}{number} reasons.\n{says(answer)}"
        if isinstance(answer, str)
        else answer
        for number, answers in enumerate(rounds)
        for letter, answer in zip("ABCDEFGHI", answers, strict=False)
    }
    return played("discussion", said, given={"annotators": len(rounds[0]), **settings})


def words(letter: str, number: int, answer: str) -> str:
    return f"{letter}{number} reasons.\nFinal Decision: {answer}"


SPLIT = ["Dovish", "Hawkish", "Dovish"]


def test_who_agrees_at_once_has_nothing_to_discuss() -> None:
    debate = discussed(["Dovish"] * 3)
    assert debate.steps == [["r0/A", "r0/B", "r0/C"]]
    outcome = debate.outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == ("Dovish", (), 0.0)
    assert outcome.signals["rounds_needed"] == 0
    assert outcome.signals["rounds"] == [dict.fromkeys("ABC", "Dovish")]


def test_the_first_round_knows_of_no_other() -> None:
    debate = discussed(["Dovish"] * 3)
    for letter in "ABC":
        call = debate.call(f"r0/{letter}")
        assert call.role == f"annotator_{letter.lower()}"
        assert call.params == {"temperature": 0}
        assert call.inputs == {"name": letter, "history": []}
        assert fenced(debate.read(call.step)) == [TEXT]
        assert "discuss" not in debate.read(call.step)
        assert f"You are annotator {letter} of several" in debate.read(call.step)
    assert [debate.call(f"r0/{letter}").sample for letter in "ABC"] == [1, 2, 3]


def test_each_round_reads_all_that_everybody_said_before() -> None:
    debate = discussed(SPLIT, SPLIT, ["Dovish"] * 3)
    assert debate.steps == [[f"r{number}/{letter}" for letter in "ABC"] for number in range(3)]
    first = [words(letter, 0, said) for letter, said in zip("ABC", SPLIT, strict=True)]
    second = [words(letter, 1, said) for letter, said in zip("ABC", SPLIT, strict=True)]
    for letter in "ABC":
        assert fenced(debate.read(f"r1/{letter}")) == [TEXT, *first]
        assert fenced(debate.read(f"r2/{letter}")) == [TEXT, *first, *second]
    read = debate.read("r2/B")
    order = [*(f"Annotator {letter} thinks:" for letter in "ABC"), "Now annotate the text again."]
    assert read.index("Round 1:") < read.index(order[0]) < read.index("Round 2:")
    assert sorted(order, key=read.rindex) == order
    assert "keep it where the reasons are vague or wrong" in read


def test_consensus_ends_it_and_is_worth_less_than_agreement_at_once() -> None:
    outcome = discussed(SPLIT, ["Dovish"] * 3).outcome
    assert (outcome.value, outcome.flags) == ("Dovish", ("first_round_differs",))
    assert outcome.signals["rounds_needed"] == 1
    assert (outcome.signals["first_d_rate"], outcome.signals["d_rate"]) == (0.3333, 1.0)
    assert outcome.signals["first"] == "Dovish"
    assert outcome.uncertainty == 0.3334
    assert outcome.rationale == "A1 reasons."


def test_after_the_last_round_the_majority_counts() -> None:
    debate = discussed(SPLIT, SPLIT, SPLIT)
    assert len(debate.steps) == 3
    assert debate.outcome.value == "Dovish"
    assert debate.outcome.flags == ("first_round_differs", "dissent")


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_there_are_as_many_rounds_as_are_set(rounds: int) -> None:
    debate = discussed(*[SPLIT] * (rounds + 1), rounds=rounds)
    assert len(debate.steps) == 1 + rounds
    count = protocol("discussion").calls({"annotators": 3, "rounds": rounds})
    assert (count.least, count.most) == (3, 3 * (1 + rounds))
    assert (count.depth_least, count.depth_most) == (1, 1 + rounds)


@pytest.mark.parametrize("annotators", [2, 5, 9])
def test_as_many_take_part_as_are_set(annotators: int) -> None:
    debate = discussed(["Dovish"] * annotators)
    assert len(debate.steps[0]) == annotators


def test_a_tie_is_no_label() -> None:
    outcome = discussed(*[["Dovish", "Hawkish", "Neutral"]] * 3).outcome
    assert (outcome.value, outcome.uncertainty) == (None, 1.0)
    assert outcome.flags == ("first_round_differs", "dissent", "tie")


def test_an_answer_that_cannot_be_read_is_heard_and_stands_in_the_way_of_consensus() -> None:
    debate = discussed(["Dovish", UNREAD, "Dovish"], ["Dovish"] * 3)
    assert len(debate.steps) == 2
    assert UNREAD.text in fenced(debate.read("r1/A"))
    assert debate.outcome.flags == ("unparsed", "first_round_differs")


def test_a_refusal_is_not_handed_on() -> None:
    debate = discussed(["Dovish", REFUSED, "Dovish"], ["Dovish"] * 3)
    assert REFUSED.text not in debate.read("r1/B")
    assert "Annotator B thinks" not in debate.read("r1/B")
    assert debate.outcome.flags == ("refused", "first_round_differs")


def test_two_voices_can_go_on_but_are_never_accepted_unseen() -> None:
    debate = discussed(["Dovish", FAILED, "Dovish"], ["Dovish"] * 3)
    assert len(debate.steps) == 2
    assert (debate.outcome.value, debate.outcome.failed) == ("Dovish", False)
    assert "failed" in debate.outcome.flags


@pytest.mark.parametrize("number", [0, 1])
def test_one_voice_is_no_discussion(number: int) -> None:
    debate = discussed(*[SPLIT] * number, ["Dovish", FAILED, FAILED])
    assert len(debate.steps) == number + 1
    outcome = debate.outcome
    assert outcome.failed
    assert (outcome.value, outcome.evidence) == (None, {})
    assert "failed" in outcome.flags


def test_the_end_of_long_words_is_heard() -> None:
    long = f"{'because ' * 100}\n{says('Hawkish')}"
    debate = played(
        "discussion", {"*": says("Dovish"), "r0/B": long}, given={"words_heard": 200, "rounds": 1}
    )
    heard = fenced(debate.read("r1/A"))[2]
    assert len(heard) == 200
    assert heard.startswith("…")
    assert heard.endswith(says("Hawkish"))


def test_sets_of_labels_agree_when_they_are_equal(schema: Schema) -> None:
    said: Turns = {"*": says("Food, Price"), "r0/B": says("Price, Food"), "r0/C": says("Food")}
    debate = played("discussion", said, asked=schema)
    assert len(debate.steps) == 2
    assert debate.outcome.value == ["Food", "Price"]
