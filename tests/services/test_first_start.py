"""Servers and workers that start together find one empty database."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.fakes.stack import MANAGE, ROOT, Stack, own_database

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]


def test_of_many_that_start_at_once_one_sets_up_the_database(tmp_path: Path) -> None:
    with (
        own_database(os.environ["DATABASE_URL"]) as database,
        Stack(tmp_path, DATABASE_URL=database) as stack,
    ):
        commands = [["create_user", "ada"], ["create_user", "bob"], ["migrate", "--verbosity", "0"]]
        started = [
            subprocess.Popen(
                [*MANAGE, *command],
                cwd=ROOT,
                env=stack.env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for command in commands
        ]
        errors = [process.communicate()[1] for process in started]
        assert [process.returncode for process in started] == [0, 0, 0], errors
        assert stack.rows("SELECT count(*) FROM accounts_user") == [(2,)]
