"""Answers in JSON: the whole text, or an object within it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from labelhub.core.llm.parsing.names import NoAnswer, read_content
from labelhub.core.schema import Schema, Task, Value, ValueNotOffered, fold

#: Stands for "no answer here"; None is something JSON can say.
MISSING: Final = object()

_KEYS = frozenset({"label", "labels", "value", "answer", "decision", "final_decision"})
_FENCED_LIST = re.compile(r"```(?:json)?\s*(?P<list>\[[^`]*\])\s*```", re.IGNORECASE)
#: An answer with more opening braces than this is not one we asked for; the scan stays linear.
_MOST_BRACES = 200


def whole_answer(text: str, schema: Schema) -> Any:
    """What the JSON that ``text`` as a whole is answers; ``MISSING`` when it is not JSON.

    Raises:
        NoAnswer: it is JSON, but holds no answer or several.
    """
    try:
        found = _decoder().decode(text.strip())
    except (ValueError, RecursionError):
        return MISSING
    if schema.task is Task.TEXT and not isinstance(found, dict):
        # Free text is often a number or a quotation; only an object is meant as JSON.
        return MISSING
    raw = _answer_in(found, schema)
    if raw is MISSING:
        raise NoAnswer("The answer is JSON, but without exactly one answer in it.")
    return raw


def embedded_answer(text: str, schema: Schema, *, after: int) -> Any:
    """What the last JSON object or fenced list beyond ``after`` answers, or ``MISSING``."""
    last, place = MISSING, after
    for at, found in _objects(text):
        raw = _answer_in(found, schema)
        if raw is not MISSING and at > place:
            last, place = raw, at
    return last


def read_json(raw: Any, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that an answer in JSON spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or is of the wrong kind.
        NoAnswer: it is empty.
    """
    if isinstance(raw, bool):
        raise ValueNotOffered(f"'{json.dumps(raw)}' is not a name from the list.")
    if isinstance(raw, list) and schema.task is Task.MULTI:
        return schema.normalise([_name(each, schema) for each in raw])
    if isinstance(raw, int | float) and schema.task is not Task.TEXT:
        raw = f"{raw:g}" if isinstance(raw, float) else str(raw)
    if isinstance(raw, str):
        return read_content(raw, schema, options)
    return schema.normalise(raw, options)


def _name(raw: Any, schema: Schema) -> Any:
    if not isinstance(raw, str):
        return raw
    found = read_content(raw, schema)
    return found[0] if isinstance(found, list) and len(found) == 1 else raw


def _answer_in(found: Any, schema: Schema) -> Any:
    if isinstance(found, dict):
        answers = [raw for key, raw in found.items() if fold(key).replace(" ", "_") in _KEYS]
        if len(answers) == 1:
            return answers[0]
        return found if not answers and _is_table(found, schema) else MISSING
    if isinstance(found, list):
        return found if schema.task is Task.MULTI else MISSING
    return MISSING if found is None else found


def _is_table(found: Mapping[str, Any], schema: Schema) -> bool:
    """Whether ``found`` says true or false of every aspect."""
    if schema.task is not Task.MULTI or not all(isinstance(said, bool) for said in found.values()):
        return False
    return {fold(name) for name in schema.names} <= {fold(key) for key in found}


def _objects(text: str) -> Iterator[tuple[int, Any]]:
    for match in _FENCED_LIST.finditer(text):
        try:
            yield match.start(), _decoder().decode(match["list"])
        except (ValueError, RecursionError):
            continue
    at = 0
    for _ in range(_MOST_BRACES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, end = _decoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield at, found
        at = end


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
