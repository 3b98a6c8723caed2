"""Files out: one module per format. A new format is a new module and one word in ``_MODULES``."""

from collections.abc import Iterator

from apps.exchange.exporters import delimited, json_list, jsonl, labelstudio, parquet
from apps.exchange.exporters.base import ExportFormat
from apps.exchange.exporters.ledger import gold_chunks, ledger_chunks
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import InvalidInput

_MODULES = (jsonl, json_list, delimited, parquet, labelstudio)

#: Every format by its name.
FORMATS: dict[str, ExportFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
ONLY = ("", "gold")

__all__ = ["FORMATS", "ONLY", "ExportFormat", "export_format", "export_pieces"]


def export_format(name: str) -> ExportFormat:
    """The format of that name.

    Raises:
        InvalidInput: there is none.
    """
    found = FORMATS.get(name)
    if found is None:
        raise InvalidInput(f"format: '{name[:40]}' is not one of {', '.join(FORMATS)}.")
    return found


def export_pieces(project: Project, wanted: ExportFormat, *, only: str = "") -> Iterator[bytes]:
    """The file in pieces, in the order of the items, in bounded memory.

    ``only="gold"`` gives the decided items with their gold value and without the ledger.

    Raises:
        InvalidInput: another ``only``.
    """
    if only not in ONLY:
        raise InvalidInput(f"only: '{only[:40]}' is not known; leave it out or use 'gold'.")
    chunks = gold_chunks(project) if only == "gold" else ledger_chunks(project)
    return wanted.write(chunks, current_schema(project).parsed)
