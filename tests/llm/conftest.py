"""Fixtures of the llm tests."""

import pytest

from apps.llm.traffic import forget_traffic
from tests.fakes.fixtures import model_server, one_model_server

__all__ = ["model_server", "one_model_server"]


@pytest.fixture(autouse=True)
def _as_in_a_new_process() -> None:
    """What an earlier test found out about the one server does not count."""
    forget_traffic()
