"""``change_schema SLUG --operations FILE.json``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from apps.common.commands import LabelhubCommand
from apps.projects.management.commands.create_project import read_text
from apps.projects.models import SchemaChange
from apps.projects.selectors import find_project
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import begin_change, draft_change, run_change
from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.schema.operations import parse_operations


class ChangeStopped(LabelhubError):
    code = "change_stopped"


class Command(LabelhubCommand):
    help = "Add, rename, merge, split and retire labels; existing labels follow."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--operations", type=Path, required=True, metavar="FILE.json")
        parser.add_argument("--reason", default="", help="Kept with the change.")
        parser.add_argument("--dry-run", action="store_true", help="Only show the preview.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Preview it, or do it and wait for its end."""
        project = find_project(options["slug"])
        path: Path = options["operations"]
        try:
            operations = parse_operations(json.loads(read_text(path)))
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{path}: is not JSON ({error}).") from None
        draft = draft_change(project, operations, reason=options["reason"])
        if options["dry_run"]:
            preview = preview_change(draft)
            self._say(preview)
            return preview
        change = run_change(begin_change(draft, launch=False).pk)
        if change.status == SchemaChange.Status.FAILED:
            raise ChangeStopped(change.message)
        self.say(f"Version {draft.from_schema.version + 1} of the labels is made.")
        for what, n in change.counts.items():
            self.say(f"  {what}: {n:,}")
        return {
            "id": change.pk,
            "status": change.status,
            "to_version": draft.from_schema.version + 1,
            "items_done": change.items_done,
            "counts": change.counts,
        }

    def _say(self, preview: Mapping[str, Any]) -> None:
        self.say(f"Version {preview['to_version']} of the labels would be made:")
        for part in preview["operations"]:
            self.say(f"  {part['words']}")
        for what, words in (
            ("carried", "carried over"), ("asked", "back to people"), ("withdrawn", "taken back"),
        ):  # fmt: skip
            labels, gold = sum(preview["labels"][what].values()), preview["gold"][what]
            self.say(f"  {labels:,} labels and {gold:,} decisions {words}")
