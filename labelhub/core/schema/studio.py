"""Read label schemas from Label Studio's labeling configurations (``<View>``)."""

import math
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from labelhub.core.schema.definition import Schema, SchemaError
from labelhub.core.schema.parser import MAX_LABELS, parse_schema

#: The role of controls beside the question, by their names without blanks and underscores.
ROLES = {
    **dict.fromkeys(("rationale", "reason", "explanation", "justification", "why"), "rationale"),
    **dict.fromkeys(("comment", "comments", "note", "notes"), "comment"),
    **dict.fromkeys(("confidence", "certainty"), "confidence"),
}
QUESTIONS = ("Choices", "Rating", "Number", "TextArea")
QUOTES = ("Labels", "HyperTextLabels")
MAX_CHARS = 1_000_000


def role_of(name: object) -> str:
    """``rationale``, ``comment`` or ``confidence`` for a control of that name; empty for a
    question."""
    plain = str(name or "").casefold()
    return ROLES.get("".join(char for char in plain if char not in "_- "), "")


def schema_from_studio(config: str, answer: str = "") -> Schema:
    """The schema of a configuration's only question, or of the one that ``answer`` names.

    A configuration with labels for parts of the text alone asks for a set of labels; the parts are
    their evidence.

    Raises:
        SchemaError: the configuration is no XML, has no question or several and none is chosen, or
            its question has no label type here.
    """
    root = _parse_xml(config)
    controls = [
        control
        for control in root.iter()
        if control.get("toName")
        and "true" not in (control.get("perRegion"), control.get("perItem"))
    ]
    asked = [
        control
        for control in controls
        if control.tag in QUESTIONS
        and (control.get("name") == answer or not role_of(control.get("name")))
    ]
    quotes = [
        control
        for control in controls
        if control.tag in QUOTES and answer in ("", control.get("name"))
    ]
    if answer:
        asked = [control for control in asked if control.get("name") == answer]
    if len(asked) > 1:
        names = ", ".join(str(control.get("name")) for control in asked)
        raise SchemaError(
            "config: it asks several questions (%(names)s); choose one (answer).", names=names
        )
    found = next(iter(asked or quotes), None)
    if found is None:
        tags = ", ".join(dict.fromkeys(str(control.tag) for control in controls)) or "none"
        raise SchemaError(
            "config: it needs one of %(value)s; its controls: %(tags)s.",
            value=", ".join((*QUESTIONS, "Labels")),
            tags=tags,
        )
    headers = (header.get("value", "") for header in root.iter("Header"))
    question = next((text for text in headers if text and not text.startswith("$")), "")
    return parse_schema({**_definition(found), "question": question})


def _parse_xml(config: str) -> Element:
    if len(config) > MAX_CHARS:
        raise SchemaError("config: longer than %(max_chars)s characters.", max_chars=MAX_CHARS)
    try:
        root: Element = fromstring(config)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise SchemaError("config: is not XML that can be read (%(error)s).", error=error) from None
    return root


def _definition(control: Element) -> dict[str, Any]:
    match control.tag:
        case "TextArea":
            return {"task": "text"}
        case "Rating":
            return _scale(1, _number(control, "maxRating", 5), 1)
        case "Number":
            return _scale(
                _number(control, "min", 0), _number(control, "max", 10), _number(control, "step", 1)
            )
        case "Choices" if control.get("value", "").startswith("$"):
            return {"task": "per_item"}
        case "Choices":
            several = control.get("choice") == "multiple"
            labels = list(_labels(control, "Choice"))
            return {"task": "multi" if several else "single", "labels": labels}
        case _:
            return {"task": "multi", "labels": list(_labels(control, "Label"))}


def _labels(control: Element, tag: str) -> Iterator[dict[str, str]]:
    """Results hold the alias of a choice; the text shown is then a description."""
    for choice in control.iter(tag):
        if choice.find(tag) is not None:
            raise SchemaError(
                "config: '%(value)s' has choices inside; list them flat.", value=choice.get("value")
            )
        shown, alias = choice.get("value", ""), choice.get("alias", "")
        described = [shown if alias and alias != shown else "", choice.get("hint", "")]
        yield {"name": alias or shown, "description": ": ".join(part for part in described if part)}


def _number(control: Element, name: str, default: float) -> float:
    try:
        given = float(control.get(name, default))
    except ValueError:
        given = math.nan
    if not math.isfinite(given):
        raise SchemaError(
            "config: %(name)s of %(tag)s must be a number.", name=name, tag=control.tag
        )
    return given


def _scale(least: float, most: float, step: float) -> dict[str, Any]:
    points = (most - least) / step + 1 if step > 0 else 0
    if not 2 <= points <= MAX_LABELS:
        raise SchemaError("config: a scale has 2 to %(max_labels)s points.", max_labels=MAX_LABELS)
    values = [least + number * step for number in range(int(points))]
    labels = [{"name": f"{value:g}", "point": value} for value in values]
    return {"task": "ordinal", "labels": labels}
