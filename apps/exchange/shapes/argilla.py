"""Argilla 2's records, as its SDK and its REST write them. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from apps.exchange.columns import CONTENT, ColumnMap
from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.base import (
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
    only_text,
)
from apps.exchange.values import as_list, as_object, is_number
from apps.labels.models import Label
from labelhub.core.schema import Schema, role_of

FIELDS = ("text", "context", "question", "options")  # the id is a part of the record
#: Status of an answer → its role; "submitted", or no status, is a label.
STATUS_ASIDE = {"discarded": Label.Role.SKIP, "draft": Label.Role.DRAFT}
KEPT = ("vectors", "_server_id", "inserted_at", "updated_at", "status")


class _Answer(NamedTuple):
    question: str
    given: dict[str, Any]
    where: str


def fits(data: Data) -> bool:
    """Whether the row is a record."""
    besides = ("suggestions", "responses", "metadata", "vectors", "external_id")
    return isinstance(data.get("fields"), dict) and any(name in data for name in besides)


def read(data: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a record: suggestions are labels of their agents, responses of their users.
    Discarded responses, drafts and those without an answer are kept aside.

    Raises:
        RowFault: names the place, such as ``suggestions.sentiment.value``.
    """
    row = _content(data, columns)
    asked = AnnotationContext.of(row, schema, columns.question)
    labels = [_suggested_label(group, asked) for group in _suggestions(data)]
    labels += [_response_label(who, group, asked) for who, group in _responses(data).items()]
    if labels:
        row["labels"] = labels
    return Translated(row)


def _content(data: Data, columns: ColumnMap) -> dict[str, Any]:
    given = dict(data["fields"])
    fields, others = columns.of(given, CONTENT)
    row = {name: given[fields[name]] for name in FIELDS if name in fields}
    if _is_chat(row.get("text")):
        others = (*others, fields["text"])
        del row["text"]
    chats = [name for name, value in given.items() if _is_chat(value)]
    if "text" not in row and (column := only_text(given)):
        row["text"] = given[column]
        others = tuple(name for name in others if name != column)
    elif "text" not in row and len(chats) == 1:
        row |= _text_and_context(given[chats[0]])
        others = tuple(name for name in others if name != chats[0])
    number = next((data[name] for name in ("external_id", "id") if data.get(name)), None)
    if number is not None:
        row["id"] = number
    metadata = as_object(data.get("metadata") or {}, "metadata")
    kept = {name: data[name] for name in KEPT if data.get(name)}
    besides = {name: given[name] for name in others} | metadata
    row["meta"] = besides | ({"argilla": kept} if kept else {})
    return row


def _is_chat(raw: Any) -> bool:
    parts = raw if isinstance(raw, list) else []
    return bool(parts) and all(isinstance(part, dict) and "content" in part for part in parts)


def _text_and_context(chat: list[dict[str, Any]]) -> dict[str, Any]:
    """The last turn of a chat is the text, the turns before it are the context."""
    turns = [{"role": turn.get("role", "user"), "text": turn["content"]} for turn in chat]
    return {"text": turns[-1]["text"], "context": turns[:-1]}


def _suggestions(data: Data) -> Iterator[list[_Answer]]:
    """The suggestions of each agent, over all questions."""
    given = data.get("suggestions") or {}
    if isinstance(given, Mapping):
        pairs = [(f"suggestions.{name}", raw) for name, raw in given.items()]
    else:
        listed = as_list(given, "suggestions")
        pairs = [(f"suggestions[{index}]", raw) for index, raw in enumerate(listed)]
    by_agent: dict[tuple[str, str], list[_Answer]] = {}
    for where, raw in pairs:
        suggestion = as_object(raw, where)
        names = (suggestion.get(key) for key in ("question_name", "question", "question_id"))
        name = where.partition(".")[2] or str(next(filter(None, names), ""))
        agent = str(suggestion.get("agent") or ""), str(suggestion.get("type") or "")
        by_agent.setdefault(agent, []).append(_Answer(name, suggestion, where))
    yield from by_agent.values()


