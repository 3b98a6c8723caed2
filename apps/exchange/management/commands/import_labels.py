"""import_labels SLUG FILE: labels in long form for items that are there."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.exchange.management.files import check_file, print_faults
from apps.exchange.selectors import notes_of
from apps.exchange.services.label_files import import_label_file
from apps.projects.selectors import find_project
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    help = "Import labels, one row each: item_id, annotator_id, annotator_type, label."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path)

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project, path = find_project(options["slug"]), check_file(options["file"])
        result = import_label_file(project=project, path=path, file_name=path.name)
        tally = result.tally
        notes = [note.data() for note in tally.notes]
        errors, conflicts = (notes_of(notes, kind) for kind in ("error", "conflict"))
        if tally.failed and not (tally.created or tally.unchanged or tally.conflicts):
            first = errors[0]
            where = f"Row {first['row']}, {first['field'] or 'row'}"
            raise InvalidInput(f"No row could be used. {where}: {first['message']}")
        self.say(
            f"{tally.created:,} labels created, {tally.unchanged:,} unchanged, "
            f"{tally.conflicts:,} in conflict, {tally.failed:,} with faults; "
            f"{result.gold_created:,} gold values"
            + (
                f"; {result.items_created:,} items by id only; import_items fills in their texts."
                if result.items_created
                else "."
            )
        )
        print_faults(self.say, errors + conflicts)
        counts = ("created", "unchanged", "conflicts", "failed")
        return {
            **{name: getattr(tally, name) for name in counts},
            "items_created": result.items_created,
            "gold_created": result.gold_created,
            "errors": errors,
            "conflict_rows": conflicts,
        }
