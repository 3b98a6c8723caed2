"""Self-consistency against canned replies: samples of one model, counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.debate import protocol
from labelhub.core.debate.cascade import doubts_of
from labelhub.core.llm.types import Reply
from labelhub.core.schema import TASKS, Schema, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, UNREAD, fenced, played, says

REFERENCE = Path(__file__).parents[4] / "shared" / "reference" / "paper_tables.json"
DEFAULTS = {"theta": 0.5, "margin": 0.5, "flagged": "accept"}


def sampled(*answers: str | Reply, **where: Any) -> Any:
    said = {
        f"sample/{at}": says(answer) if isinstance(answer, str) else answer
        for at, answer in enumerate(answers, start=1)
    }
    return played("self_consistency", said, given={"samples": len(answers)}, **where)


def test_five_samples_at_once_by_the_book() -> None:
    debate = played("self_consistency", {"annotator": says("Dovish")})
    assert debate.steps == [[f"sample/{at}" for at in range(1, 6)]]
    (calls,) = debate.asked
    assert {call.role for call in calls} == {"annotator"}
    assert [call.sample for call in calls] == [1, 2, 3, 4, 5]
    assert all(call.params == {"temperature": 0.7} for call in calls)
    assert len({call.messages for call in calls}) == 1
    assert fenced(debate.read("sample/1")) == ["The soup was cold and the bill was high."]


def test_samples_and_temperature_can_be_set() -> None:
    given = {"samples": 2, "temperature": 1}
    debate = played("self_consistency", {"annotator": says("Dovish")}, given=given)
    assert debate.steps == [["sample/1", "sample/2"]]
    assert debate.call("sample/2").params == {"temperature": 1.0}


@all_cases(
    ("answers", "value", "d_rate", "flags"),
    [
        (["Dovish"] * 5, "Dovish", 1.0, ()),
        (["Dovish"] * 4 + ["Neutral"], "Dovish", 0.6, ()),
        (["Dovish"] * 3 + ["Neutral", "Hawkish"], "Dovish", 0.4, ()),
        (["Dovish"] * 3 + ["Neutral"] * 2, "Dovish", 0.2, ()),
        (["Dovish", "Dovish", "Neutral", "Hawkish", UNREAD], "Dovish", 0.2,
         ("unparsed", "no_majority")),
        (["Dovish"] * 2 + ["Neutral"] * 2 + ["Hawkish"], None, 0.0, ("tie",)),
        (["Dovish"] * 2 + [UNREAD] * 3, "Dovish", 0.0, ("unparsed", "no_majority")),
        (["Dovish"] * 2 + ["Neutral"] * 2 + [REFUSED], None, 0.0, ("refused", "tie")),
        ([UNREAD] * 5, None, 0.0, ("unparsed",)),
        (["Dovish"] * 4 + [FAILED], "Dovish", 0.6, ("failed",)),
    ],
)  # fmt: skip
def test_the_most_frequent_answer_wins(
    answers: list[str | Reply], value: str | None, d_rate: float, flags: tuple[str, ...]
) -> None:
    outcome = sampled(*answers).outcome
    assert (outcome.value, outcome.signals["d_rate"], outcome.flags) == (value, d_rate, flags)
    assert outcome.uncertainty == round(1 - d_rate, 4)
    assert not outcome.failed


def test_without_a_quorum_it_fails_to_be_tried_again() -> None:
    outcome = sampled("Dovish", "Dovish", FAILED, FAILED, FAILED).outcome
    assert outcome.failed
    assert (outcome.value, outcome.evidence, outcome.flags) == (
        None, {}, ("failed", "no_majority")
    )  # fmt: skip


def test_evidence_is_that_of_the_samples_that_won() -> None:
    soup = '- {}: "soup"\nFinal Decision: {}'
    bill = '- Dovish: "bill"\nFinal Decision: Dovish'
    said = {
        "*": bill,
        "sample/2": soup.format("Dovish", "Dovish"),
        "sample/3": soup.format("Neutral", "Neutral"),
    }
    outcome = played("self_consistency", said).outcome
    assert outcome.evidence == {"Dovish": ("bill", "soup")}
    assert outcome.rationale == '- Dovish: "bill"'


def test_several_labels_are_elected_one_by_one(schema: Schema) -> None:
    answers = ["Food, Price", "Price, Staff", "Food, Staff"]
    outcome = sampled(*answers, asked=schema).outcome
    assert outcome.value == ["Food", "Price", "Staff"]
    assert outcome.signals["d_rate"] == 0.3333
    assert outcome.signals["votes"] == [[answer.split(", "), 1] for answer in answers]


def test_labels_that_nobody_named_together_keep_their_evidence(schema: Schema) -> None:
    said = {
        "sample/1": '- Food: "soup"\nFinal Decision: Food',
        "sample/2": '- Price: "bill"\nFinal Decision: Price',
        "sample/3": '- Food: "cold"\n- Price: "bill"\nFinal Decision: Food, Price, Staff',
    }
    outcome = played("self_consistency", said, given={"samples": 3}, asked=schema).outcome
    assert outcome.value == ["Food", "Price"]
    assert outcome.evidence == {"Food": ("soup", "cold"), "Price": ("bill",)}


def test_d_rate_is_that_of_the_paper() -> None:
    if not REFERENCE.is_file():
        pytest.skip(
            f"{REFERENCE} is not there: the vectors of paper 002 lie outside of the project"
        )
    vectors = json.loads(REFERENCE.read_text())["p002"]["d_rate"]["vectors"]
    asked = schema_from_names("single", "ABCDE")
    for vector in vectors:
        outcome = sampled(*vector["labels"], asked=asked).outcome
        assert outcome.signals["d_rate"] == vector["d_rate"], vector
        assert bool(doubts_of(outcome, DEFAULTS)) == vector["ambiguous"], vector
        most = max(map(vector["labels"].count, vector["labels"]))
        assert vector["ambiguous"] == (most <= 3)


def test_votes_on_free_text_make_no_sense() -> None:
    info = protocol("self_consistency")
    assert TASKS["text"] not in info.tasks
    assert "Use single, cot, self_refine or ecj there." in info.not_for
