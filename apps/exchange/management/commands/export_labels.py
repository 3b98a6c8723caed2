"""export_labels SLUG: a project's items, labels and gold into a file."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.exchange.exporters import FORMATS, export_format, export_pieces
from apps.exchange.selectors import export_counts, project_named
from labelhub.core.errors import InvalidInput


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
        """Write beside the target first, so that a half-written file never bears its name."""
        project, target = project_named(options["slug"]), Path(options["output"])
        pieces = export_pieces(project, export_format(options["format"]), only=options["only"])
        partial = target.with_name(f".{target.name}.part")
        try:
            with partial.open("wb") as file:
                for piece in pieces:
                    file.write(piece)
            partial.replace(target)
        except OSError as error:
            raise InvalidInput(f"'{target}' cannot be written: {error.strerror}.") from error
        finally:
            partial.unlink(missing_ok=True)
        counts = export_counts(project)
        items = counts["gold"] if options["only"] else counts["items"]
        self.say(f"{items:,} items written to {target}.")
        size = target.stat().st_size
        return {"items": items, "format": options["format"], "output": str(target), "bytes": size}
