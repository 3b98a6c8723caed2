"""Answers in JSON are read like those in words: labels on the menu, quotations from the text."""

import json
from typing import Any

from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.parsing.structured import json_as_text
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases

ASPECTS = schema_from_names("multi", ["Food", "Price"])
STANCE = schema_from_names("single", ["Good", "Bad"])
TEXT = 'The soup was "cold" and the bill was high.'
WHOLE: dict[str, Any] = {
    "reasoning": "Both are there.\nThe label is Price, some would say.",
    "evidence": [
        {"name": "Food", "quotes": ['soup was "cold"', "never said"]},
        {"name": "Price", "quotes": ["the  bill\nwas HIGH"]},
    ],
    "labels": ["Food", "Price"],
}


def read(answer: str) -> Reply:
    return read_answer(answer, ASPECTS, source=TEXT)


@all_cases(
    ("before", "after"),
    [
        ("", ""), ("```json\n", "\n```"), ("Here it is:\n", ""), ("", "\n\nI hope this helps!"),
        ('<think>Perhaps {"labels": []}?</think>', ""), ("```\n", "\n```\nThat is all."),
    ],
)  # fmt: skip
@all_cases("indent", [None, 2])
def test_json_is_read_wherever_it_stands(before: str, after: str, indent: int | None) -> None:
    reply = read(before + json.dumps(WHOLE, indent=indent) + after)
    assert (reply.status, reply.value) == (Status.OK, ["Food", "Price"])
    assert reply.evidence == {"Food": ('soup was "cold"',), "Price": ("the bill was high",)}


def test_what_a_critic_quotes_against_a_label_is_no_evidence_for_it() -> None:
    verdicts = [
        {"name": "Food", "verdict": "disagree", "reason": "Faint.", "quotes": ["soup"]},
        {"name": "Price", "verdict": "agree", "reason": "Plain.", "quotes": ["high"]},
    ]
    reply = read(json.dumps({"verdicts": verdicts, "labels": ["Price"]}))
    assert (reply.value, reply.evidence) == (["Price"], {"Price": ("high",)})


@all_cases("found", [None, 3, "x", [], [1], {"name": 3}, [{"quotes": "x"}], [[]]])
def test_odd_fields_do_no_harm(found: Any) -> None:
    odd = {"reasoning": found, "evidence": found, "verdicts": found, "quotes": found}
    assert json_as_text(json.dumps({**odd, "label": "Good"})).endswith("Final Decision: Good")
    assert read_answer(json.dumps({**odd, "label": "Good"}), STANCE, source=TEXT).value == "Good"
