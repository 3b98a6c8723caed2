"""Shared by the translators of other tools' rows, and the annotation they gather. No I/O."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from apps.exchange.columns import ColumnMap, Question
from apps.exchange.readers.base import RowFault
from apps.exchange.values import ImportSchema, LabelLeftOut, is_number, label_value
from apps.labels.models import Label
from labelhub.core.schema import Schema, Value
from labelhub.core.schema.definition import number

#: The namespace of UUIDs that are made from the content of labels without one.
NAMESPACE = UUID("0c3c5a0e-8f0d-4d64-9f0a-6a1c1b1f7a11")

Data: TypeAlias = Mapping[str, Any]
#: The fields of an item that a column of another tool can hold.
FIELDS = ("id", "text", "context", "question", "options")


class Translated(NamedTuple):
    """A row in our own fields, with remarks (field, message) that are shown once for the file."""

    row: dict[str, Any]
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """Rows of one tool: ``fits`` looks at the keys alone, ``read`` raises ``RowFault``.

    ``columns`` are those that may be chosen as text, id and so on; ``questions`` are those that the
    row answers; one of them can be the project's.
    """

    title: str
    fits: Callable[[Data], bool]
    read: Callable[[Data, ColumnMap, Schema], Translated]
    columns: Callable[[Data], Iterable[str]]
    questions: Callable[[Data], Iterable[str]]


MOST_SECONDS = 1e15


@dataclass(frozen=True, slots=True)
class AnnotationContext:
    """The context of one row's labels: schema, the item's text and options, the question."""

    schema: Schema
    text: str
    options: Sequence[str]
    question: Question

    @classmethod
    def of(cls, row: Mapping[str, Any], schema: Schema, question: Question) -> "AnnotationContext":
        """Made of the row's own fields, which are not checked yet."""
        options = row.get("options")
        if isinstance(options, str):
            options = [part.strip() for part in options.split("|")]
        given = options if isinstance(options, list) else []
        offered = [option for option in given if isinstance(option, str)]
        return cls(schema, str(row.get("text") or ""), offered, question)


@dataclass(slots=True)
class ParsedAnnotation:
    """One annotation, collected part by part."""

    asked: AnnotationContext
    raw: Any = None
    answered_at: str = ""
    spans: list[dict[str, Any]] = field(default_factory=list)
    evidence: dict[str, list[str]] = field(default_factory=dict)
    rationale: list[str] = field(default_factory=list)
    comment: list[str] = field(default_factory=list)
    confidence: float | None = None

    def set_answer(self, name: str, raw: Any, where: str) -> None:
        """The answer to the question ``name``; ignored unless it is the project's question.

        Raises:
            RowFault: the file asks several questions and nobody chose one, or two answers.
        """
        if not self.asked.question.matches(name, where):
            return
        if self.answered_at:
            raise RowFault(
                "'%(name)s' is answered twice in one annotation.",
                name=name[:80],
                field=where,
            )
        self.raw, self.answered_at = raw, where

    def add_words(self, role: str, raw: Any) -> None:
        """Add to the rationale or the comment: one text or several."""
        texts = raw if isinstance(raw, list) else [raw]
        nonblank = [text for text in texts if isinstance(text, str) and text.strip()]
        (self.rationale if role == "rationale" else self.comment).extend(nonblank)

    def set_confidence(self, raw: Any) -> None:
        """The confidence, if ``raw`` is a share from 0 to 1."""
        if is_number(raw) and 0 <= raw <= 1:
            self.confidence = float(raw)

    def add_span(self, label: Any, ends: tuple[Any, Any], quote: Any, where: str) -> None:
        """Add a quoted part of the text as evidence for ``label``.

        Raises:
            RowFault: the project has no such label, or the ends are not in the text.
        """
        try:
            name = self._label_name(label, where)
        except LabelLeftOut:
            return
        found = locate_quote(self.asked.text, ends, quote, where)
        if found is not None:
            self.spans.append({"label": name, "start": found[0], "end": found[1]})
        phrase = quote if isinstance(quote, str) else self.asked.text[slice(*found or (0, 0))]
        phrases = self.evidence.setdefault(name, [])
        if phrase and phrase not in phrases:
            phrases.append(phrase)

    def _label_name(self, raw: Any, where: str) -> str:
        schema, name = self.asked.schema, str(raw)
        if isinstance(schema, ImportSchema) and schema.task.labelled:
            name = str(schema.settle(name, where))
        known = schema.label(name)
        if known is not None:
            return known.name
        offered = schema.offered(self.asked.options)
        if offered and name not in offered:
            shown = ", ".join(offered[:12])
            raise RowFault(
                "'%(name)s' is not a label here; there are: %(shown)s.",
                name=name[:80],
                shown=shown,
                field=where,
            )
        return name

    def value(self) -> Value | None:
        """The canonical answer; None when there is none. A quote for a label of a set means that
        the label is present.

        Raises:
            RowFault: the answer is not offered.
        """
        schema = self.asked.schema
        if self.answered_at:
            raw = self.raw
            if isinstance(raw, list) and schema.task.written:
                raw = "\n".join(str(text) for text in raw)
            return label_value(schema, raw, self.asked.options, where=self.answered_at)
        if schema.task.several and self.evidence:
            return label_value(schema, list(self.evidence), (), where="")
        return None

    def to_label(self) -> dict[str, Any]:
        """The parts of a label row that are not empty. Without an answer the label is kept aside:
        other tools let people submit nothing, which is neither "none of these" nor "unsure"."""
        try:
            value = self.value()
        except LabelLeftOut:
            value = None
        empty = {"withdrawn": True, "role": Label.Role.EMPTY}
        label: dict[str, Any] = empty if value is None else {"value": value}
        provenance = {"spans": self.spans, "comment": "\n".join(self.comment)}
        label["provenance"] = {name: kept for name, kept in provenance.items() if kept}
        besides = {
            "evidence": self.evidence,
            "rationale": "\n".join(self.rationale),
            "confidence": self.confidence,
        }
        return label | {name: kept for name, kept in besides.items() if kept not in ({}, "", None)}


