"""The structured form of an answer: JSON that allows only the offered labels."""

from collections.abc import Mapping
from typing import Any

from apps.llm.models import ModelSpec
from labelhub.core.llm.types import AnswerField, Call

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def response_format(
    spec: ModelSpec, call: Call, structured: str | None = None
) -> Mapping[str, Any] | None:
    """The ``response_format`` to send for ``call``; None for free text.

    Args:
        spec: the model that answers.
        call: asks for JSON if it has ``json_messages``; a complete object among its parameters
            is sent unchanged.
        structured: a form instead of the usual one of ``spec``.
    """
    ready = call.params.get("response_format")
    form = structured or spec.structured
    if form == ModelSpec.Structured.NONE or not (ready or call.json_messages):
        return None
    if ready:
        return dict(ready)
    if form == ModelSpec.Structured.JSON_OBJECT:
        return {"type": "json_object"}
    schema = {"name": "answer", "strict": True, "schema": answer_schema(call)}
    return {"type": "json_schema", "json_schema": schema}


def answer_schema(call: Call) -> dict[str, Any]:
    """The JSON schema of an answer to ``call``: the fields that its prompt lists, in that order."""
    properties: dict[str, Any] = {}
    for field in call.fields:
        name, schema = _field(field, call)
        properties[name] = schema
    return _object(properties)


def _field(field: str, call: Call) -> tuple[str, Mapping[str, Any]]:
    """The key and the schema of a field, which depend on the question."""
    task, offered = call.schema.task, list(dict.fromkeys(call.schema.offered(call.options)))
    name: Mapping[str, Any] = {"type": "string", "enum": offered} if offered else _TEXT
    match field:
        case AnswerField.REASONING:
            return "reasoning", _TEXT
        case AnswerField.EVIDENCE if task.written:
            return "quotes", _TEXTS
        case AnswerField.EVIDENCE:
            return "evidence", _list_of({"name": name, "quotes": _TEXTS})
        case AnswerField.VERDICTS:
            about = {} if task.written else {"name": name}
            verdict = {"type": "string", "enum": ["agree", "disagree"]}
            more = {"verdict": verdict, "reason": _TEXT, "quotes": _TEXTS}
            return "verdicts", _list_of({**about, **more})
        case AnswerField.LABEL if task.several:
            return "labels", {"type": "array", "items": name}
    return field, name


def _list_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    # Strict schemas allow only closed objects with all keys required.
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
