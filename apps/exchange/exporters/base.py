"""The parts of an export: full rows, and the format that writes them."""

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import IO, Any, NamedTuple, cast

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.exchange.shapes.label_studio import KEPT
from apps.labels.models import Label
from apps.projects.changes import Translator
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.schema import Schema

#: One item as a JSON-ready object; see exporters.ledger for its fields.
Row = dict[str, Any]
#: Rows in bounded lists, in the order of the items' ids.
Chunks = Iterable[list[Row]]
#: Metadata that only the tool of origin uses.
HIDDEN = (KEPT, "argilla")
#: Groups of formats.
TABLES, PROGRAMS, OTHER_TOOLS = _("Tables"), _("Everything, for programs"), _("Other tools")


@dataclass(frozen=True)
class Source:
    """The project that is exported, for formats that need more than the rows."""

    project: Project
    items: "QuerySet[Item]"
    only: str = ""

    @cached_property
    def version(self) -> LabelSchema:
        """The newest version of the schema."""
        return current_schema(self.project)

    @cached_property
    def translator(self) -> Translator:
        """From older versions of the schema to the newest one."""
        return Translator.of(self.project.pk)

    @property
    def schema(self) -> Schema:
        return self.version.parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A kind of file that people choose; ``group`` is the heading that they find it under."""

    name: str
    title: StrOrPromise
    suffix: str
    content_type: str
    group: StrOrPromise = OTHER_TOOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat(FileFormat):
    """One export format: ``write`` turns chunks of rows into pieces of the file, as they come.

    ``lossless`` formats make the same ledger when they are imported. What holds Parquet needs that
    extra.
    """

    write: Callable[[Chunks, Source], Iterator[bytes]]
    lossless: bool = True
    is_parquet: bool = False


def valid_labels(labels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The labels that are neither superseded nor withdrawn; rejections are among them."""
    superseded = {label["supersedes"] for label in labels}
    return [label for label in labels if not label["withdrawn"] and label["uid"] not in superseded]


def current_labels(row: Row) -> list[dict[str, Any]]:
    """The valid labels of a row without the rejections."""
    return [label for label in valid_labels(row.get("labels", [])) if not label["rejected"]]


def independent_labels(row: Row, source: Source) -> list[dict[str, Any]]:
    """The last label of each annotator without regard to rulings, which follow from the others:
    neither withdrawn nor a rejection, under today's names of the labels."""
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for label in row.get("labels", []):
        if label["role"] not in (*Label.SETTLING, *Label.ASIDE):
            last[label["kind"], label["annotator"]] = label
    found, translator = [], source.translator
    for vote in last.values():
        version = vote["schema_version"]
        value = translator.value(version, vote["value"])
        gone = value is None and vote["value"] is not None
        if not (gone or vote["withdrawn"] or vote["rejected"]):
            evidence = translator.evidence(version, vote["evidence"])
            provenance = translator.provenance(version, vote["provenance"])
            found.append(vote | {"value": value, "evidence": evidence, "provenance": provenance})
    return found


class Quote(NamedTuple):
    """A quoted part of a text; without ``start`` and ``end`` where its place is not known."""

    label: str
    text: str
    start: int | None = None
    end: int | None = None


def quotes_of(label: Mapping[str, Any], text: str) -> Iterator[Quote]:
    """The quotes of a label: those with a place first, then the others."""
    placed = [Quote(name, text[start:end], start, end) for name, start, end in _spans(label, text)]
    yield from placed
    known = {quote[:2] for quote in placed}
    for name, phrases in (label.get("evidence") or {}).items():
        yield from (Quote(name, phrase) for phrase in phrases if (name, phrase) not in known)


def _spans(label: Mapping[str, Any], text: str) -> Iterator[tuple[str, int, int]]:
    """(label, start, end) of the marked places; imported provenance may hold any value there."""
    given = (label.get("provenance") or {}).get("spans")
    for span in given if isinstance(given, list) else ():
        if not isinstance(span, dict):
            continue
        name, start, end = span.get("label"), span.get("start"), span.get("end")
        if not (isinstance(name, str) and isinstance(start, int) and isinstance(end, int)):
            continue
        if 0 <= start <= end <= len(text):
            yield name, start, end


class Sink(io.RawIOBase):
    """A file that is only appended to, and forgets the bytes that were taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        """Append; as many bytes as were given."""
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """The bytes that were written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def parquet_pieces(
    columns: Mapping[str, Any], chunks: Iterable[list[Row]], **metadata: str
) -> Generator[bytes, None, None]:
    """A Parquet file with one row group per chunk of records, written by
    :mod:`labelhub.core.parquet`; the last piece has the footer."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    size = 0
    with (
        tempfile.TemporaryFile() as file,
        subprocess.Popen(
            [sys.executable, "-m", "labelhub.core.parquet"],
            cwd=settings.BASE_DIR,
            env={**kept, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.PIPE,
            stdout=file,
            encoding="utf-8",
        ) as process,
    ):
        sink = cast("IO[str]", process.stdin)
        try:
            for record in chain([{"columns": columns, "metadata": metadata}], chunks):
                print(json.dumps(record), file=sink, flush=True)
                # The process writes at the file's own place.
                piece = os.pread(file.fileno(), os.fstat(file.fileno()).st_size - size, size)
                size += len(piece)
                yield piece
            sink.close()
            if code := process.wait():
                raise OSError(f"The writer of Parquet ended with code {code}.")
            yield os.pread(file.fileno(), os.fstat(file.fileno()).st_size - size, size)
        finally:
            process.kill()