def seconds_of(raw: Any) -> dict[str, float]:
    """The field ``seconds`` of a label, if ``raw`` is a duration or the text of one."""
    seconds = number(raw)
    return {"seconds": seconds} if seconds is not None and 0 <= seconds < MOST_SECONDS else {}


def user_name(raw: Any) -> str:
    """The annotator's name of a Label Studio user: the address or name, else the number."""
    if isinstance(raw, dict):
        raw = raw.get("email") or raw.get("username") or raw.get("id")
    name = "" if raw is None else str(raw).strip()[:200]
    return f"Label Studio user {name}" if name.isdigit() else name or "Label Studio"


def locate_quote(
    text: str, ends: tuple[Any, Any], quote: Any, where: str
) -> tuple[int, int] | None:
    """(start, end) in code points; None where the text has another quote there.

    Tools count code points, older ones UTF-16 units: the quote shows which.

    Raises:
        RowFault: no whole numbers, or beyond the text.
    """
    start, end = ends
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in ends):
        raise RowFault("Start and end must be whole numbers.", field=where)
    units = text.encode("utf-16-le")
    if not 0 <= start <= end <= len(units) // 2:
        raise RowFault(
            "From %(start)s to %(end)s is not within the text of %(text)s characters.",
            start=start,
            end=end,
            text=len(text),
            field=where,
        )
    if end <= len(text) and (quote is None or text[start:end] == quote):
        return start, end
    before = units[: 2 * start].decode("utf-16-le", "replace")
    inside = units[2 * start : 2 * end].decode("utf-16-le", "replace")
    if quote is None or inside == quote:
        return len(before), len(before) + len(inside)
    return None


def only_text(data: Mapping[str, Any]) -> str:
    """The name of the only column with a text; empty where there are several, or none."""
    names = [name for name, value in data.items() if isinstance(value, str)]
    return names[0] if len(names) == 1 else ""


def chain_revisions(labels: Iterable[dict[str, Any]]) -> None:
    """Let each label supersede the one before it by the same annotator."""
    last: dict[tuple[str, str], str] = {}
    for label in labels:
        if label.get("withdrawn"):
            continue
        annotator = label["kind"], label["annotator"]
        if annotator in last:
            label["supersedes"] = last[annotator]
        last[annotator] = label["uid"]
