"""The results of one Label Studio annotation, prediction or draft, by type. No I/O."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.said import Asked, Said
from apps.exchange.values import as_object
from labelhub.core.schema import role_of

#: Type → where its ``value`` has the answer.
ANSWERS = {"choices": "choices", "rating": "rating", "number": "number", "textarea": "text"}
SPANS = ("labels", "hypertextlabels")


def said_in(given: Mapping[str, Any], where: str, asked: Asked) -> Said:
    """What the results in ``given`` say, together.

    Raises:
        RowFault: a type that is no answer and no quote, another question, a label not offered.
    """
    results = given.get("result") or []
    if not isinstance(results, list):
        raise RowFault("Must be a list.", field=f"{where}.result")
    said = Said(asked)
    for at, one in enumerate(results):
        place = f"{where}.result[{at}]"
        _take(said, as_object(one, place), place)
    return said


def questions_in(results: Iterable[Any]) -> list[str]:
    """The names of the controls whose results answer a question of their own."""
    answers = [one for one in results if isinstance(one, dict) and one.get("type") in ANSWERS]
    names = [str(one.get("from_name") or one["type"]) for one in answers if "parentID" not in one]
    return [name for name in names if not role_of(name)]


def _take(said: Said, result: Mapping[str, Any], where: str) -> None:
    value = as_object(result.get("value") or {}, f"{where}.value")
    kind = _kind(result, value, where)
    name = result.get("from_name")
    if isinstance(meta := result.get("meta"), dict):
        said.words("rationale", meta.get("text"))
    if kind in SPANS:
        for label in _labels(value, kind, where):
            ends = value.get("start"), value.get("end")
            if "globalOffsets" in value:  # of HTML: start and end are within their elements
                told = as_object(value["globalOffsets"], f"{where}.value.globalOffsets")
                ends = told.get("start"), told.get("end")
            said.span(label, ends, value.get("text"), f"{where}.value")
        return
    _take_answer(said, role_of(name), str(name or kind), result, f"{where}.value.{ANSWERS[kind]}")


def _take_answer(said: Said, role: str, name: str, result: Mapping[str, Any], where: str) -> None:
    value, kind = result["value"], where.rpartition(".")[2]
    of_region = "parentID" in result or "start" in value
    if name == said.asked.question.chosen:
        role, of_region = "", False
    if said.asked.schema.task.written and said.asked.question.name in ("", name):
        role = ""  # a project that asks for words may call them anything
    if kind == "text" and (role in ("rationale", "comment") or of_region):
        said.words(role or "rationale", value[kind])
    elif role == "confidence" and kind in ("number", "rating"):
        said.sure(value[kind])
    elif of_region:
        raise RowFault(f"'{name[:80]}' is asked of a part of the text, not of all.", field=where)
    else:
        said.answer(name, value[kind], where)


def _kind(result: Mapping[str, Any], value: Mapping[str, Any], where: str) -> str:
    """The type as told, else by what the value has."""
    told = result.get("type")
    kind = next((kind for kind, key in ANSWERS.items() if key in value), "")
    kind = told if told in SPANS else kind
    if not kind or (told is not None and told != kind):
        raise RowFault(f"Results of type '{str(told)[:40]}' cannot be imported.", field=where)
    return str(kind)


def _labels(value: Mapping[str, Any], kind: str, where: str) -> list[Any]:
    labels = value.get(kind, value.get("labels"))
    if not isinstance(labels, list) or not labels:
        raise RowFault("A list of labels is missing.", field=f"{where}.value.labels")
    return labels
