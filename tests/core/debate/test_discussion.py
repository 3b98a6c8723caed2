"""Discussion against canned replies: annotate alone, read each other, annotate again, count."""

from collections.abc import Sequence

import pytest

from labelhub.core.llm.types import Reply
from tests.core.debate.canned import FAILED, TEXT, Played, fenced, played, says

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


@pytest.mark.parametrize("number", [0, 1])
def test_one_voice_is_no_discussion(number: int) -> None:
    debate = discussed(*[SPLIT] * number, ["Dovish", FAILED, FAILED])
    assert len(debate.steps) == number + 1
    outcome = debate.outcome
    assert outcome.failed
    assert (outcome.value, outcome.evidence) == (None, {})
    assert "failed" in outcome.flags
