"""Databases for programs of their own, and a collector of what they report."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.fakes.receiver import Receiver, receiver
from tests.fakes.stack import own_database


@pytest.fixture
def collector() -> Iterator[Receiver]:
    """Takes what this server reports to others."""
    with receiver("") as running:
        yield running


@pytest.fixture
def databases() -> Iterator[list[str]]:
    """Two PostgreSQL databases; of SQLite each folder has its own."""
    url = os.environ.get("DATABASE_URL", "")
    with ExitStack() as stack:
        yield [stack.enter_context(own_database(url)) for _ in range(2)]
