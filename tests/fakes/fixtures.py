"""Fixtures around the fakes; a folder's conftest imports what it needs from here."""

from collections.abc import Iterator

import pytest

from tests.fakes.openai_server import FakeServer


@pytest.fixture(scope="session")
def one_model_server() -> Iterator[FakeServer]:
    """The server, once for all tests of a process."""
    with FakeServer() as server:
        yield server


@pytest.fixture
def model_server(one_model_server: FakeServer) -> FakeServer:
    """A model server that has forgotten every earlier test."""
    one_model_server.reset()
    return one_model_server
