"""What tests of agreement share."""

import pytest


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were given to a worker."""
    runs: list[int] = []
    monkeypatch.setattr("apps.debates.tasks.launch_run", runs.append)
    return runs


@pytest.fixture
def sent_studies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The studies that were given to a worker."""
    studies: list[int] = []
    monkeypatch.setattr("apps.agreement.tasks.launch_study", studies.append)
    return studies
