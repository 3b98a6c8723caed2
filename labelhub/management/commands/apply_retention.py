"""``apply_retention``: delete what is older than its schedule, or count it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.common.commands import LabelhubCommand
from labelhub.retention import apply_rules, count_old


class Command(LabelhubCommand):
    help = (
        "Delete sessions, notifications, texts of runs and so on that are older than their "
        "schedules, as a worker does every six hours. See docs/privacy.md."
    )

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only count what would go.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        if not options["dry_run"]:
            gone = apply_rules()
            self.say("\n".join(f"{n:,} {name} deleted" for name, n in gone.items()) or "Nothing.")
            return {"deleted": gone}
        counts = count_old()
        for name, count in counts.items():
            self.say(f"{name}: {'not deleted by age' if count is None else f'{count:,} would go'}")
        return {"would_go": counts}
