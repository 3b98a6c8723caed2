"""Read label schemas from JSON; an error names the field."""

from collections.abc import Iterable, Mapping
from typing import Any

from labelhub.core.schema.definition import (
    COLORS,
    LabelDef,
    Schema,
    SchemaError,
    fold,
    number,
    unstorable,
)
from labelhub.core.schema.tasks import TASKS

MAX_LABELS = 200
MAX_NAME = 100
FORBIDDEN_IN_NAMES = "#|\n\r\t\0"


def parse_schema(data: Any) -> Schema:
    """Read a schema from JSON: ``{"task", "question", "labels": [{"name", ...} | "name"]}``.

    Raises:
        SchemaError: with the field that is wrong and what would be right.
    """
    if not isinstance(data, Mapping):
        raise SchemaError("A label schema must be a JSON object with the field 'task'.")
    task = TASKS.get(str(data.get("task", "")))
    if task is None:
        raise SchemaError("task: must be one of %(tasks)s.", tasks=", ".join(TASKS))
    question = data.get("question", "")
    _check_text(question, "question")
    raw_labels = data.get("labels", [])
    if not isinstance(raw_labels, list):
        raise SchemaError("labels: must be a list.")
    labels = tuple(
        read_label_def(raw, f"labels, number {number}")
        for number, raw in enumerate(raw_labels, start=1)
    )
    labels = task.check_labels(labels)
    if len(labels) < task.least_labels:
        raise SchemaError(
            "labels: a schema of task '%(task)s' needs at least %(least_labels)s.",
            task=task,
            least_labels=task.least_labels,
        )
    if len(labels) > MAX_LABELS:
        raise SchemaError("labels: at most %(max_labels)s.", max_labels=MAX_LABELS)
    if labels and not task.labelled:
        raise SchemaError("labels: a schema of task '%(task)s' has none of its own.", task=task)
    return Schema(task, question.strip(), labels, _labels_by_key(labels))


def _labels_by_key(labels: tuple[LabelDef, ...]) -> dict[str, LabelDef]:
    by_key: dict[str, LabelDef] = {}
    for label in labels:
        if by_key.setdefault(fold(label.name), label) is not label:
            raise SchemaError("labels: the name '%(name)s' is given twice.", name=label.name)
    return by_key


def schema_from_names(task: str, names: Iterable[str]) -> Schema:
    """A schema whose labels have only names, as on the command line."""
    return parse_schema({"task": task, "labels": [{"name": name} for name in names]})


def read_label_def(raw: Any, where: str) -> LabelDef:
    """One label: its name, or an object with ``name`` and other fields of :class:`LabelDef`.

    Raises:
        SchemaError: the message begins with ``where``.
    """
    if isinstance(raw, str):
        raw = {"name": raw}
    if not isinstance(raw, Mapping):
        raise SchemaError("%(where)s: must be a name or an object with 'name'.", where=where)
    unknown = set(raw) - set(LabelDef.__dataclass_fields__)
    if unknown:
        raise SchemaError(
            "%(where)s: unknown field '%(value)s'.", where=where, value=min(map(str, unknown))
        )
    texts = {key: raw.get(key, "") for key in ("name", "description", "include", "exclude")}
    for key, text in texts.items():
        _check_text(text, f"{where}, {key}")
    point = number(raw.get("point"))
    if point is None and raw.get("point") is not None:
        raise SchemaError("%(where)s, point: must be a number.", where=where)
    color = raw.get("color") or ""
    if color not in ("", *COLORS):
        raise SchemaError(
            "%(where)s, color: must be one of %(colors)s, or empty.",
            where=where,
            colors=", ".join(COLORS),
        )
    return LabelDef(
        name=_checked_name(texts["name"], where),
        description=texts["description"].strip(),
        include=texts["include"].strip(),
        exclude=texts["exclude"].strip(),
        examples_for=_examples(raw, "examples_for", where),
        examples_against=_examples(raw, "examples_against", where),
        point=point,
        color=color,
    )


def _check_text(raw: Any, where: str) -> None:
    if not isinstance(raw, str):
        raise SchemaError("%(where)s: must be text.", where=where)
    if bad := unstorable(raw):
        raise SchemaError("%(where)s: must not contain %(bad)s.", where=where, bad=bad)


def _checked_name(name: str, where: str) -> str:
    name = name.strip()
    if not name:
        raise SchemaError("%(where)s, name: must not be empty.", where=where)
    if len(name) > MAX_NAME:
        raise SchemaError(
            "%(where)s, name: at most %(max_name)s characters.", where=where, max_name=MAX_NAME
        )
    bad = next((char for char in name if char in FORBIDDEN_IN_NAMES), None)
    if bad is not None:
        raise SchemaError("%(where)s, name: must not contain %(bad)s.", where=where, bad=f"{bad!r}")
    return name


def _examples(raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    given = raw.get(key, [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise SchemaError("%(where)s, %(key)s: must be a list of texts.", where=where, key=key)
    for text in given:
        _check_text(text, f"{where}, {key}")
    return tuple(text.strip() for text in given if text.strip())
