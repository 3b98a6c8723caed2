"""One Label Studio for all tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.label_studio import LabelStudio, running


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    """The program in the environment that ``LABELHUB_PEERS`` names (make test-peers)."""
    peers = os.environ.get("LABELHUB_PEERS")
    if not peers:
        pytest.skip("needs the real Label Studio: make test-peers")
    program = Path(peers).resolve() / "bin" / "label-studio"
    with running(program, tmp_path_factory.mktemp("label-studio")) as studio:
        yield studio
