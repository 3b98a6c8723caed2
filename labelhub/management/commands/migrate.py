"""Django's ``migrate``, with a check that this version can upgrade the database, and ``--plan``
with the locks that each migration takes."""

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from apps.common.commands import migration_lock, refuse_foreign_history
from labelhub.management.locks import expected_locks


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
