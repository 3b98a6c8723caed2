"""Uploads go to a folder of the test."""

from pathlib import Path

import pytest
from django.conf import LazySettings


@pytest.fixture(autouse=True)
def own_data_folder(settings: LazySettings, tmp_path: Path) -> None:
    """No test leaves a file behind."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
