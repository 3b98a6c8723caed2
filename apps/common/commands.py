"""The base of our management commands: ``--json``, one-line errors, a database that is there."""

import ctypes
import gc
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from labelhub.core.errors import LabelhubError

BROKEN_PIPE = 128 + 13  # what a shell reports for a program that SIGPIPE ended


class LabelhubCommand(BaseCommand):
    """A command that returns one mapping, printed as one JSON object with ``--json``.

    Subclasses define ``run`` and, where they take arguments, ``add_command_arguments``. Whatever
    was wrong with the input ends in one line on stderr and exit code 1.
    """

    requires_system_checks = ()
    needs_database = True
    as_json = False

    def add_command_arguments(self, parser: CommandParser) -> None:
        """Add what this command takes."""

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Do the work; tell people about it with :meth:`say`, programs by the returned mapping.

        Raises:
            LabelhubError: shown as one line.
        """
        raise NotImplementedError

    def say(self, text: str) -> None:
        """One line for people; silent with ``--json``."""
        if not self.as_json:
            self.stdout.write(text)

    def add_arguments(self, parser: CommandParser) -> None:
        """``--json``, then the command's own."""
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")
        self.add_command_arguments(parser)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """A parser that raises CommandError instead of printing its usage and leaving."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.called_from_command_line = False
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django's, but an error is our one line and a closed pipe is no error."""
        self._called_from_command_line = True
        try:
            options = vars(self.create_parser(argv[0], argv[1]).parse_args(argv[2:]))
            self.execute(*options.pop("args", ()), **options)
            self.stdout.flush()
        except CommandError as error:
            self.stderr.write(_one_line(error))
            sys.exit(error.returncode)
        except BrokenPipeError:
            # What is still buffered would fail again when Python closes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(BROKEN_PIPE)
        finally:
            connections.close_all()

    def handle(self, *_args: Any, **options: Any) -> None:
        """See :meth:`run`."""
        self.as_json = options["json"]
        try:
            if self.needs_database:
                prepare_database()
            result = self.run(options)
        except LabelhubError as error:
            raise CommandError(_one_line(error)) from error
        if self.as_json:
            self.stdout.write(json.dumps(result, cls=DjangoJSONEncoder))


def prepare_database() -> None:
    """Set up a database that is still empty; leave an older one to its operator.

    Raises:
        CommandError: migrations are pending on a database that holds something, or another
            version has made it.
    """
    executor = MigrationExecutor(connection)
    refuse_foreign_history(executor.loader)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.introspection.table_names():
        raise CommandError("The database is of an older version: run 'python manage.py migrate'.")
    call_command("migrate", verbosity=0, interactive=False)
    _give_back_memory()


def refuse_foreign_history(loader: MigrationLoader) -> None:
    """Refuse a database to which migrations were applied that this version does not have.

    Raises:
        CommandError: names such a migration and the way to take the data along.
    """
    ours = {label for label, _ in loader.disk_migrations}
    unknown = [
        f"{label}.{name}"
        for label, name in loader.applied_migrations
        if label in ours and (label, name) not in loader.graph.nodes
    ]
    if unknown:
        raise CommandError(
            f"Another version of LabelHub made this database ({min(unknown)} is applied), and this"
            " version cannot upgrade it. Export its projects with the version that made it, then"
            " import them into an empty database: see 'Moving to a new database' in"
            " docs/operators.md."
        )


def _give_back_memory() -> None:
    """Migrating builds every past state of all models; glibc keeps those 50 MB unless asked.

    A server that has set up its own database would carry them as long as it runs.
    """
    gc.collect()
    with suppress(AttributeError):  # other C libraries know no such call
        ctypes.CDLL(None).malloc_trim(0)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
