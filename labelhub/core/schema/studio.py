"""Label schemas out of Label Studio's labeling configurations (``<View>``)."""

import math
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from labelhub.core.schema.definition import Schema, SchemaError
from labelhub.core.schema.reading import MAX_LABELS, parse_schema

#: What controls beside the question go by, without blanks and underscores.
ROLES = {
    **dict.fromkeys(("rationale", "reason", "explanation", "justification", "why"), "rationale"),
    **dict.fromkeys(("comment", "comments", "note", "notes"), "comment"),
    **dict.fromkeys(("confidence", "certainty"), "confidence"),
}
QUESTIONS = ("Choices", "Rating", "Number", "TextArea")
QUOTES = ("Labels", "HyperTextLabels")
MAX_CHARS = 1_000_000


def role_of(name: object) -> str:
    """``rationale``, ``comment``, ``confidence``, or empty for the name of a question."""
    plain = str(name or "").casefold()
    return ROLES.get("".join(char for char in plain if char not in "_- "), "")


def schema_from_studio(config: str, answer: str = "") -> Schema:
    """The schema that a configuration asks for: its one question, as ``answer`` names it.

    Labels of parts of the text alone are a set of labels, whose parts are their evidence.

    Raises:
        SchemaError: no XML, no question, several and none chosen, or one that cannot be asked here.
    """
    root = _parsed(config)
    controls = [one for one in root.iter() if one.get("toName") and _of_all(one)]
    asked = [one for one in controls if one.tag in QUESTIONS and _is_question(one, answer)]
    quotes = [one for one in controls if one.tag in QUOTES and answer in ("", one.get("name"))]
    if answer:
        asked = [one for one in asked if one.get("name") == answer]
    if len(asked) > 1:
        names = ", ".join(str(one.get("name")) for one in asked)
        raise SchemaError(f"config: it asks several questions ({names}); choose one (answer).")
    found = next(iter(asked or quotes), None)
    if found is None:
        tags = ", ".join(dict.fromkeys(str(one.tag) for one in controls)) or "none"
        raise SchemaError(
            f"config: it needs one of {', '.join((*QUESTIONS, 'Labels'))}; its controls: {tags}."
        )
    return parse_schema({**_definition(found), "question": _heading(root)})


def _parsed(config: str) -> Element:
    if len(config) > MAX_CHARS:
        raise SchemaError(f"config: longer than {MAX_CHARS:,} characters.")
    try:
        root: Element = fromstring(config)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise SchemaError(f"config: is not XML that can be read ({error}).") from None
    return root


def _of_all(control: Element) -> bool:
    return control.get("perRegion") != "true" and control.get("perItem") != "true"


def _is_question(control: Element, answer: str) -> bool:
    return control.get("name") == answer or not role_of(control.get("name"))


def _heading(root: Element) -> str:
    told = [one.get("value", "") for one in root.iter("Header")]
    return next((text for text in told if text and not text.startswith("$")), "")


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
    """An alias is what results hold; the text shown is then a description."""
    for one in control.iter(tag):
        if one.find(tag) is not None:
            raise SchemaError(f"config: '{one.get('value')}' has choices inside; list them flat.")
        shown, alias = one.get("value", ""), one.get("alias", "")
        told = [shown if alias and alias != shown else "", one.get("hint", "")]
        yield {"name": alias or shown, "description": ": ".join(part for part in told if part)}


def _number(control: Element, name: str, default: float) -> float:
    try:
        given = float(control.get(name, default))
    except ValueError:
        given = math.nan
    if not math.isfinite(given):
        raise SchemaError(f"config: {name} of {control.tag} must be a number.")
    return given


def _scale(least: float, most: float, step: float) -> dict[str, Any]:
    points = (most - least) / step + 1 if step > 0 else 0
    if not 2 <= points <= MAX_LABELS:
        raise SchemaError(f"config: a scale has 2 to {MAX_LABELS} points.")
    values = [least + at * step for at in range(int(points))]
    labels = [{"name": f"{value:g}", "point": value} for value in values]
    return {"task": "ordinal", "labels": labels}
