"""A server that answers real websockets, for every test that asks for its ``address``."""

from collections.abc import Iterator

import pytest

from tests.authors.live import served


@pytest.fixture
def address() -> Iterator[str]:
    """``127.0.0.1:PORT``."""
    with served() as found:
        yield found
