"""A label of ours as Label Studio's results: the answer, quotes, and words beside them."""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.exchange.exporters.base import spans_of
from apps.exchange.exporters.studio_names import Names
from apps.exchange.shapes.studio import number_of
from labelhub.core.schema import Schema, Value


def results_of(
    label: Mapping[str, Any], schema: Schema, names: Names, text: str
) -> list[dict[str, Any]]:
    """Empty for labels without a value, whatever else they say: an answer is what others attach to.

    Quotes go along for the labels of the schema, where they stand in ``text``.
    """
    if label["value"] is None:
        return []
    score = label.get("confidence")
    parts = [_answer(label["value"], schema, names)]
    parts += [
        (names.evidence, "labels", {"start": start, "end": end, "text": text[start:end],
                                    "labels": [name]})
        for name, start, end in _quotes(label, schema, text)
    ]  # fmt: skip
    if label.get("rationale"):
        parts.append((names.rationale, "textarea", {"text": [label["rationale"]]}))
    if comment := label.get("provenance", {}).get("comment"):
        parts.append((names.comment, "textarea", {"text": [str(comment)]}))
    if score is not None:
        parts.append((names.confidence, "number", {"number": score}))
    number = number_of(label["uid"])
    made = [
        {"id": f"r{number}-{at}" if at else f"r{number}", "from_name": name, "to_name": names.text,
         "type": kind, "value": value}
        for at, (name, kind, value) in enumerate(parts)
    ]  # fmt: skip
    if score is not None:
        made[0]["score"] = score
    return made


def _answer(value: Value, schema: Schema, names: Names) -> tuple[str, str, dict[str, Any]]:
    if schema.task.written:
        return names.answer, "textarea", {"text": [value]}
    if names.kind in ("rating", "number") and isinstance(value, int | float):
        return names.answer, names.kind, {names.kind: value}
    chosen = value if isinstance(value, list) else [schema.name_of(value)]
    return names.answer, "choices", {"choices": chosen}


def _quotes(label: Mapping[str, Any], schema: Schema, text: str) -> Iterator[tuple[str, int, int]]:
    """Where the quotes stand: as told, else where their words are first."""
    told = set()
    for name, start, end in spans_of(label, text):
        if name in schema.names:
            told.add((name, text[start:end]))
            yield name, start, end
    for name, phrases in (label.get("evidence") or {}).items():
        for phrase in phrases if name in schema.names else ():
            start = text.find(phrase)
            if start >= 0 and (name, phrase) not in told:
                yield name, start, start + len(phrase)
