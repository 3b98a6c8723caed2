"""Discussion against canned replies: annotate alone, read each other, annotate again, count."""

from collections.abc import Sequence

import pytest

from labelhub.core.llm.types import Reply
from tests.core.debate.canned import FAILED, Played, played, says

Turns = dict[str, str | Reply]


def discussed(*rounds: Sequence[str | Reply], **settings: int) -> Played:
    """A discussion of these rounds, each with the answers of A, B, C …"""
    replies: Turns = {
        f"r{number}/{letter}": f"{letter}{number} reasons.\n{says(answer)}"
        if isinstance(answer, str)
        else answer
        for number, answers in enumerate(rounds)
        for letter, answer in zip("ABCDEFGHI", answers, strict=False)
    }
    return played("discussion", replies, given={"annotators": len(rounds[0]), **settings})


SPLIT = ["Dovish", "Hawkish", "Dovish"]


def test_consensus_ends_it_and_is_worth_less_than_agreement_at_once() -> None:
    outcome = discussed(SPLIT, ["Dovish"] * 3).outcome
    assert (outcome.value, outcome.flags) == ("Dovish", ("first_round_differs",))
    assert outcome.signals["rounds_needed"] == 1
    assert (outcome.signals["first_d_rate"], outcome.signals["d_rate"]) == (0.3333, 1.0)
    assert outcome.signals["first"] == "Dovish"
    assert outcome.uncertainty == 0.3334
    assert outcome.rationale == "A1 reasons."


@pytest.mark.parametrize("number", [0, 1])
def test_one_voice_is_no_discussion(number: int) -> None:
    debate = discussed(*[SPLIT] * number, ["Dovish", FAILED, FAILED])
    assert len(debate.steps) == number + 1
    outcome = debate.outcome
    assert outcome.failed
    assert (outcome.value, outcome.evidence) == (None, {})
    assert "failed" in outcome.flags
