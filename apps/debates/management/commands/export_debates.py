"""export_debates SLUG --run ID: write the complete debates of a run to a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from apps.common.commands import LabelhubCommand
from apps.common.files import write_atomically
from apps.debates.selectors import get_run
from apps.debates.transcripts import transcript_lines
from apps.projects.selectors import find_project


class Command(LabelhubCommand):
    """See ``help``."""

    help = "Export the debates of a run with every call: request, response and cost."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--run", type=int, required=True, metavar="ID")
        parser.add_argument("--output", type=Path, required=True, metavar="FILE.jsonl")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Write the file and report its contents."""
        run = get_run(find_project(options["slug"]), options["run"])
        target, count = Path(options["output"]), run.debates.count()
        size = write_atomically(target, transcript_lines(run))
        self.say(f"{count:,} debates written to {target}.")
        return {"run": run.pk, "debates": count, "output": str(target), "bytes": size}
