"""An SQLite database with every table and no rows, kept between runs: to migrate one takes longer
than many a test file."""

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[1]


def schema_file() -> Path:
    """Where the one is, or is to be, that these migrations make."""
    made_of = [*ROOT.glob("apps/*/migrations/*.py"), ROOT / "requirements-dev.lock"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(made_of)))
    return ROOT / "var/test-schemas" / f"{digest.hexdigest()[:16]}.sqlite3"


def keep_schema() -> None:
    """After a test database was migrated, and before a test has written into it."""
    kept = schema_file()
    if kept.exists():
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    mine = kept.with_suffix(f".{os.getpid()}")
    with (
        closing(sqlite3.connect(connection.settings_dict["NAME"])) as ours,
        closing(sqlite3.connect(mine)) as copy,
    ):
        ours.backup(copy)
    mine.replace(kept)  # several processes may have made it at once


def copy_schema(folder: Path) -> None:
    """For a program that is started with this folder; none where tests have another database."""
    if connection.vendor == "sqlite":
        shutil.copy(schema_file(), folder / "labelhub.sqlite3")
