"""The form an answer is asked for in, where the model keeps to one: JSON with our labels only."""

from collections.abc import Mapping
from typing import Any

from apps.llm.capabilities import (
    Capability,
    less_structured,
    refuses_all_forms,
    speaks_of_form,
)
from apps.llm.failures import Failure
from apps.llm.models import ModelSpec
from labelhub.core.llm.types import AnswerField, Call, Completion

#: The less demanding form first.
_FORMS = (
    ModelSpec.Structured.NONE, ModelSpec.Structured.JSON_OBJECT, ModelSpec.Structured.JSON_SCHEMA,
)  # fmt: skip
_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def response_format(
    spec: ModelSpec, call: Call, structured: str | None = None
) -> Mapping[str, Any] | None:
    """The ``response_format`` to send for ``call``; None where none is asked for or taken.

    Args:
        spec: who answers.
        call: asks for JSON where it has ``json_messages``; a ready object among its parameters is
            sent as it is.
        structured: the form in place of the one that ``spec`` is known to take.
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
    task, name = call.schema.task, _name(call)
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


def _name(call: Call) -> Mapping[str, Any]:
    names = list(dict.fromkeys(call.schema.offered(call.options)))
    return {"type": "string", "enum": names} if names else _TEXT


def _list_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    # Strict schemas take nothing but objects that are closed and have all their keys.
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def demands_less(form: str, other: str) -> bool:
    """Whether more models can keep to ``form`` than to ``other``."""
    return _FORMS.index(ModelSpec.Structured(form)) < _FORMS.index(ModelSpec.Structured(other))


class FormTrial:
    """The form to ask one call for, where the one that the model is known to take is refused.

    HTTP 500 may be about the form: llama.cpp answers so to a schema that it cannot take, and any
    server to a fault of its own. So a less demanding form is tried where the refusal names the
    form, or comes twice in a row. If that one is answered, the model has shown which form it takes,
    unless the refusal did not name a form that it has kept to before. What an item's own options
    are refused for, the others are not.

    Args:
        call: what is asked.
        kept: the forms that the model has kept to; added to.
    """

    def __init__(self, call: Call, kept: set[str]) -> None:
        #: The form to ask for in place of the usual one; None for that.
        self.structured: str | None = None
        self._kept = kept
        self._own = call.schema.offered(call.options) != call.schema.offered(())
        self._in_a_row = 0
        self._said = ""
        self._unnamed: str | None = None

    def teaches(self, failure: Failure, request: Mapping[str, Any]) -> bool:
        """Whether what was refused is the form, for every call, and not the schema of this one."""
        own = self._own and request["response_format"].get("type") == "json_schema"
        return not own or refuses_all_forms(failure)

    def lower(self, structured: str) -> None:
        """Ask this call for a less demanding form."""
        self.structured = structured

    def heed(self, answer: Completion | Failure, request: Mapping[str, Any]) -> Capability | None:
        """Take note of the answer to ``request``; what it teaches about the model, if anything."""
        form = request.get("response_format", {}).get("type", "")
        if isinstance(answer, Completion):
            self._kept.add(form)
            said, self._said, self._in_a_row = self._said, "", 0
            if not (said and self.structured) or self._unnamed in self._kept:
                return None
            return Capability("structured", self.structured, said)
        if answer.status != 500:
            return None
        if not form:
            self.structured, self._said, self._in_a_row = None, "", 0
            return None
        self._in_a_row += 1
        named = speaks_of_form(answer)
        if (named or form not in self._kept) and self.teaches(answer, request):
            self._said = self._said or answer.message or "HTTP 500"
            # Another call may yet be answered in it.
            self._unnamed = None if named else form
        if self.structured or self._in_a_row > 1 or named:
            self.structured = less_structured(request)
        return None
