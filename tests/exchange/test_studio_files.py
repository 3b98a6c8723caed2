"""Files that the real Label Studio wrote after people had worked there (``make test-peers``)."""

import pytest

from tests.exchange.helpers import counts, imported
from tests.exchange.studio_cases import (
    CASES,
    EXPORTS,
    FOLDER,
    ORIGINS,
    by_text,
    check_labels,
    check_origins,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", CASES)
def test_what_was_done_there_comes_in(name: str, origin: str, export: str) -> None:
    case, project = CASES[name], CASES[name].project()
    content = (FOLDER / f"{name}-{origin}.{EXPORTS[export]}").read_bytes()
    batch = imported(project, content, f"x.{EXPORTS[export]}")
    assert [note for note in batch.errors if note["kind"] != "remark"] == []
    check_labels(case, project, export)
    if export == "JSON":
        check_origins(case, project)
    before = by_text(case, project)
    again = imported(project, content, f"x.{EXPORTS[export]}")
    assert counts(again) == (0, batch.rows_done, 0, 0)
    assert by_text(case, project) == before
