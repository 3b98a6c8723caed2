"""``backup``: one file with the database and the files that it needs."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelhub.management.private import PrivateCommand
from labelhub.management.recovery.backup import write_backup


class Command(PrivateCommand):
    help = "Write a backup, also while servers and workers run. Keys and passwords are not in it."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="A new file; nobody else can read it.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        manifest = write_backup(options["file"])
        size = options["file"].stat().st_size
        rows, files = sum(manifest.rows.values()), len(manifest.members) - 1
        unreadable = sum(keys.get("", 0) for keys in manifest.sealed.values())
        if unreadable:
            self.stderr.write(
                f"{unreadable} encrypted values are not readable with this server's keys: see "
                "LABELHUB_TEXT_KEYS in docs/operators.md."
            )
        self.say(f"{options['file']}: {rows:,} rows, {files} files, {size:,} bytes.")
        return {"bytes": size, "rows": rows, "files": files, "unreadable": unreadable}
