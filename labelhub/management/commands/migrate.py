"""Django's ``migrate``, which first makes sure that the database is one it can upgrade."""

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from apps.common.commands import refuse_foreign_history


class Command(DjangoMigrate):
    """As Django's; a database of another version is refused before anything is changed."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, then migrate."""
        refuse_foreign_history(MigrationLoader(connections[options["database"]]))
        super().handle(*args, **options)
