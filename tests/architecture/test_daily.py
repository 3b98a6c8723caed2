"""The tests of every day that are chosen by name are there under it."""

import re
from pathlib import Path

import pytest

from tests.daily import IN_THE_BROWSER

E2E = Path(__file__).parents[1] / "e2e"
TEST = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


@pytest.mark.parametrize("file", IN_THE_BROWSER)
def test_it_is_there(file: str) -> None:
    assert set(IN_THE_BROWSER[file]) - set(TEST.findall((E2E / file).read_text())) == set()
