"""What is deleted from SQLite is in none of its files afterwards."""

from pathlib import Path

import pytest
from django.db import connection

from apps.common.bulk import empty_write_ahead_log
from apps.projects.models import Item
from tests.factories.projects import ItemFactory, ProjectFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite's free pages"),
]


def files_with(text: str) -> list[str]:
    """The names of the database's files that hold ``text``."""
    database = Path(connection.settings_dict["NAME"])
    files = database.parent.glob(f"{database.name}*")
    return sorted(file.name for file in files if text.encode() in file.read_bytes())


@pytest.mark.parametrize("length", [1, 5000], ids=["in a page", "on pages of its own"])
@pytest.mark.parametrize("secure", [True, False])
def test_a_deleted_text_is_gone_from_the_files(length: int, *, secure: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA secure_delete={'ON' if secure else 'OFF'}")
    try:
        text = f"a sentence that nobody may read again: {length} {secure}"
        project = ProjectFactory.create()
        kept = ItemFactory.create(project=project)
        ItemFactory.create(project=project, text=text * length)
        empty_write_ahead_log()
        assert files_with(text)
        Item.objects.exclude(pk=kept.pk).delete()
        empty_write_ahead_log()
        # Without the setting the text stays: the check can fail.
        assert bool(files_with(text)) is not secure
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete=ON")


def test_connections_delete_securely() -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA secure_delete")
        assert cursor.fetchone() == (1,)
