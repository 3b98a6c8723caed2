"""Which calls are equal, so that one answer may serve both."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.types import Call, Message, call_key
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases

CALL = Call(
    step="annotator",
    role="annotator",
    messages=(Message("system", "Label."), Message("user", "The soup was cold.")),
    prompt_hash="0" * 64,
    schema=schema_from_names("single", ["good", "bad"]),
    text="The soup was cold.",
    params={"temperature": 0, "max_tokens": 100},
)


def key(call: Call = CALL, **changes: Any) -> str:
    asked: dict[str, Any] = {"endpoint": "1 http://a/v1", "model": "m", "replicate": 1}
    return call_key(call, **(asked | changes))


@all_cases(
    "other",
    [
        key(endpoint="1 http://b/v1"),
        key(model="n"),
        key(replicate=2),
        key(replace(CALL, sample=2)),
        key(replace(CALL, messages=CALL.messages[:1])),
        key(replace(CALL, params={"temperature": 0, "max_tokens": 200})),
        key(replace(CALL, params={**CALL.params, "response_format": {"type": "json_object"}})),
    ],
)
def test_whatever_may_change_the_answer_changes_the_key(other: str) -> None:
    assert other != key()


def test_a_sampled_call_has_no_equal() -> None:
    assert key(replace(CALL, params={"temperature": 0.7})) == ""
    assert key(replace(CALL, params={})) == ""


@given(st.text(), st.text())
def test_texts_do_not_run_into_each_other(first: str, other: str) -> None:
    """Where the system's words end and the user's begin is part of what is asked."""
    joined = replace(CALL, messages=(Message("system", first + other), Message("user", "")))
    parted = replace(CALL, messages=(Message("system", first), Message("user", other)))
    assert (key(joined) == key(parted)) == (other == "")
