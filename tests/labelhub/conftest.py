"""Databases for programs of their own."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.fakes.stack import own_database


@pytest.fixture
def databases() -> Iterator[list[str]]:
    """Two PostgreSQL databases; of SQLite each folder has its own."""
    url = os.environ.get("DATABASE_URL", "")
    with ExitStack() as stack:
        yield [stack.enter_context(own_database(url)) for _ in range(2)]
