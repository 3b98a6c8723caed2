"""import_items SLUG FILE: the items of a file into a project."""

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.exchange.management.files import check_file, print_faults
from apps.exchange.selectors import result_of
from apps.exchange.services.imports import queue_import, receive_upload, run_import, store_upload
from apps.projects.models import ImportBatch
from apps.projects.selectors import find_project
from labelhub.core.errors import InvalidInput

PIECE = 1024 * 1024


class Command(LabelhubCommand):
    help = "Import items from a CSV, TSV, JSON, JSONL, XLSX or Parquet file."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path)
        for field in ("text", "id", "gold"):
            parser.add_argument(f"--{field}-column", default="", help=f"Column of the {field}.")
        parser.add_argument(
            "--answer", default="", help="Question (control) to import from another tool's file."
        )
        parser.add_argument(
            "--unknown-labels",
            choices=ImportBatch.UnknownLabels.values,
            default=ImportBatch.UnknownLabels.REFUSE,
            help="What to do with values that are no labels of the project.",
        )
        parser.add_argument("--strict", action="store_true", help="Import all rows or none.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project = find_project(options["slug"])
        chosen = {field: options[f"{field}_column"] for field in ("text", "id", "gold")}
        chosen["answer"] = options["answer"]
        with check_file(options["file"]).open("rb") as file:
            path = store_upload(iter(partial(file.read, PIECE), b""))
        batch = receive_upload(
            project=project, actor=None, path=path, file_name=options["file"].name
        )
        columns = {field: column for field, column in chosen.items() if column}
        batch = queue_import(
            batch,
            columns=columns,
            strict=options["strict"],
            unknown_labels=options["unknown_labels"],
            send=False,
        )
        batch = run_import(batch.pk)
        result = result_of(batch)
        _refuse_failure(batch, result)
        self.say(batch.message)
        print_faults(self.say, result["remarks"] + result["errors"] + result["conflict_rows"])
        return result


def _refuse_failure(batch: ImportBatch, result: Mapping[str, Any]) -> None:
    first = next(iter(result["errors"]), None)
    detail = f" Row {first['row']}, {first['field'] or 'row'}: {first['message']}" if first else ""
    if batch.status == ImportBatch.Status.FAILED:
        raise InvalidInput(batch.message + detail)
    if first and batch.rows_done == batch.failed:
        of = f"None of {batch.rows_done:,} rows could be used."
        only = "The only row could not be used."
        raise InvalidInput((only if batch.rows_done == 1 else of) + detail)
