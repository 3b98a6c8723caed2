"""export_labels SLUG: a project's items, labels and gold into a file."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.common.files import write_whole
from apps.exchange.exporters import FORMATS, export_format, export_pieces
from apps.exchange.selectors import export_counts, project_named


class Command(LabelhubCommand):
    """See ``help``."""

    help = "Export items with their labels and gold."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """SLUG, the format and where to."""
        parser.add_argument("slug")
        parser.add_argument("--format", default="jsonl", help=", ".join(FORMATS))
        parser.add_argument("--output", type=Path, required=True)
        parser.add_argument("--only", default="", help="gold: only decided items.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Write the file, say what is in it."""
        project, target = project_named(options["slug"]), Path(options["output"])
        pieces = export_pieces(project, export_format(options["format"]), only=options["only"])
        size = write_whole(target, pieces)
        counts = export_counts(project)
        items = counts["gold"] if options["only"] else counts["items"]
        self.say(f"{items:,} items written to {target}.")
        return {"items": items, "format": options["format"], "output": str(target), "bytes": size}
