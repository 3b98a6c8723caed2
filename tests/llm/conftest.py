"""Fixtures of the llm tests."""

from tests.fakes.fixtures import model_server, one_model_server

__all__ = ["model_server", "one_model_server"]
