"""doccano's JSONL, as it exports and imports it. No I/O."""

from typing import Any

from apps.exchange.columns import CONTENT, ColumnMap
from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.base import (
    FIELDS,
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
)
from apps.exchange.values import as_object
from labelhub.core.schema import Schema

#: Columns of categories and of spans; ``label`` and ``labels`` may hold either.
PLAIN = ("label", "labels", "cats")
SPANS = ("entities", *PLAIN)
#: Columns that only doccano's export has.
MARKS = ("Comments", "entities", "relations", "cats")
#: The annotator, where a file names none.
ANNOTATOR = "doccano"
#: Columns that name the annotator.
ANNOTATOR_COLUMNS = ("annotator", "user")


def fits(data: Data) -> bool:
    """Whether the row is doccano's, and not just a text with plain labels."""
    if not isinstance(data.get("text"), str) or "annotation_id" in data:
        return False
    lists = [data[name] for name in MARKS if name in data]
    marked = bool(lists) and all(isinstance(value, list | dict) for value in lists)
    return marked or any(_are_spans(data.get(name)) for name in PLAIN)


def read(data: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row. Categories are the decided value, as doccano has one answer for everybody; where
    ``annotator`` or ``user`` names a person, their label. Spans are quotes for their label. An
    empty list is an example without labels.

    Raises:
        RowFault: a label that is not the project's, a span beyond the text.
    """
    used = [name for name in SPANS if name in data]
    content = {name: value for name, value in data.items() if name not in (*used, "relations")}
    fields, others = columns.of(content, CONTENT)
    row = {name: data[fields[name]] for name in FIELDS if name in fields}
    annotation = ParsedAnnotation(
        AnnotationContext.of({**row, "text": data["text"]}, schema, columns.question)
    )
    for name in used:
        _add_answer(annotation, data[name], name)
    annotator = next((data[name] for name in ANNOTATOR_COLUMNS if data.get(name)), None)
    meta = {name: data[name] for name in others if name not in ANNOTATOR_COLUMNS}
    own = data.get(fields.get("meta", ""))
    kept = {"relations": data["relations"]} if data.get("relations") else {}
    row["meta"] = meta | (own if isinstance(own, dict) else {}) | kept
    if (
        (annotation.answered_at and annotation.raw not in (None, [], ""))
        or annotation.spans
        or annotation.evidence
    ):
        label = annotation.to_label()
        if annotator is not None or annotation.evidence:
            row["labels"] = [{"annotator": str(annotator or ANNOTATOR), "kind": "crowd", **label}]
        if annotator is None and "value" in label:
            row["gold"] = label["value"]
    return Translated(row)


def _are_spans(raw: Any) -> bool:
    """``[[0, 5, "PER"], …]`` or ``[{"start_offset", "end_offset", "label"}, …]``."""
    if not isinstance(raw, list) or not raw:
        return False
    return all(
        "start_offset" in span
        if isinstance(span, dict)
        else isinstance(span, list) and len(span) == 3
        for span in raw
    )


def _add_answer(annotation: ParsedAnnotation, raw: Any, name: str) -> None:
    if _are_spans(raw) or (name == "entities" and raw):
        for index, span in enumerate(raw if isinstance(raw, list) else [raw]):
            _add_span(annotation, span, f"{name}[{index}]")
    elif raw not in (None, [], ""):
        values = [key for key, there in raw.items() if there] if isinstance(raw, dict) else raw
        annotation.set_answer(name, values, name)


def _add_span(annotation: ParsedAnnotation, raw: Any, where: str) -> None:
    if isinstance(raw, list):
        if len(raw) != 3:
            raise RowFault("A span is [start, end, label].", field=where)
        start, end, label = raw
    else:
        span = as_object(raw, where)
        start, end, label = span.get("start_offset"), span.get("end_offset"), span.get("label")
    annotation.add_span(label, (start, end), None, where)


def column_names(data: Data) -> list[str]:
    """The columns of the text and what goes with it."""
    return [name for name in data if name not in (*SPANS, "relations", *ANNOTATOR_COLUMNS)]


def question_names(data: Data) -> list[str]:
    """The columns of categories."""
    return [name for name in PLAIN if data.get(name) and not _are_spans(data[name])]


SHAPE = Shape("doccano", fits, read, column_names, question_names)
