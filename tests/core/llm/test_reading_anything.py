"""Whatever a model writes: no crash, and no value that was not offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.types import Status
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.growth import assert_linear_time

NAMES = ["Food", "Food and drink", "Price}}", "not relevant", "Misc.", "2"]
SCHEMAS = st.sampled_from(
    [
        schema_from_names("multi", NAMES),
        schema_from_names("single", NAMES),
        schema_from_names("ordinal", ["1", "2", "3.5"]),
        schema_from_names("ordinal", ["low", "high"]),
        parse_schema({"task": "text"}),
        parse_schema({"task": "per_item"}),
    ]
)
OPTIONS = ("A", "B, then C", "", "a")
PIECES = st.sampled_from(
    [
        *NAMES, "Final Decision:", "The label is", "The present aspects are:", "none", "not", ",",
        ";", "and", "\n", "\n- ", "#", "*", "**", '"', "'", "[", "]", "{", "}", "(", ")", ":", ".",
        "<think>", "</think>", "```json", "```", '{"label":', '{"labels": ["Food"]}', "true", "0",
        "1", "A", "B, then C", "None of the aspects are present", "disagree", "label isn't", " ",
        "I choose", "So", "because", "Label:", "fits best", "?", "\r\n", "\u200b", "\0", "|",
    ]
)  # fmt: skip
ANSWERS = st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map(" ".join))
ENDS = st.sampled_from(["stop", "length", "content_filter", "", "tool_calls"])


@given(ANSWERS, SCHEMAS, ENDS, st.text(max_size=3))
def test_only_offered_values_come_back(
    text: str, schema: Schema, finish_reason: str, refusal: str
) -> None:
    reply = read_answer(text, schema, OPTIONS, finish_reason, refusal, source=text)
    assert (reply.status is Status.OK) == (reply.value is not None)
    if reply.value is not None:
        assert schema.normalise(reply.value, OPTIONS) == reply.value
        assert _is_offered(schema, reply.value)
    else:
        assert reply.note
        assert (reply.rung, reply.ranking) == (0, ())
    assert len(reply.off_menu) <= 80
    assert all(phrase in text for phrases in reply.evidence.values() for phrase in phrases)


def _is_offered(schema: Schema, value: object) -> bool:
    match schema.task.name:
        case "multi":
            return isinstance(value, list) and set(value) <= set(schema.names)
        case "ordinal":
            return value in {label.point for label in schema.labels}
        case "text":
            return isinstance(value, str) and bool(value.strip())
        case _:
            return value in schema.offered(OPTIONS)


HOSTILE = [
    "{", '{"a":', '{"a": 1,', '",', "[", "<think>", "</think>", "<thinking>", "#a ", '- Food: "',
    "- Food: “", '- Food: "x" ',
    "final decision ", "Final Decision:", "Final Decision: Foo\n", "* ", "*_", ". ",
    "The label is ", ". The label is x", '"The label is',
    "\u200b", "\r", "\n", " \n", "Food ", "Food, ", "So, ",
    "since ", "I choose ", "label is ", '<text id="01234567">', "|", "`", "```[", "not ", "1. ",
    '\\"', "Wait", "since a, ", "Foo-", "and ",
]  # fmt: skip


@pytest.mark.thorough
@all_cases("piece", HOSTILE)
@all_cases("schema", [schema_from_names(task, NAMES) for task in ("multi", "single")])
def test_a_long_hostile_answer_is_no_label(piece: str, schema: Schema) -> None:
    def read(text: str) -> None:
        assert not read_answer(text, schema, source="x" * 20_000).ok
        read_answer(f"Final Decision: {text}", schema)

    assert_linear_time(read, piece, 25_000)
