"""Argilla 2's records, as its SDK and its REST write them. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from apps.exchange.columns import CONTENT, ColumnMap
from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.base import AnnotationContext, Data, ParsedAnnotation, Shape, Translated
from apps.exchange.values import as_object
from apps.labels.models import Label
from labelhub.core.schema import Schema, role_of

FIELDS = ("text", "context", "question", "options")
#: What an answer's status makes of it; "submitted", or none, is a label.
STATUS_ASIDE = {"discarded": Label.Role.SKIP, "draft": Label.Role.DRAFT}
KEPT = ("vectors", "_server_id", "inserted_at", "updated_at", "status")


class _Answer(NamedTuple):
    question: str
    given: dict[str, Any]
    where: str


def fits(data: Data) -> bool:
    """Whether it is a record."""
    besides = ("suggestions", "responses", "metadata", "vectors", "external_id")
    return isinstance(data.get("fields"), dict) and any(name in data for name in besides)


def read(data: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a record: suggestions are labels of their agents, responses of their users; what
    was discarded, is a draft or has no answer is kept aside.

    Raises:
        RowFault: names the place, such as ``suggestions.sentiment.value``.
    """
    row = _content(data, columns)
    asked = AnnotationContext.of(row, schema, columns.question)
    labels = [_suggestion(group, asked) for group in _suggestions(data)]
    labels += [_response(who, group, asked) for who, group in _responses(data).items()]
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
    texts = [name for name, value in given.items() if isinstance(value, str)]
    if "text" not in row and len(texts) == 1:
        row["text"] = given[texts[0]]
        others = tuple(name for name in others if name != texts[0])
    elif "text" not in row and len(chats) == 1:
        row |= _last_turn(given[chats[0]])
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


def _last_turn(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """A chat's last turn is what is labelled, those before it its context."""
    messages = [{"role": turn.get("role", "user"), "text": turn["content"]} for turn in turns]
    return {"text": messages[-1]["text"], "context": messages[:-1]}


def _suggestions(data: Data) -> Iterator[list[_Answer]]:
    """What each agent suggests, over all questions."""
    given = data.get("suggestions") or {}
    if isinstance(given, Mapping):
        pairs = [(name, suggestion, f"suggestions.{name}") for name, suggestion in given.items()]
    else:
        pairs = [
            (_question_of(suggestion), suggestion, f"suggestions[{index}]")
            for index, suggestion in enumerate(_list(given, "suggestions"))
        ]
    by_agent: dict[tuple[str, str], list[_Answer]] = {}
    for name, suggestion, where in pairs:
        given_suggestion = as_object(suggestion, where)
        agent = str(given_suggestion.get("agent") or ""), str(given_suggestion.get("type") or "")
        by_agent.setdefault(agent, []).append(_Answer(name, given_suggestion, where))
    yield from by_agent.values()


def _responses(data: Data) -> dict[tuple[str, str], list[_Answer]]:
    """(user, status) → their answers; the SDK lists them by question, REST by user."""
    found: dict[tuple[str, str], list[_Answer]] = {}
    given = data.get("responses") or {}
    if isinstance(given, Mapping):
        for name, answers in given.items():
            for index, raw in enumerate(_list(answers, f"responses.{name}")):
                where = f"responses.{name}[{index}]"
                response = as_object(raw, where)
                found.setdefault(_by(response), []).append(_Answer(name, response, where))
        return found
    for index, raw in enumerate(_list(given, "responses")):
        response = as_object(raw, f"responses[{index}]")
        values = as_object(response.get("values") or {}, f"responses[{index}].values")
        places = {name: f"responses[{index}].values.{name}" for name in values}
        answers = [
            _Answer(name, as_object(values[name], places[name]), places[name]) for name in values
        ]
        found.setdefault(_by(response), []).extend(answers)
    return found


def _by(answer: Mapping[str, Any]) -> tuple[str, str]:
    return str(answer.get("user_id") or ""), str(answer.get("status") or "submitted")


def _question_of(suggestion: Any) -> str:
    names = ("question_name", "question", "question_id")
    found = next(
        (
            suggestion[name]
            for name in names
            if isinstance(suggestion, dict) and suggestion.get(name)
        ),
        "",
    )
    return str(found)


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list):
        raise RowFault("Must be a list.", field=where)
    return raw


def _suggestion(group: list[_Answer], asked: AnnotationContext) -> dict[str, Any]:
    first = group[0].given
    annotation = _said(group, asked)
    annotation.sure(
        next(
            (answer.given["score"] for answer in group if _is_score(answer.given.get("score"))),
            None,
        )
    )
    kind = "crowd" if first.get("type") == "human" else "model"
    name = str(first.get("agent") or "Argilla suggestion").strip()[:200]
    return {"annotator": name, "kind": kind, **annotation.to_label()}


def _is_score(raw: Any) -> bool:
    """Sets have a list of scores, one for each label: that is no one confidence."""
    return isinstance(raw, int | float) and not isinstance(raw, bool)


def _response(
    who: tuple[str, str], group: list[_Answer], asked: AnnotationContext
) -> dict[str, Any]:
    user, status = who
    label: dict[str, Any] = {"annotator": f"Argilla user {user}" if user else "Argilla"}
    label["kind"] = "crowd"
    if status in STATUS_ASIDE:
        given = {answer.question: answer.given.get("value") for answer in group}
        provenance = {"argilla": {"status": status, "values": given}}
        role = STATUS_ASIDE[status]
        return {**label, "withdrawn": True, "role": role, "provenance": provenance}
    return label | _said(group, asked).to_label()


def _said(group: list[_Answer], asked: AnnotationContext) -> ParsedAnnotation:
    annotation = ParsedAnnotation(asked)
    for name, given, where in group:
        value, place = given.get("value"), f"{where}.value"
        role = "" if name == asked.question.chosen else role_of(name)
        if _has_spans(value):
            _take_spans(annotation, value, place)
        elif role == "confidence":
            annotation.sure(value)
        elif role and isinstance(value, str) and not asked.schema.task.written:
            annotation.words(role, value)
        elif value is not None:
            annotation.answer(name, value, place)
    return annotation


def _take_spans(annotation: ParsedAnnotation, raw: Any, where: str) -> None:
    for index, part in enumerate(raw):
        span = as_object(part, f"{where}[{index}]")
        if "start" not in span:
            raise RowFault("Rankings cannot be imported.", field=where)
        ends = span.get("start"), span.get("end")
        annotation.span(span.get("label"), ends, None, f"{where}[{index}]")


def _columns(data: Data) -> list[str]:
    return list(data["fields"])


def _questions(data: Data) -> list[str]:
    answers = [answer for group in _suggestions(data) for answer in group]
    answers += [answer for group in _responses(data).values() for answer in group]
    names = dict.fromkeys(
        answer.question for answer in answers if not _has_spans(answer.given.get("value"))
    )
    return [name for name in names if not role_of(name)]


def _has_spans(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


SHAPE = Shape("Argilla records", fits, read, _columns, _questions)
