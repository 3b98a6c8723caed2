"""The labeling configuration that goes with the Label Studio export."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from django.utils.translation import gettext_lazy as _

from apps.exchange.exporters.base import Chunks, ExportFormat, Source
from apps.exchange.exporters.labelstudio import Names, names_of
from labelhub.core.schema import Schema

#: Other control characters are in no XML document.
ALLOWED = "\t\n\r"


def write(_chunks: Chunks, source: Source) -> Iterator[bytes]:
    """One ``<View>``; no item is read for it."""
    yield config_of(source.schema, names_of(source.project))


def config_of(schema: Schema, names: Names) -> bytes:
    """The configuration: the question, the text and the labels, with quotes and words beside."""
    view = Element("View")
    if schema.question:
        _add(view, "Header", value=schema.question)
    if names.context:
        _add(view, "Paragraphs", name="context", value="$context", layout="dialogue",
             nameKey="role", textKey="text")  # fmt: skip
    _add(view, "Text", name=names.text, value=f"${names.column}")
    _add_answer_control(view, schema, names)
    if schema.labels:
        quotes = _add(view, "Labels", name=names.evidence, toName=names.text)
        for label in schema.labels:
            _add(quotes, "Label", value=label.name)
    _add(view, "TextArea", name=names.rationale, toName=names.text, placeholder="Why?")
    _add(view, "TextArea", name=names.comment, toName=names.text, placeholder="Comment")
    _add(view, "Number", name=names.confidence, toName=names.text, min="0", max="1", step="0.01")
    indent(view)
    return bytes(tostring(view, encoding="utf-8")) + b"\n"


def _add_answer_control(view: Element, schema: Schema, names: Names) -> None:
    to = {"name": names.answer, "toName": names.text}
    if schema.task.written:
        _add(view, "TextArea", **to)
    elif schema.task.item_options:
        _add(view, "Choices", **to, value="$choices", choice="single")
    elif names.kind == "rating":
        _add(view, "Rating", **to, maxRating=f"{max(_points(schema)):g}")
    elif names.kind == "number":
        points = _points(schema)
        _add(view, "Number", **to, min=f"{min(points):g}", max=f"{max(points):g}")
    else:
        choice = "multiple" if schema.task.several else "single"
        choices = _add(view, "Choices", **to, choice=choice)
        for label in schema.labels:
            hint = {"hint": label.description} if label.description else {}
            _add(choices, "Choice", value=label.name, **hint)


def _points(schema: Schema) -> list[float]:
    return [label.point for label in schema.labels if label.point is not None] or [5]


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    clean = {
        name: "".join(char for char in value if char >= " " or char in ALLOWED)
        for name, value in attributes.items()
    }
    return SubElement(parent, tag, clean)


FORMAT = ExportFormat(
    name="labelstudio-config",
    title=_("Label Studio configuration"),
    suffix=".xml",
    content_type="application/xml",
    write=write,
    lossless=False,
)
