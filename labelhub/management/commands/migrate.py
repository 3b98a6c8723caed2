"""Django's ``migrate``, with a check that this version can upgrade the database, and ``--plan``
with the locks that each migration takes."""

import re
from collections.abc import Iterator
from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import DatabaseError, connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from apps.common.commands import migration_lock, refuse_foreign_history

#: First match wins: statement → lock, and what it means for servers meanwhile.
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), lock, meaning)
    for pattern, lock, meaning in (
        (r"^CREATE (UNIQUE )?INDEX CONCURRENTLY", "SHARE UPDATE EXCLUSIVE", "nobody waits"),
        (r"^DROP INDEX CONCURRENTLY", "SHARE UPDATE EXCLUSIVE", "nobody waits"),
        (r"^CREATE (UNIQUE )?INDEX", "SHARE", "writers wait while it is built"),
        (r"^CREATE TABLE", "none", "nobody waits"),
        (r"^CREATE TRIGGER", "SHARE ROW EXCLUSIVE", "for a moment"),
        (r"VALIDATE CONSTRAINT", "SHARE UPDATE EXCLUSIVE", "nobody waits"),
        (r"ADD CONSTRAINT.* NOT VALID", "ACCESS EXCLUSIVE", "for a moment"),
        (r"ADD CONSTRAINT.* FOREIGN KEY", "SHARE ROW EXCLUSIVE",
         "writers wait while all rows are checked"),
        (r"ADD CONSTRAINT", "ACCESS EXCLUSIVE", "all wait while all rows are checked"),
        (r"ALTER COLUMN.* TYPE", "ACCESS EXCLUSIVE", "all wait while the table is rewritten"),
        (r"SET NOT NULL", "ACCESS EXCLUSIVE", "all wait while all rows are checked"),
        (r"^(ALTER|DROP) ", "ACCESS EXCLUSIVE", "for a moment"),
        (r"^(UPDATE|DELETE|INSERT)", "ROW EXCLUSIVE", "writers of the same rows wait"),
    )
)  # fmt: skip
_TABLE = re.compile(
    r'\b(?:ON|TABLE|UPDATE|INTO|FROM)\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?"?(\w+)"?', re.IGNORECASE
)


class Command(DjangoMigrate):
    """Like Django's, but refuses a database of another version before any change, and
    waits for another process that migrates it."""

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with migration_lock():
            executor = MigrationExecutor(connection)
            refuse_foreign_history(executor.loader)
            super().handle(*args, **options)
        if options["plan"] and connection.vendor == "postgresql" and not options["app_label"]:
            plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
            if executor.loader.applied_migrations and plan:
                self.stdout.write("Expected locks:", self.style.MIGRATE_LABEL)
                for migration, backwards in plan:
                    self.stdout.write(f"{migration.app_label}.{migration.name}")
                    for line in expected_locks(executor.loader, migration, backwards=backwards):
                        self.stdout.write(f"    {line}")


def expected_locks(
    loader: MigrationLoader, migration: Migration, *, backwards: bool
) -> Iterator[str]:
    """A line for each lock: table, lock, what it means."""
    try:
        statements = loader.collect_sql([(migration, backwards)])  # type: ignore[attr-defined]  # not in stubs
    except (DatabaseError, LookupError, ValueError) as error:
        yield f"not known before earlier migrations are applied ({type(error).__name__})"
        return
    lines = (describe_lock(statement) for statement in statements)
    yield from dict.fromkeys(line for line in lines if line)


def describe_lock(statement: str) -> str:
    """The line of one statement; "" for a comment."""
    if statement.startswith("-- THIS OPERATION CANNOT"):
        return "Python code: the rows that it writes"
    if statement.startswith("--"):
        return ""
    found = _TABLE.search(statement)
    table = found[1] if found else "?"
    for pattern, lock, meaning in _RULES:
        if pattern.search(statement):
            return f"{table}: {lock}, {meaning}"
    return f"{table}: see sqlmigrate"
