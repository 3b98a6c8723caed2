"""Files and imports for the tests of this folder."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.urls import reverse

from apps.accounts.models import User
from apps.exchange.columns import ColumnMap
from apps.exchange.exporters import FORMATS, export_pieces
from apps.exchange.readers.base import RawRow
from apps.exchange.readers.isolation import PLACES, reading_place, refuse_after
from apps.exchange.rows import ItemRow, RowError, read_row
from apps.exchange.services.imports import queue_import, receive_upload, run_import, store_upload
from apps.exchange.services.label_files import LabelFileResult, import_label_file
from apps.projects.models import ImportBatch, Project
from labelhub.core.schema import Schema, parse_schema

MOOD = {"task": "single", "labels": ["good", "bad"]}


def read(row: dict[str, Any], schema: Schema | Any = MOOD, **chosen: str) -> ItemRow | RowError:
    """The row as an import reads it, with these columns."""
    parsed = schema if isinstance(schema, Schema) else parse_schema(schema)
    return read_row(RawRow(7, row), ColumnMap(chosen), parsed)


def good(row: dict[str, Any], schema: Schema | Any = MOOD, **chosen: str) -> ItemRow:
    """The item row; a fault fails the test."""
    found = read(row, schema, **chosen)
    assert isinstance(found, ItemRow), found
    return found


def fault(row: dict[str, Any], schema: Schema | Any = MOOD, **chosen: str) -> tuple[str, str]:
    """(field, message)."""
    found = read(row, schema, **chosen)
    assert isinstance(found, RowError), found
    assert found.row == 7
    return found.field, found.message


def lines(*rows: Any) -> bytes:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def queued(
    project: Project,
    content: bytes,
    name: str = "rows.jsonl",
    *,
    actor: User | None = None,
    **choices: Any,
) -> ImportBatch:
    """A batch that is ready to run."""
    path = store_upload([content])
    batch = receive_upload(project=project, actor=actor, path=path, file_name=name)
    return queue_import(batch, **choices)


def imported(project: Project, content: bytes, name: str = "rows.jsonl", **how: Any) -> ImportBatch:
    """A batch that has run."""
    return run_import(queued(project, content, name, **how).pk)


def counts(batch: ImportBatch) -> tuple[int, int, int, int]:
    """(created, unchanged, conflicts, failed)."""
    return batch.created, batch.unchanged, batch.conflicts, batch.failed


def exported(project: Project, name: str, *, only: str = "") -> bytes:
    """A whole export."""
    return b"".join(export_pieces(project, FORMATS[name], filters={"only": only}))


def ledger(project: Project) -> list[dict[str, Any]]:
    """Everything the project holds, as its JSONL export tells it."""
    return [json.loads(line) for line in exported(project, "jsonl").splitlines()]


def copied(project: Project, other: Project, name: str) -> None:
    """Import an export of ``project`` into ``other``, an empty one: both then hold the same."""
    batch = imported(other, exported(project, name), f"x{FORMATS[name].suffix}")
    assert (counts(batch), batch.errors) == ((project.items.count(), 0, 0, 0), [])
    assert ledger(other) == ledger(project)


def labels_imported(
    project: Project, folder: Path, content: bytes, name: str = "labels.jsonl"
) -> LabelFileResult:
    """What became of a file of labels."""
    path = written(folder, content, name)
    return import_label_file(project=project, path=path, file_name=name)


def url_of(name: str, project: Project, *parts: Any) -> str:
    """An address of the project."""
    return reverse(name, args=[project.slug, *parts])


def written(folder: Path, content: bytes | Iterable[bytes], name: str) -> Path:
    """A file with that content."""
    path = folder / name
    with path.open("wb") as file:
        for piece in [content] if isinstance(content, bytes) else content:
            file.write(piece)
    return path


@contextmanager
def all_places_taken() -> Iterator[None]:
    """As when the server reads as many files as it can."""
    with ExitStack() as taken:
        for _ in range(PLACES):
            taken.enter_context(reading_place(refuse_after(0)))
        yield
