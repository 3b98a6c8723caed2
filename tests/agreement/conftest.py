"""What tests of agreement share."""

import pytest


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were given to a worker."""
    runs: list[int] = []
    monkeypatch.setattr("apps.debates.tasks.launch_run", runs.append)
    return runs
