"""Reading label schemas: every fault is named by its field."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.schema.definition import LabelDef, Schema, Task, fold, number, unstorable
from labelhub.core.schema.lists import name_parts

MAX_LABELS = 200
MAX_NAME = 100
#: Squares of distances have to fit into floating point.
MOST_POINT = 1e12
FORBIDDEN_IN_NAMES = "#|\n\r\t\0"


class SchemaError(InvalidInput):
    """A label schema is not well formed; the message names the field."""

    code = "invalid_schema"


def parse_schema(data: Any) -> Schema:
    """Read a schema from JSON: ``{"task", "question", "labels": [{"name", ...} | "name"]}``.

    Raises:
        SchemaError: with the field that is wrong and what would be right.
    """
    if not isinstance(data, Mapping):
        raise SchemaError("A label schema must be a JSON object with the field 'task'.")
    try:
        task = Task(str(data.get("task", "")))
    except ValueError:
        raise SchemaError(f"task: must be one of {', '.join(Task)}.") from None
    question = data.get("question", "")
    _check_text(question, "question")
    raw_labels = data.get("labels", [])
    if not isinstance(raw_labels, list):
        raise SchemaError("labels: must be a list.")
    labels = tuple(
        read_label_def(raw, f"labels, number {at}") for at, raw in enumerate(raw_labels, start=1)
    )
    if task is Task.ORDINAL:
        labels = _with_points(labels)
    _check_count(task, labels)
    if task is Task.MULTI:
        _check_lists(labels)
    return Schema(task, question.strip(), labels, _index(labels))


def schema_from_names(task: str, names: Iterable[str]) -> Schema:
    """A schema whose labels have names only, as on the command line."""
    return parse_schema({"task": task, "labels": [{"name": name} for name in names]})


def read_label_def(raw: Any, where: str) -> LabelDef:
    """One label: its name, or an object with ``name`` and what is said of it.

    Raises:
        SchemaError: it begins with ``where``.
    """
    if isinstance(raw, str):
        raw = {"name": raw}
    if not isinstance(raw, Mapping):
        raise SchemaError(f"{where}: must be a name or an object with 'name'.")
    unknown = set(raw) - set(LabelDef.__dataclass_fields__)
    if unknown:
        raise SchemaError(f"{where}: unknown field '{min(map(str, unknown))}'.")
    texts = {key: raw.get(key, "") for key in ("name", "description", "include", "exclude")}
    for key, text in texts.items():
        _check_text(text, f"{where}, {key}")
    return LabelDef(
        name=_checked_name(texts["name"], where),
        description=texts["description"].strip(),
        include=texts["include"].strip(),
        exclude=texts["exclude"].strip(),
        examples_for=_examples(raw, "examples_for", where),
        examples_against=_examples(raw, "examples_against", where),
        point=_checked_point(raw.get("point"), where),
    )


def _check_text(raw: Any, where: str) -> None:
    if not isinstance(raw, str):
        raise SchemaError(f"{where}: must be text.")
    if bad := unstorable(raw):
        raise SchemaError(f"{where}: must not contain {bad}.")


def _checked_name(name: str, where: str) -> str:
    name = name.strip()
    if not name:
        raise SchemaError(f"{where}, name: must not be empty.")
    if len(name) > MAX_NAME:
        raise SchemaError(f"{where}, name: at most {MAX_NAME} characters.")
    bad = next((char for char in name if char in FORBIDDEN_IN_NAMES), None)
    if bad is not None:
        raise SchemaError(f"{where}, name: must not contain {bad!r}.")
    return name


def _examples(raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    given = raw.get(key, [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise SchemaError(f"{where}, {key}: must be a list of texts.")
    for text in given:
        _check_text(text, f"{where}, {key}")
    return tuple(text.strip() for text in given if text.strip())


def _checked_point(raw: Any, where: str) -> float | None:
    if raw is None:
        return None
    point = number(raw)
    if point is None:
        raise SchemaError(f"{where}, point: must be a number.")
    return point


def _with_points(labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
    """Scale points: as given, else the number the names spell, else 1, 2, 3 …"""
    if any(label.point is not None for label in labels):
        points = [label.point for label in labels]
    else:
        spelled = [number(label.name) for label in labels]
        counted = [float(at) for at in range(1, len(labels) + 1)]
        points = spelled if None not in spelled else list(counted)
    given = [point for point in points if point is not None]
    if len(given) < len(labels) or len(set(given)) < len(labels):
        raise SchemaError("labels: every scale point needs its own number in 'point'.")
    if max(map(abs, given), default=0) > MOST_POINT:
        raise SchemaError(f"labels: a scale point is at most {MOST_POINT:,.0f}.")
    return tuple(replace(label, point=point) for label, point in zip(labels, given, strict=True))


def _check_count(task: Task, labels: tuple[LabelDef, ...]) -> None:
    least = {Task.SINGLE: 2, Task.ORDINAL: 2, Task.MULTI: 1}.get(task, 0)
    if len(labels) < least:
        raise SchemaError(f"labels: a schema of task '{task}' needs at least {least}.")
    if len(labels) > MAX_LABELS:
        raise SchemaError(f"labels: at most {MAX_LABELS}.")
    if task in (Task.TEXT, Task.PER_ITEM) and labels:
        raise SchemaError(f"labels: a schema of task '{task}' has none of its own.")


def _check_lists(labels: tuple[LabelDef, ...]) -> None:
    """Names may have commas as long as a list of names reads in one way: what follows a comma
    within a name begins none."""
    begins: dict[str, str] = {}
    for label in labels:
        first, *rest = name_parts(label.name)
        if rest and not all((first, *rest)):
            raise SchemaError(f"labels: a comma in '{label.name}' needs words on both sides.")
        begins.setdefault(first, label.name)
    for label in labels:
        first, *rest = name_parts(label.name)
        other = next((begins[part] for part in rest if part in begins), None)
        if other is not None:
            raise SchemaError(
                f"labels: '{label.name}' cannot be told from a list of labels, because '{other}' "
                "is or begins like a part of it; rename one of them."
            )


def _index(labels: tuple[LabelDef, ...]) -> dict[str, LabelDef]:
    index: dict[str, LabelDef] = {}
    for label in labels:
        if index.setdefault(fold(label.name), label) is not label:
            raise SchemaError(f"labels: the name '{label.name}' is given twice.")
    return index
