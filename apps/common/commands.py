"""Base class of management commands: ``--json``, one-line errors, a prepared database."""

import ctypes
import gc
import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import OperationalError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from apps.common.audit import acting
from labelhub import COMMAND
from labelhub.core.errors import LabelhubError

BROKEN_PIPE = 128 + 13  # what a shell reports for a program that SIGPIPE ended


class LabelhubCommand(BaseCommand, ABC):
    """A command that returns one mapping, printed as one JSON object with ``--json``.

    Subclasses define ``run`` and, if they take arguments, ``add_command_arguments``. Errors of the
    input are one line on stderr, with exit code 1.
    """

    requires_system_checks = ()
    needs_database = True
    as_json = False

    def add_command_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of this command."""

    @abstractmethod
    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Do the work; :meth:`say` informs people, the returned mapping informs programs.

        Raises:
            LabelhubError: shown as one line.
        """

    def say(self, text: str) -> None:
        """Print a line, unless with ``--json``."""
        if not self.as_json:
            self.stdout.write(text)

    def add_arguments(self, parser: CommandParser) -> None:
        """``--json``, then the command's own."""
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")
        self.add_command_arguments(parser)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """A parser that raises CommandError instead of printing its usage and exiting."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.called_from_command_line = False
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django's, but errors take one line and a closed pipe is no error."""
        self._called_from_command_line = True
        try:
            options = vars(self.create_parser(argv[0], argv[1]).parse_args(argv[2:]))
            self.execute(*options.pop("args", ()), **options)
            self.stdout.flush()
        except CommandError as error:
            self.stderr.write(_one_line(error))
            sys.exit(error.returncode)
        except OperationalError as error:
            self.stderr.write(f"The database does not answer: {_one_line(error)}")
            sys.exit(1)
        except BrokenPipeError:
            # Flushing the rest at exit would fail again.
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
            with acting(via=f"command {type(self).__module__.rpartition('.')[2]}"):
                result = self.run(options)
        except LabelhubError as error:
            raise CommandError(_one_line(error)) from error
        if self.as_json:
            self.stdout.write(json.dumps(result, cls=DjangoJSONEncoder))


#: Any number that nothing else in the database uses.
MIGRATION_LOCK = 4_821_570_393


@contextmanager
def migration_lock() -> Iterator[None]:
    """One process at a time: servers and workers that start together all find an empty database.

    On PostgreSQL, whose lock ends with the connection; SQLite's data folder has one server.

    Raises:
        CommandError: PgBouncer would give the lock to one connection and migrate with others.
    """
    if connection.vendor != "postgresql":
        yield
        return
    if connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]:
        raise CommandError(
            f"The database needs migrations, which PgBouncer cannot do: run '{COMMAND} migrate' "
            "with the address of PostgreSQL itself in DATABASE_URL and without LABELHUB_PGBOUNCER."
        )
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def prepare_database() -> None:
    """Create the tables of an empty database. One that the next version has upgraded is accepted.

    Raises:
        CommandError: a database with tables needs migrations, or another version made it.
    """
    executor = MigrationExecutor(connection)
    if not is_newer(executor.loader):
        refuse_foreign_history(executor.loader)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        with migration_lock():
            _create_tables()


def _create_tables() -> None:
    """Called under the lock, so it looks again at what another process may have done."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.introspection.table_names():
        raise CommandError(f"The database is from an older version: run '{COMMAND} migrate'.")
    call_command("migrate", verbosity=0, interactive=False)
    # Migrating builds every past state of all models; glibc keeps those 50 MB unless asked.
    gc.collect()
    with suppress(AttributeError):  # other C libraries have no malloc_trim
        ctypes.CDLL(None).malloc_trim(0)


def is_newer(loader: MigrationLoader) -> bool:
    """Whether the next version has upgraded the database, which ours works with: it has all our
    migrations and, in the same apps, later ones."""
    last = dict(loader.graph.leaf_nodes())
    applied = set(loader.applied_migrations)
    return set(loader.graph.nodes) <= applied and all(
        name[:4] > last[label][:4]
        for label, name in applied
        if label in last and (label, name) not in loader.graph.nodes
    )


def refuse_foreign_history(loader: MigrationLoader) -> None:
    """Refuse a database with applied migrations that this version does not have.

    Raises:
        CommandError: names such a migration and how to move the data.
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
            " version cannot upgrade it. Export its projects with that version, then import them"
            " into an empty database: see 'Moving to a new database' in docs/operators.md."
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
