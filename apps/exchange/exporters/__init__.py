"""The export formats, one module each. A new format is a new module and one word in
``_MODULES``."""

from collections.abc import Callable, Iterator, Sequence

from apps.exchange.exporters import (
    delimited,
    huggingface,
    json_list,
    jsonl,
    labelstudio,
    long,
    parquet,
    studio_config,
)
from apps.exchange.exporters.base import ExportFormat, Row, Source
from apps.exchange.exporters.ledger import gold_chunks, ledger_chunks
from apps.projects.models import Project
from labelhub.core.errors import InvalidInput

_MODULES = (jsonl, json_list, delimited, long, parquet, labelstudio, studio_config, huggingface)

#: Every format by its name.
FORMATS: dict[str, ExportFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
ONLY = ("", "gold")

__all__ = ["FORMATS", "ONLY", "ExportFormat", "Row", "export_format", "export_pieces", "file_name"]

#: Called with each chunk of rows before it is written.
Watch = Callable[[Sequence[Row]], None]


def export_format(name: str) -> ExportFormat:
    """The format of that name.

    Raises:
        InvalidInput: there is none.
    """
    found = FORMATS.get(name)
    if found is None:
        raise InvalidInput(f"format: '{name[:40]}' is not one of {', '.join(FORMATS)}.")
    return found


def file_name(project: Project, wanted: ExportFormat, *, only: str = "", tag: str = "") -> str:
    """The file name of a download; ``tag`` distinguishes files of the same project."""
    parts = [project.slug, "gold" if only else "", tag]
    # Two formats are JSON: the name tells them apart.
    named = "" if wanted.suffix == f".{wanted.name}" else f".{wanted.name}"
    return f"{'-'.join(part for part in parts if part)}{named}{wanted.suffix}"


def export_pieces(
    project: Project, wanted: ExportFormat, *, only: str = "", watch: Watch | None = None
) -> Iterator[bytes]:
    """The file in pieces, in the order of the items, in bounded memory.

    ``only="gold"`` gives the decided items with their gold value and without the ledger. ``watch``
    sees the rows as they go into the file.

    Raises:
        InvalidInput: another ``only``.
    """
    if only not in ONLY:
        raise InvalidInput(f"only: '{only[:40]}' is not known; leave it out or use 'gold'.")
    chunks = gold_chunks(project) if only == "gold" else ledger_chunks(project)

    def watched() -> Iterator[list[Row]]:
        for rows in chunks:
            if watch is not None:
                watch(rows)
            yield rows

    return wanted.write(watched(), Source(project, only))
