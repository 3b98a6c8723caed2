"""``restore``: the database and files of a backup, in place of what is there."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from labelhub import COMMAND
from labelhub.core.errors import InvalidInput
from labelhub.management.private import PrivateCommand
from labelhub.management.recovery.archive import Archive
from labelhub.management.recovery.restore import check_backup, remarks_on, restore


class Command(PrivateCommand):
    help = "Check a backup and restore it: all of it, or nothing. Stop servers and workers first."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="Only check.")
        parser.add_argument("--replace", action="store_true", help="Lose what is there.")
        parser.add_argument(
            "--ignore-keys", action="store_true", help="Although keys of encrypted values are lost."
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        try:
            archive = Archive(options["file"])
        except OSError as error:
            raise InvalidInput(
                "'%(path)s' cannot be read: %(reason)s.",
                path=str(options["file"]),
                reason=error.strerror,
            ) from error
        manifest = archive.manifest
        rows = sum(manifest.rows.values())
        self.say(
            f"A backup of {manifest.created_at} by LabelHub {manifest.version}: {rows:,} rows, "
            f"{len(manifest.members) - 1} files."
        )
        obstacles = check_backup(
            manifest, replace=options["replace"], ignore_keys=options["ignore_keys"]
        )
        if obstacles:
            raise CommandError(" ".join(obstacles))
        remarks = remarks_on(manifest)
        for remark in remarks:
            self.stderr.write(remark)
        if not options["dry_run"]:
            restore(archive)
            self.say(
                "Restored, and held: no run, webhook, mail or schedule starts before you say "
                f"'{COMMAND} release_hold'. If keys have changed, run '{COMMAND} reseal'."
            )
        return {"created_at": manifest.created_at, "rows": rows, "remarks": remarks}
