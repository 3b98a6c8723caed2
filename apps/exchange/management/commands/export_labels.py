"""export_labels SLUG: a project's items, labels and gold into a file."""

import hashlib
import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.common.files import write_atomically
from apps.exchange.exporters import (
    FORMATS,
    export_filters,
    export_format,
    export_pieces,
    exported_items,
)
from apps.exchange.manifests import ExportTally, build_manifest
from apps.projects.selectors import find_project


class Command(LabelhubCommand):
    help = "Export items with their labels and gold."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--format", default="jsonl", help=", ".join(FORMATS))
        parser.add_argument("--output", type=Path, required=True)
        parser.add_argument("--only", default="", help="gold: only decided items.")
        parser.add_argument(
            "--manifest",
            action="store_true",
            help="Also write FILE.manifest.json: schema versions, prompts, models, checksum.",
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project, target = find_project(options["slug"]), Path(options["output"])
        filters = export_filters(project, only=options["only"])
        tally, digest = ExportTally(project), hashlib.sha256()
        wanted = export_format(options["format"])
        pieces = export_pieces(project, wanted, filters=filters, watch=tally.add)

        def digested() -> Iterator[bytes]:
            for piece in pieces:
                digest.update(piece)
                yield piece

        size = write_atomically(target, digested())
        items = exported_items(project, filters).count()
        self.say(f"{items:,} items written to {target}.")
        summary = {"items": items, "format": wanted.name, "output": str(target), "bytes": size}
        if not options["manifest"]:
            return summary
        file = {"name": target.name, "bytes": size, "sha256": digest.hexdigest()}
        manifest = build_manifest(tally, format_name=wanted.name, filters=filters, file=file)
        beside = target.with_name(f"{target.name}.manifest.json")
        write_atomically(beside, [json.dumps(manifest, ensure_ascii=False, indent=2).encode()])
        self.say(f"The manifest: {beside}.")
        return summary | {"manifest": str(beside), "sha256": file["sha256"]}
