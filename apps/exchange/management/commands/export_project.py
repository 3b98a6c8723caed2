"""export_project SLUG: a whole project into one file, for another server."""

import hashlib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from apps.common.commands import LabelhubCommand
from apps.common.files import write_atomically
from apps.exchange.archive.export import ProjectArchive, record_archive
from apps.exchange.saved.services import erasures_in
from apps.projects.selectors import find_project
from labelhub.core.errors import Conflict


class Command(LabelhubCommand):
    help = "Write a whole project into an archive, which import_project loads on another server."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--output", type=Path, required=True)

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project, target = find_project(options["slug"]), Path(options["output"])
        erasures, archive, digest = erasures_in(project), ProjectArchive(project), hashlib.sha256()

        def digested() -> Iterator[bytes]:
            for piece in archive.pieces():
                digest.update(piece)
                yield piece
            if erasures_in(project) != erasures:
                raise Conflict("An author's data was deleted meanwhile: export the project again.")

        size = write_atomically(target, digested())
        sha256, stated = digest.hexdigest(), archive.manifest["tables"]
        with transaction.atomic():
            record_archive(project, None, archive, sha256)
        counts = {name: table["rows"] for name, table in stated.items() if table["rows"]}
        self.say(f"{sum(counts.values()):,} rows of {project.slug} written to {target}.")
        self.say(f"SHA-256: {sha256}")
        return {"output": str(target), "bytes": size, "sha256": sha256, "counts": counts}
