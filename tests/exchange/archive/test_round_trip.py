"""A project that is moved is the same project: every column of every table."""

from pathlib import Path

import pytest

from apps.exchange.archive.tables import tables
from tests.factories.archive import FilledProject, content_of, loaded, written_archive

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_column_of_every_table_comes_back(tmp_path: Path) -> None:
    filled = FilledProject()
    first = written_archive(filled.project, tmp_path / "first.zip")
    assert all(len(filled.rows[table.name]) for table in tables())
    filled.project.delete()

    done = loaded(first)
    assert done.status == "done", str(done.message)
    assert done.project is not None
    second = written_archive(done.project, tmp_path / "second.zip")
    assert content_of(second) == content_of(first)
