"""Cascade against canned replies: a cheap protocol for all, a costly one where that is in doubt."""

from typing import Any

import pytest

from labelhub.core.llm.types import Reply
from tests.core.debate.canned import FAILED, UNREAD, Played, played, says

ECJ = {
    "then_extractor": says("Hawkish"),
    "then_critic": says("Hawkish"),
    "then_judge": says("Hawkish"),
}
LATER = [["then/extractor"], ["then/critic"], ["then/judge"]]
FIRST = [[f"first/sample/{sample}" for sample in range(1, 6)]]


def cascaded(*samples: str | Reply, **given: Any) -> Played:
    replies = {
        f"first/sample/{sample}": says(answer) if isinstance(answer, str) else answer
        for sample, answer in enumerate(samples, start=1)
    }
    return played("cascade", ECJ | replies, given=given)


def test_what_is_sure_is_not_asked_again() -> None:
    debate = cascaded(*["Dovish"] * 4, "Neutral")
    assert debate.steps == FIRST
    assert debate.outcome.value == "Dovish"
    assert debate.outcome.signals["stage"] == "first"
    assert debate.outcome.signals["doubts"] == []


def test_what_is_ambiguous_is_debated_and_the_debate_counts() -> None:
    debate = cascaded(*["Dovish"] * 3, "Neutral", "Hawkish")
    assert debate.steps == FIRST + LATER
    outcome = debate.outcome
    assert outcome.value == "Hawkish"
    assert outcome.signals["stage"] == "then"
    assert outcome.signals["doubts"] == ["d_rate"]
    assert outcome.signals["first"] == "Dovish"
    assert outcome.signals["first_stage"]["d_rate"] == 0.4
    assert outcome.flags == ()


@pytest.mark.parametrize(("second", "again"), [(0.2, False), (0.3, False), (0.31, True)])
def test_probabilities_are_doubt_where_there_are_any(second: float, again: bool) -> None:
    reply = Reply(says("Dovish"), value="Dovish", probabilities={"Dovish": 0.7, "Neutral": second})
    given = {"first": "single", "margin": 0.4}
    debate = played("cascade", ECJ | {"first_annotator": reply}, given=given)
    assert (len(debate.steps) > 1) == again
    assert debate.outcome.signals["doubts"] == (["margin"] if again else [])


def test_a_second_stage_that_failed_fails_the_cascade() -> None:
    replies: dict[str, str | Reply] = {"first_annotator": UNREAD, **ECJ, "then_critic": FAILED}
    outcome = played("cascade", replies, given={"first": "cot"}).outcome
    assert (outcome.value, outcome.failed) == (None, True)


@pytest.mark.parametrize(
    ("margin", "again"), [(0.5, True), (0.0, False)], ids=["unknown is unsure", "asked of nobody"]
)
def test_one_answer_of_which_nobody_knows_how_sure_it_is_is_in_doubt(
    margin: float, again: bool
) -> None:
    """As for the queue: an endpoint without log-probabilities makes nothing sure."""
    given = {"first": "single", "then": "ecj", "margin": margin}
    debate = played("cascade", ECJ | {"first_annotator": says("Dovish")}, given=given)
    assert debate.steps == [["first/annotator"], *(LATER if again else [])]
    assert debate.outcome.signals["doubts"] == (["margin_unknown"] if again else [])
