"""The fake model server, for runs over real HTTP."""

from tests.fakes.fixtures import model_server, one_model_server

__all__ = ["model_server", "one_model_server"]
