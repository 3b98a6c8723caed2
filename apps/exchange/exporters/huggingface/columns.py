"""Rows as typed columns, described twice: for Arrow and for ``datasets``."""

import json
from collections.abc import Mapping
from typing import Any

from apps.exchange.exporters.base import Row, spans_of
from apps.exchange.shapes.studio_task import KEPT
from apps.labels.models import Kind
from labelhub.core.schema import Schema, Value

#: Read by ``datasets`` 2 to 5: lists of records as lists, lists of one type as ``Sequence``.
STRING, NUMBER = {"dtype": "string", "_type": "Value"}, {"dtype": "float64", "_type": "Value"}
WHOLE, TRUTH = {"dtype": "int64", "_type": "Value"}, {"dtype": "bool", "_type": "Value"}
TURNS = [{"role": STRING, "text": STRING}]
QUOTES = [{"label": STRING, "text": STRING, "start": WHOLE, "end": WHOLE}]
MACHINES = (Kind.LLM, Kind.MODEL)
#: What only the tool knows what to do with that the items came from.
HIDDEN = (KEPT, "argilla")


def current(labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The labels that stand: neither superseded nor taken back, and no mere rejections."""
    return [one for one in standing(labels) if not one["rejected"]]


def standing(labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last words of annotators, rejections of a suggestion without a label among them."""
    superseded = {label["supersedes"] for label in labels}
    return [one for one in labels if not one["withdrawn"] and one["uid"] not in superseded]


class Columns:
    """The columns of one export, and its rows in them."""

    def __init__(self, schema: Schema, *, annotated: bool) -> None:
        """``annotated``: with all labels, beside the decided value."""
        self.schema = schema
        self.answer = "labels" if schema.task.several else "label"
        self._classes = {label.name: at for at, label in enumerate(schema.labels)}
        self._numbers: dict[tuple[str, str], int] = {}
        self.features = self._features(annotated=annotated)

    def arrow(self) -> Any:
        """The Arrow schema, with what ``datasets`` makes of it."""
        import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

        told = json.dumps({"info": {"features": self.features}}, ensure_ascii=False)
        fields = [(name, _arrow_type(feature)) for name, feature in self.features.items()]
        return pa.schema(fields, metadata={"huggingface": told})

    def record(self, row: Row) -> dict[str, Any]:
        """One row; an undecided item has no label."""
        history = row.get("gold_history") or [{}]
        record = {
            "id": row["id"],
            "text": row["text"],
            "context": row["context"],
            "question": row["question"],
            "options": row["options"],
            self.answer: self._value(row.get("gold")),
            "decided_by": history[-1].get("basis") if row.get("gold") is not None else None,
            "meta": _json({key: one for key, one in row["meta"].items() if key not in HIDDEN}),
        }
        if "annotations" in self.features:
            said = current(row.get("labels", []))
            record["annotations"] = [self._annotation(label, row["text"]) for label in said]
        return record

    def _features(self, *, annotated: bool) -> dict[str, Any]:
        answer = self._answer_feature()
        features = {
            "id": STRING,
            "text": STRING,
            "context": TURNS,
            "question": STRING,
            "options": {"feature": STRING, "_type": "Sequence"},
            self.answer: answer,
            "decided_by": STRING,
            "meta": STRING,
        }
        annotation = {
            "annotator": STRING,
            "kind": STRING,
            self.answer: answer,
            "abstained": TRUTH,
            "confidence": NUMBER,
            "rationale": STRING,
            "evidence": QUOTES,
            "seconds": NUMBER,
            "created_at": STRING,
        }
        return {**features, "annotations": [annotation]} if annotated else features

    def _answer_feature(self) -> dict[str, Any]:
        names = {"names": list(self.schema.names), "_type": "ClassLabel"}
        lists = {"feature": names, "_type": "Sequence"}
        kinds: dict[str, dict[str, Any]] = {
            "class": names,
            "classes": lists,
            "number": NUMBER,
            "text": STRING,
        }
        return kinds[self.schema.task.column]

    def _value(self, value: Value | None) -> Any:
        """A class by its number; one of a version of the schema that is no more, none."""
        if self.schema.task.column == "class":
            return self._classes.get(str(value))
        if isinstance(value, list):
            return [self._classes[name] for name in value if name in self._classes]
        return value

    def _annotation(self, label: Mapping[str, Any], text: str) -> dict[str, Any]:
        return {
            "annotator": self._who(label),
            "kind": label["kind"],
            self.answer: self._value(label["value"]),
            "abstained": label["abstained"],
            "confidence": label["confidence"],
            "rationale": label["rationale"],
            "evidence": _quotes(label, text),
            "seconds": label["seconds"],
            "created_at": label["created_at"],
        }

    def _who(self, label: Mapping[str, Any]) -> str:
        """Machines by name; people by a number, the same all through the file."""
        kind, name = label["kind"], label["annotator"]
        if kind in MACHINES:
            return f"{name} ({label['note']})" if "note" in label else str(name)
        number = self._numbers.setdefault((kind, name), len(self._numbers) + 1)
        return f"{kind} {number}"


def _quotes(label: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """With their places where these are known."""
    quotes, told = [], set()
    for name, start, end in spans_of(label, text):
        told.add((name, text[start:end]))
        quotes.append({"label": name, "text": text[start:end], "start": start, "end": end})
    for name, phrases in label["evidence"].items():
        quotes += [{"label": name, "text": one} for one in phrases if (name, one) not in told]
    return quotes


def _json(meta: Mapping[str, Any]) -> str:
    return json.dumps(meta, ensure_ascii=False) if meta else ""


def _arrow_type(feature: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    if isinstance(feature, list):
        fields = feature[0].items()
        return pa.list_(pa.struct([(name, _arrow_type(inner)) for name, inner in fields]))
    if feature["_type"] == "Sequence":
        return pa.list_(_arrow_type(feature["feature"]))
    if feature["_type"] == "ClassLabel":
        return pa.int64()
    return {"string": pa.string(), "float64": pa.float64(), "int64": pa.int64()}.get(
        feature["dtype"], pa.bool_()
    )
