"""What every test may count on: no network beyond this machine, a clean cache, quiet logs.

Property-based tests draw the same examples each time, so that what passed here passes elsewhere:
fifty daily, more with ``LABELHUB_HYPOTHESIS=thorough`` (as ``make test-services``). ``search``
draws new ones, and many more, to look for what nobody thought of.
"""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from hypothesis import settings

settings.register_profile("daily", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=120, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("LABELHUB_HYPOTHESIS", "daily"))

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches for the network fails at once instead of hanging or passing by luck."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def clean_cache() -> Iterator[None]:
    """Rate limits and the like start anew with each test."""
    cache.clear()
    yield
    cache.clear()
