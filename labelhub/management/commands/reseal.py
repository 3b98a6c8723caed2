"""``reseal``: encrypt everything with the first key, so that older keys can go."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from apps.common.commands import LabelhubCommand
from apps.common.sealing import key_ids
from labelhub.management.recovery.sealed import count_sealed, reseal_all


class Command(LabelhubCommand):
    help = "Encrypt all encrypted values with the first of LABELHUB_TEXT_KEYS; servers may run."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only count.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        counts = _count() if options["dry_run"] else reseal_all()
        for name, found in counts.items():
            self.say(f"{name}: " + ", ".join(f"{count} {what}" for what, count in found.items()))
        if unreadable := sum(found.get("unreadable", 0) for found in counts.values()):
            raise CommandError(
                f"{unreadable} values are not readable with any key of this server: add the key "
                "that encrypted them to LABELHUB_TEXT_KEYS."
            )
        return counts


def _count() -> dict[str, dict[str, int]]:
    first = key_ids()[0]
    return {
        name: {
            "current": keys.get(first, 0),
            "old": sum(count for key, count in keys.items() if key not in (first, "")),
            "unreadable": keys.get("", 0),
        }
        for name, keys in count_sealed(connection).items()
    }
