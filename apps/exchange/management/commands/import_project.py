"""import_project FILE: a project from another server."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.exchange.archive.services import request_import, run_import
from apps.exchange.management.files import check_file
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import PIECE, store_upload
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    help = "Load an archive of export_project as a new project. Its members are not in it."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--slug", default="", help="Of the new project.")
        parser.add_argument("--dry-run", action="store_true", help="Only check the archive.")
        parser.add_argument(
            "--no-people",
            action="store_true",
            help="People here are others than those of the same user name there.",
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        path = check_file(options["file"])
        with path.open("rb") as file:
            stored = store_upload(iter(lambda: file.read(PIECE), b""))
        row = run_import(
            request_import(
                path=stored,
                file_name=path.name,
                actor=None,
                slug=options["slug"],
                dry_run=options["dry_run"],
                match_people=not options["no_people"],
                send=False,
            )
        )
        if row.status != ProjectImport.Status.DONE:
            raise InvalidInput(str(row.message) or "Another worker is importing it.")
        self.say(row.message)
        for line in row.remarks:
            self.say(f"  {line}")
        return {"id": row.pk, "status": row.status, "dry_run": row.dry_run, **row.result}
