"""From the user's file to a project with items and gold, made once and found again."""

import hashlib
import io
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.core.management import call_command

from apps.agreement.papers.rowsof import (
    FileRow,
    gold_column,
    gold_of,
    read_rows,
    readable,
    schema_of,
    truth_columns,
)
from apps.debates.selectors.experiments import verified_items
from apps.debates.services.experiments import chosen_items
from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema, find_project
from apps.projects.services import create_project
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema, Task, parse_schema, schema_from_names

#: Under these a text and its gold go into a file made for the importer.
TEXT, GOLD = "text", "gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How a file is to be read, beyond what it says itself.

    ``text_columns``: more than one are joined, each under its name; ``only``: the one label asked
    about, where a table is of a single interest; ``slug``: the project to use in place of its own.
    """

    task: str = ""
    labels: Sequence[str] = ()
    schema: Schema | None = None
    text_columns: Sequence[str] = ()
    id_column: str = ""
    gold_column: str = ""
    guideline: str = ""
    only: str = ""
    slug: str = ""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file's project; ``item_ids`` have gold and are what its table is about."""

    title: str
    project: Project
    labels: LabelSchema
    item_ids: Sequence[int]


def bring(path: Path, choice: Choice, limit: int | None) -> Brought:
    """The project of a file: found by its content and by how it is read, else made.

    Raises:
        InvalidInput: the file cannot be read, or nothing in it has gold.
    """
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    told = choice.schema or _named(choice)
    rows = read_rows(path) if readable(path) or told is None else []
    column = gold_column(rows, choice.gold_column) if rows else choice.gold_column
    truths = [] if column else truth_columns(rows)
    schema = told or _as_task(schema_of(rows, column, truths), choice.task)
    choice = replace(choice, only=_spelled(schema, choice.only))
    if choice.only and schema.task is Task.MULTI:
        schema = _of_one(schema, choice.only)
    slug = choice.slug or _slug(path, schema, choice)
    project = Project.objects.filter(slug=slug).first() or create_project(
        actor=None, slug=slug, name=path.name[:100], schema=schema, guideline=choice.guideline
    )
    if rows and _is_made_anew(column, truths, choice):
        _import_rows(project, [_prepared(row, column, truths, choice) for row in rows], choice)
    else:
        _import(project, path, _columns(choice))
    return known(project, path.stem, limit)


def known(project: Project, title: str, limit: int | None) -> Brought:
    """A project as it is.

    Raises:
        InvalidInput: none of its items has gold.
    """
    labels = current_schema(project)
    if not verified_items(project, labels).exists():
        raise InvalidInput(
            f"gold: no item of '{project.slug}' says what is right under its labels; name the "
            "column with --gold-column."
        )
    return Brought(title, project, labels, chosen_items(project, limit))


def project_of(slug: str, limit: int | None) -> Brought:
    """An existing project.

    Raises:
        NotFound: there is none of that name.
        InvalidInput: none of its items has gold.
    """
    return known(find_project(slug), slug, limit)


def _named(choice: Choice) -> Schema | None:
    return schema_from_names(choice.task or "single", choice.labels) if choice.labels else None


def _as_task(schema: Schema, task: str) -> Schema:
    """The same labels for another kind of question, as ``--task`` has it."""
    return schema_from_names(task, schema.names) if task and task != schema.task else schema


def _is_made_anew(column: str, truths: Sequence[str], choice: Choice) -> bool:
    """Whether the importer would not take the file as it is."""
    return bool(truths or choice.only or len(choice.text_columns) > 1 or "." in column)


def _spelled(schema: Schema, wanted: str) -> str:
    """The label meant by ``--aspect``, as the schema writes it."""
    if not wanted:
        return ""
    found = next((name for name in schema.names if name.casefold() == wanted.casefold()), None)
    if found is None:
        raise InvalidInput(
            f"aspect: the file has no label '{wanted}'; it has {', '.join(schema.names)}."
        )
    return found


def _of_one(schema: Schema, name: str) -> Schema:
    """The schema with one of its labels only: the models are asked about no other."""
    definition = schema.to_json()
    kept = [label for label in definition["labels"] if label["name"] == name]
    return parse_schema({**definition, "labels": kept})


def _slug(path: Path, schema: Schema, choice: Choice) -> str:
    """``paper-reviews-1a2b3c4d``: of the file's name, its content and how it is read."""
    read = [schema.to_json(), choice.guideline, list(choice.text_columns), choice.gold_column]
    content = path.read_bytes() + json.dumps([*read, choice.id_column], sort_keys=True).encode()
    stem = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:30]
    return "-".join(filter(None, ("paper", stem, hashlib.sha256(content).hexdigest()[:8])))


def _prepared(row: FileRow, column: str, truths: Sequence[str], choice: Choice) -> dict[str, Any]:
    """The row for the importer: texts joined, gold as the schema asks for it."""
    gold = gold_of(row, column, truths)
    dropped = {column, *truths, *(choice.text_columns if len(choice.text_columns) > 1 else ())}
    made = {name: value for name, value in row.items() if name not in dropped}
    if len(choice.text_columns) > 1:
        made[TEXT] = _joined(row, choice.text_columns)
    present = gold
    if isinstance(gold, dict):
        present = [name for name, there in gold.items() if there]
    if choice.only and isinstance(present, list):
        present = [name for name in present if name == choice.only]
    return made | {GOLD: present}


def _joined(row: FileRow, columns: Sequence[str]) -> str:
    missing = next((name for name in columns if name not in row), None)
    if missing is not None:
        raise InvalidInput(f"text-column: a row of the file has no column '{missing}'.")
    return "\n".join(f"{name}: {row[name]}" for name in columns)


def _columns(choice: Choice) -> dict[str, str]:
    given = {
        "text": choice.text_columns[0] if choice.text_columns else "",
        "id": choice.id_column,
        "gold": choice.gold_column,
    }
    return {f"{field}_column": column for field, column in given.items() if column}


def _import_rows(project: Project, rows: Sequence[Mapping[str, Any]], choice: Choice) -> None:
    joined = len(choice.text_columns) > 1
    columns = _columns(
        replace(choice, gold_column="", text_columns=() if joined else choice.text_columns)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("\n".join(lines), encoding="utf-8")
        _import(project, path, columns)


def _import(project: Project, path: Path, columns: Mapping[str, str]) -> None:
    """By the importer's own command: this app and the importer's do not know each other."""
    call_command(
        "import_items", project.slug, str(path), json=True, stdout=io.StringIO(), **columns
    )
