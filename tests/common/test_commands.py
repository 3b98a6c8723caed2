"""What every management command shares."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.base import CommandParser
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from apps.common import commands
from apps.common.commands import LabelhubCommand
from labelhub.core.errors import InvalidInput

ROOT = Path(settings.BASE_DIR)


class Greeting(LabelhubCommand):
    """Greets."""

    needs_database = False

    def add_command_arguments(self, parser: CommandParser) -> None:
        """A name."""
        parser.add_argument("name")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Greet, but not everybody."""
        if options["name"] == "nobody":
            raise OperationalError("connection refused\nIs the server running?")
        if options["name"] == "eve":
            raise InvalidInput("name: eve is\nnot greeted.")
        self.say(f"Hello {options['name']}")
        return {"greeted": options["name"]}


def call(*args: str) -> tuple[int, str, str]:
    """Run as from a shell: exit code, stdout, stderr."""
    out, err = StringIO(), StringIO()
    command = Greeting(stdout=out, stderr=err, no_color=True)
    try:
        command.run_from_argv(["manage.py", "greet", *args])
    except SystemExit as left:
        return int(left.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_people_get_words() -> None:
    assert call("ada") == (0, "Hello ada\n", "")


def test_programs_get_one_json_object_and_nothing_else() -> None:
    code, out, err = call("ada", "--json")
    assert (code, json.loads(out), err) == (0, {"greeted": "ada"}, "")


def test_an_expected_error_is_one_line_and_exit_code_1() -> None:
    assert call("eve") == (1, "", "name: eve is not greeted.\n")


def test_a_database_that_is_away_is_one_line() -> None:
    line = "The database does not answer: connection refused Is the server running?\n"
    assert call("nobody") == (1, "", line)


@pytest.mark.parametrize("args", [(), ("ada", "--nonsense"), ("ada", "bob")])
def test_wrong_arguments_are_one_line_and_exit_code_1(args: tuple[str, ...]) -> None:
    code, out, err = call(*args)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1


def test_called_from_code_it_raises() -> None:
    command = Greeting(stdout=StringIO())
    with pytest.raises(CommandError, match="not greeted"):
        command.handle(name="eve", json=False)


@pytest.mark.django_db
def test_an_older_database_asks_for_migrate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "apps.common.commands.MigrationExecutor.migration_plan", lambda *_: ["pending"]
    )
    with pytest.raises(CommandError, match="manage\\.py migrate"):
        commands.prepare_database()


def test_migrating_through_pgbouncer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    with pytest.raises(CommandError, match="address of PostgreSQL itself"):
        call_command("migrate")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "prepare", [commands.prepare_database, partial(call_command, "migrate")], ids=["any", "migrate"]
)
def test_a_database_of_another_version_is_refused_with_the_way_out(
    prepare: Callable[[], object],
) -> None:
    MigrationRecorder(connection).record_applied("labels", "0002_append_only")
    with pytest.raises(CommandError, match=r"labels\.0002_append_only.*docs/operators\.md"):
        prepare()


def manage(tmp_path: Path, *args: str, **more: Any) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "LABELHUB_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.dev",
        "DATABASE_URL": f"sqlite:///{tmp_path}/fresh.sqlite3",
    }
    return subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


@pytest.mark.thorough
def test_a_new_database_is_set_up_without_being_asked(tmp_path: Path) -> None:
    done = manage(tmp_path, "create_user", "ada", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["username"] == "ada"
    again = manage(tmp_path, "create_user", "ada")
    assert again.returncode == 1
    assert len(again.stderr.splitlines()) == 1
    assert "username" in again.stderr


@pytest.mark.thorough
def test_a_closed_pipe_leaves_no_traceback(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    code = "import sys; sys.argv[0] = 'manage.py'; from tests.common.test_commands import Greeting"
    program = f"import django; django.setup(); {code}; Greeting().run_from_argv(sys.argv)"
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "labelhub.settings.test"}
    done = subprocess.run(
        [sys.executable, "-c", program, "greet", "ada"],
        cwd=ROOT,
        env={**env, "LABELHUB_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == commands.BROKEN_PIPE
