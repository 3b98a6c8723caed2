"""What goes over the wire, by what is known about the model; no connection is opened."""

from dataclasses import replace
from typing import Any

import pytest

from apps.llm.wire import build_request, effective_params
from labelhub.core.llm.types import Call, Message
from labelhub.core.schema import parse_schema, schema_from_names
from tests.llm.asking_helpers import make_call, make_spec

EVERYTHING: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.9,
    "seed": 7,
    "stop": ["\n\n"],
    "logprobs": True,
    "top_logprobs": 5,
    "reasoning_effort": "low",
}


def sent(params: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return effective_params(build_request(make_spec(**spec), make_call(**params)))


@pytest.mark.parametrize(
    ("spec", "left_out"),
    [
        ({"takes_temperature": False}, {"temperature", "top_p"}),
        ({"takes_seed": False}, {"seed"}),
        ({"takes_stop": False}, {"stop"}),
        ({"logprobs": False}, {"logprobs", "top_logprobs"}),
        ({"reasoning_effort": "omit"}, {"reasoning_effort"}),
    ],
)
def test_what_a_model_does_not_take_is_left_out(spec: dict[str, Any], left_out: set[str]) -> None:
    kept = sent(EVERYTHING, **spec)
    assert set(EVERYTHING) - set(kept) == left_out


#: The prompt as it asks for JSON.
IN_JSON = (Message("user", "Answer with one JSON object."),)


def with_schema(task: str, *fields: str, **changes: Any) -> Call:
    return replace(
        make_call(),
        schema=schema_from_names(task, ["Low", "High"]),
        fields=fields or ("evidence", "label"),
        json_messages=IN_JSON,
        **changes,
    )


def test_a_schema_offers_our_labels_and_nothing_else() -> None:
    call = with_schema("single", "reasoning", "evidence", "label")
    made = build_request(make_spec(structured="json_schema"), call)
    form = made["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    schema = form["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == ["reasoning", "evidence", "label"]
    names = {"type": "string", "enum": ["Low", "High"]}
    assert schema["properties"]["label"] == names
    quoted = schema["properties"]["evidence"]["items"]
    assert quoted["properties"]["name"] == names
    assert quoted["required"] == ["name", "quotes"]
    assert schema["additionalProperties"] is quoted["additionalProperties"] is False


def _task(task: str) -> Any:
    return parse_schema({"task": task, "labels": []})


@pytest.mark.parametrize(
    ("structured", "form"), [("json_object", {"type": "json_object"}), ("none", None)]
)
def test_a_model_that_can_do_less_is_asked_for_less(structured: str, form: Any) -> None:
    made = build_request(make_spec(structured=structured), with_schema("single"))
    assert made.get("response_format") == form


def test_the_messages_ask_for_the_form_that_is_sent() -> None:
    call = with_schema("single")
    for structured in ("json_schema", "json_object"):
        made = build_request(make_spec(structured=structured), call)
        assert [message["content"] for message in made["messages"]] == [
            "Answer with one JSON object."
        ]
    for made in (
        build_request(make_spec(structured="none"), call),
        build_request(make_spec(structured="json_schema"), call, plain=True),
    ):
        assert len(made["messages"]) == len(make_call().messages)
        assert "response_format" not in made


def test_a_fixed_temperature_replaces_any_other() -> None:
    kept = sent(EVERYTHING, fixed_temperature=1.0)
    assert (kept["temperature"], "top_p" in kept) == (1.0, False)
    assert sent({}, fixed_temperature=1.0)["temperature"] == 1.0
    assert "temperature" not in sent(EVERYTHING, fixed_temperature=1.0, takes_temperature=False)


def test_a_form_is_not_asked_for_unless_the_call_wants_one() -> None:
    spec = make_spec(structured="json_schema")
    assert "response_format" not in build_request(spec, make_call())
    assert "response_format" not in build_request(spec, with_schema("single"), plain=True)
    own = {"type": "json_object"}
    assert build_request(spec, make_call(response_format=own))["response_format"] == own
