"""Django's ``migrate``, with a check that this version can upgrade the database."""

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from apps.common.commands import migration_lock, refuse_foreign_history


class Command(DjangoMigrate):
    """Like Django's, but refuses a database of another version before any change, and
    waits for another process that migrates it."""

    def handle(self, *args: Any, **options: Any) -> None:
        with migration_lock():
            refuse_foreign_history(MigrationLoader(connections[options["database"]]))
            super().handle(*args, **options)
