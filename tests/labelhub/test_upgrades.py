"""Upgrades: locks that are expected, indexes that lock nobody, and the previous version at work."""

import os
import subprocess
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from apps.common.commands import prepare_database
from apps.common.large_tables import AddIndexOnline, RemoveIndexOnline
from labelhub.management.commands.migrate import describe_lock
from tests.fakes.client import Client
from tests.fakes.stack import ROOT, Stack
from tests.fakes.texts import SCHEMA, reviews

INDEX = models.Index(fields=["text"], name="made_for_the_test")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('CREATE INDEX CONCURRENTLY "i" ON "labels_label" ("a");', "labels_label: SHARE UPDATE"),
        ('CREATE INDEX "i" ON "labels_label" ("a");', "labels_label: SHARE, writers wait"),
        ('ALTER TABLE "t" ADD COLUMN "x" text NULL;', "t: ACCESS EXCLUSIVE, for a moment"),
        (
            'ALTER TABLE "t" ALTER COLUMN "x" TYPE bigint USING "x"::bigint;',
            "t: ACCESS EXCLUSIVE, all wait while the table is rewritten",
        ),
        ('ALTER TABLE "t" ALTER COLUMN "x" SET NOT NULL;', "t: ACCESS EXCLUSIVE, all wait"),
        ('ALTER TABLE "t" ADD CONSTRAINT "c" CHECK ("x" > 0);', "t: ACCESS EXCLUSIVE, all wait"),
        ('CREATE TABLE "t" ("id" bigint);', "t: none"),
        ('UPDATE "t" SET "x" = 1;', "t: ROW EXCLUSIVE"),
        ("-- Add index i", ""),
        ("-- THIS OPERATION CANNOT BE WRITTEN AS SQL", "Python code"),
    ],
)  # fmt: skip
def test_locks_are_told_by_statement(statement: str, expected: str) -> None:
    assert describe_lock(statement).startswith(expected)
    assert bool(describe_lock(statement)) == bool(expected)


def indexes() -> set[str]:
    """The names of the indexes of items."""
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, "projects_item"))


@pytest.mark.django_db(transaction=True)
def test_an_index_is_created_and_removed_while_others_write() -> None:
    before = MigrationLoader(connection).project_state()
    add = AddIndexOnline("item", INDEX)
    after = before.clone()
    add.state_forwards("projects", after)
    remove = RemoveIndexOnline("item", INDEX.name)

    def run(operation: AddIndexOnline | RemoveIndexOnline, way: str, *states: ProjectState) -> None:
        with connection.schema_editor(atomic=False) as editor:
            getattr(operation, way)("projects", editor, *states)

    try:
        run(add, "database_forwards", before, after)
        assert INDEX.name in indexes()
        if connection.vendor == "postgresql":  # again, as after a failure
            run(add, "database_forwards", before, after)
        run(remove, "database_forwards", after, before)
        assert INDEX.name not in indexes()
        run(remove, "database_backwards", before, after)
        assert INDEX.name in indexes()
    finally:
        run(add, "database_backwards", after, before)
    assert INDEX.name not in indexes()


@pytest.mark.django_db
def test_a_database_of_the_next_version_is_served_and_one_of_another_history_is_not() -> None:
    record = MigrationRecorder(connection).record_applied
    record("labels", "9000_of_the_next_version")
    prepare_database()
    record("labels", "0000_of_another_history")
    with pytest.raises(CommandError, match=r"labels\.0000_of_another_history"):
        prepare_database()


def previous_version() -> str:
    """A commit named by LABELHUB_PREVIOUS, or the last release before this one."""
    if named := os.environ.get("LABELHUB_PREVIOUS"):
        return named
    command = ["git", "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def check_use(client: Client, slug: str) -> None:
    """What a server must do."""
    client.post("projects/", {"slug": slug, "schema": SCHEMA})
    assert client.post(f"projects/{slug}/import/", reviews(5))["created"] == 5
    task = client.post(f"projects/{slug}/next/")
    answer = {"item": task["item"]["id"], "value": ["Food"], "lease": task["lease"]["token"]}
    client.post(f"projects/{slug}/labels/", answer | {"seconds": 1.5})
    assert client.get(f"projects/{slug}/")["slug"] == slug


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_previous_version_works_on_the_new_schema(tmp_path: Path, databases: list[str]) -> None:
    version = previous_version()
    if not version:
        pytest.skip("no release yet: from the first tag v* on, it is tried against this schema")
    tree = tmp_path / "previous"
    tree.mkdir()
    packed = subprocess.run(["git", "archive", version], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "x"], cwd=tree, input=packed.stdout, check=True)
    folder = tmp_path / "data"
    folder.mkdir()
    env = {"DATABASE_URL": databases[0]} if databases[0] else {}
    with Stack(folder, **env) as new, Stack(folder, **env) as old:
        old.root = tree
        key = old.people("boss")["boss"]
        running, address = old.server()
        new.manage("migrate")
        check_use(Client(address, key), "under-way")
        if databases[0]:  # both at once, as during a rolling upgrade; SQLite has one server
            check_use(Client(new.server()[1], key), "new")
        # Only the old one, after a roll-back.
        running.kill()
        check_use(Client(old.server()[1], key), "rolled-back")
