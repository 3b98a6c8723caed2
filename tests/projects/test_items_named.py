"""Items looked up by their ids."""

import pytest
from django.db import connection

from apps.projects.models import Item
from tests.factories.labels import open_item
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def test_only_the_projects_own_come_in_order() -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    for name in ("b", "a", "c"):
        open_item(project, external_id=name)
    open_item(other, external_id="a")

    found = Item.objects.named(project, {"b", "a", "none"})

    assert [(item.external_id, item.project) for item in found] == [("a", project), ("b", project)]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL counts its rows by itself")
def test_each_id_is_looked_up_however_large_the_project() -> None:
    """SQLite went through the whole project for each thousand rows of an import."""
    plan = Item.objects.named(ProjectFactory.create(), [f"t{at}" for at in range(1000)]).explain()

    assert "project_id=? AND external_id=?" in plan