def _responses(data: Data) -> dict[tuple[str, str], list[_Answer]]:
    """(user, status) → their answers; the SDK lists them by question, REST by user."""
    found: dict[tuple[str, str], list[_Answer]] = {}
    given = data.get("responses") or {}
    if isinstance(given, Mapping):
        for name, answers in given.items():
            for index, raw in enumerate(as_list(answers, f"responses.{name}")):
                where = f"responses.{name}[{index}]"
                response = as_object(raw, where)
                answer = _Answer(name, response, where)
                found.setdefault(_respondent(response), []).append(answer)
        return found
    for index, raw in enumerate(as_list(given, "responses")):
        response = as_object(raw, f"responses[{index}]")
        values = as_object(response.get("values") or {}, f"responses[{index}].values")
        answers = found.setdefault(_respondent(response), [])
        for name, value in values.items():
            where = f"responses[{index}].values.{name}"
            answers.append(_Answer(name, as_object(value, where), where))
    return found


def _respondent(response: Mapping[str, Any]) -> tuple[str, str]:
    return str(response.get("user_id") or ""), str(response.get("status") or "submitted")


def _suggested_label(answers: list[_Answer], asked: AnnotationContext) -> dict[str, Any]:
    first = answers[0].given
    annotation = _parse_answers(answers, asked)
    # Sets have a list of scores, one for each label: that is not the confidence of the answer.
    scores = (answer.given.get("score") for answer in answers)
    annotation.set_confidence(next(filter(is_number, scores), None))
    kind = "crowd" if first.get("type") == "human" else "model"
    name = str(first.get("agent") or "Argilla suggestion").strip()[:200]
    return {"annotator": name, "kind": kind, **annotation.to_label()}


def _response_label(
    respondent: tuple[str, str], answers: list[_Answer], asked: AnnotationContext
) -> dict[str, Any]:
    user, status = respondent
    label: dict[str, Any] = {"annotator": f"Argilla user {user}" if user else "Argilla"}
    label["kind"] = "crowd"
    if status in STATUS_ASIDE:
        given = {answer.question: answer.given.get("value") for answer in answers}
        provenance = {"argilla": {"status": status, "values": given}}
        role = STATUS_ASIDE[status]
        return {**label, "withdrawn": True, "role": role, "provenance": provenance}
    return label | _parse_answers(answers, asked).to_label()


def _parse_answers(answers: list[_Answer], asked: AnnotationContext) -> ParsedAnnotation:
    annotation = ParsedAnnotation(asked)
    for name, given, where in answers:
        value, place = given.get("value"), f"{where}.value"
        role = "" if name == asked.question.chosen else role_of(name)
        if isinstance(value, list) and _has_spans(value):
            _add_spans(annotation, value, place)
        elif role == "confidence":
            annotation.set_confidence(value)
        elif role and isinstance(value, str) and not asked.schema.task.written:
            annotation.add_words(role, value)
        elif value is not None:
            annotation.set_answer(name, value, place)
    return annotation


def _add_spans(annotation: ParsedAnnotation, spans: list[Any], where: str) -> None:
    for index, raw in enumerate(spans):
        span = as_object(raw, f"{where}[{index}]")
        if "start" not in span:
            raise RowFault("Rankings cannot be imported.", field=where)
        ends = span.get("start"), span.get("end")
        annotation.add_span(span.get("label"), ends, None, f"{where}[{index}]")


def column_names(data: Data) -> list[str]:
    """The fields of the record."""
    return list(data["fields"])


def question_names(data: Data) -> list[str]:
    """The questions that the record answers."""
    groups = [*_suggestions(data), *_responses(data).values()]
    answers = [answer for group in groups for answer in group]
    names = dict.fromkeys(
        answer.question for answer in answers if not _has_spans(answer.given.get("value"))
    )
    return [name for name in names if not role_of(name)]


def _has_spans(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


SHAPE = Shape("Argilla", fits, read, column_names, question_names)
