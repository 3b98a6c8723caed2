"""The form an answer is asked for in, where the model keeps to one: JSON with our labels only."""

from collections.abc import Mapping
from typing import Any

from apps.llm.models import ModelSpec
from labelhub.core.llm.types import Call
from labelhub.core.schema import Task

#: As ``response_format`` in a call's parameters: the form follows from the question.
BY_SCHEMA = "schema"
DECISION = "decision"


def response_format(spec: ModelSpec, call: Call) -> Mapping[str, Any] | None:
    """The ``response_format`` to send for ``call``; None where none is asked for or taken.

    Asked for by :data:`BY_SCHEMA`, or as a ready object, which is sent as it is.
    """
    asked = call.params.get("response_format")
    if not asked or spec.structured == ModelSpec.Structured.NONE:
        return None
    if isinstance(asked, Mapping):
        return asked
    if asked != BY_SCHEMA or call.output != DECISION:
        return None
    if spec.structured == ModelSpec.Structured.JSON_OBJECT:
        return {"type": "json_object"}
    schema = {"name": "answer", "strict": True, "schema": answer_schema(call)}
    return {"type": "json_schema", "json_schema": schema}


def answer_schema(call: Call) -> dict[str, Any]:
    """The JSON schema of an answer to ``call``: reasons first, then what they lead to."""
    key = "labels" if call.schema.task is Task.MULTI else "label"
    return {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, key: _answer(call)},
        "required": ["reasoning", key],
        "additionalProperties": False,
    }


def _answer(call: Call) -> dict[str, Any]:
    schema = call.schema
    if schema.task is Task.ORDINAL:
        points = [label.point for label in schema.labels if label.point is not None]
        whole = [int(point) if point == int(point) else point for point in points]
        return {"type": "number", "enum": whole}
    names = list(dict.fromkeys(schema.offered(call.options)))
    one: dict[str, Any] = {"type": "string", **({"enum": names} if names else {})}
    return {"type": "array", "items": one} if schema.task is Task.MULTI else one
