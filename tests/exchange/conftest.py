"""Uploads go to a folder of the test, webhooks to a receiver on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from tests.fakes.receiver import Receiver, receiver


@pytest.fixture(autouse=True)
def own_data_folder(settings: LazySettings, tmp_path: Path) -> None:
    """No test leaves a file behind."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


@pytest.fixture
def hook(settings: LazySettings) -> Iterator[Receiver]:
    """A receiver on this machine, which is allowed."""
    settings.LABELHUB_WEBHOOK_LOOPBACK = True
    with receiver() as running:
        yield running
