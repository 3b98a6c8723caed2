"""Migrations that can be applied while servers of the previous version work."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader

from apps.common.large_tables import LARGE, AddIndexOnline, RemoveIndexOnline

#: App → number of its last migration from before this rule.
BEFORE = {
    "accounts": 4, "agreement": 4, "authors": 2, "common": 2, "debates": 5, "echo": 10,
    "exchange": 5, "labels": 7, "learning": 4, "llm": 4, "projects": 6, "reviews": 5,
}  # fmt: skip
#: Migration → why it may do what the rule forbids.
ALLOWED: dict[str, str] = {}
LOCKS = (migrations.AddIndex, migrations.RemoveIndex, migrations.AddConstraint,
         migrations.AlterField, migrations.AlterUniqueTogether)  # fmt: skip
#: Old code would miss what they take away.
TAKES = (migrations.RemoveField, migrations.RenameField, migrations.RenameModel,
         migrations.DeleteModel, migrations.AlterModelTable)  # fmt: skip


def faults_of(migration: Any) -> Iterator[str]:
    """What old code or people who label would notice of a migration."""
    online = (AddIndexOnline, RemoveIndexOnline)
    created = {operation.name.lower() for operation in migration.operations
               if isinstance(operation, migrations.CreateModel)}  # fmt: skip
    for operation in migration.operations:
        named = getattr(operation, "model_name", getattr(operation, "name", ""))
        table = f"{migration.app_label}.{named.lower()}"
        if isinstance(operation, TAKES):
            yield f"{operation.describe()}: old code needs it"
        elif isinstance(operation, online):
            if migration.atomic or len(migration.operations) > 1:
                yield f"{operation.describe()}: needs atomic = False and a migration of its own"
        elif table in LARGE and isinstance(operation, LOCKS):
            yield f"{operation.describe()}: locks a large table"
        elif table in LARGE and isinstance(operation, migrations.AddField):
            yield from _faults_of_field(operation)
        elif (
            isinstance(operation, migrations.AddField)
            and named.lower() not in created
            and not _may_be_missing(operation.field)
        ):
            yield f"{operation.describe()}: old code writes no such column"


def _faults_of_field(operation: migrations.AddField) -> Iterator[str]:
    field: Any = operation.field
    if field.unique or field.db_index:
        yield f"{operation.describe()}: its index locks a large table"
    if not _may_be_missing(field):
        yield f"{operation.describe()}: old code writes no such column"


def _may_be_missing(field: Any) -> bool:
    """Whether the database fills the column for code that does not know it."""
    return bool(field.null or field.has_db_default() or field.many_to_many)


def test_new_migrations_neither_lock_large_tables_nor_break_the_previous_version() -> None:
    found = [
        f"{label}.{name}: {fault}"
        for (label, name), migration in sorted(MigrationLoader(None).disk_migrations.items())
        if label in {config.label for config in apps.get_app_configs()
                     if config.name.startswith("apps.")}
        and int(name[:4]) > BEFORE.get(label, 0)
        and f"{label}.{name}" not in ALLOWED
        for fault in faults_of(migration)
    ]  # fmt: skip
    assert not found, "see docs/upgrades.md: " + "; ".join(found)


def test_the_large_tables_exist() -> None:
    there = {model._meta.label_lower for model in apps.get_models()}
    assert there >= LARGE


def migration(*operations: Any, app_label: str = "labels", atomic: bool = True) -> Any:
    """A migration with these operations."""
    made: Any = migrations.Migration("0099_made", app_label)
    made.operations, made.atomic = list(operations), atomic
    return made


INDEX = models.Index(fields=["value"], name="made_value")
TEXT: Any = models.TextField(default="")
OPTIONAL: Any = models.TextField(null=True)
INDEXED: Any = models.TextField(null=True, db_index=True)
FILLED: Any = models.TextField(db_default="")


@pytest.mark.parametrize(
    ("made", "faults"),
    [
        (migration(migrations.AddIndex("label", INDEX)), 1),
        (migration(AddIndexOnline("label", INDEX)), 1),
        (migration(AddIndexOnline("label", INDEX), atomic=False), 0),
        (migration(AddIndexOnline("label", INDEX), migrations.RunPython(print), atomic=False), 1),
        (migration(migrations.AddIndex("project", INDEX), app_label="projects"), 0),
        (migration(migrations.AddField("label", "x", TEXT)), 1),
        (migration(migrations.AddField("label", "x", FILLED)), 0),
        (migration(migrations.AddField("label", "x", INDEXED)), 1),
        (migration(migrations.AddField("project", "x", TEXT), app_label="projects"), 1),
        (migration(migrations.AddField("project", "x", OPTIONAL), app_label="projects"), 0),
        (migration(migrations.AlterField("label", "value", TEXT)), 1),
        (migration(migrations.RemoveField("project", "name"), app_label="projects"), 1),
        (migration(migrations.DeleteModel("Project"), app_label="projects"), 1),
    ],
)  # fmt: skip
def test_the_rule_finds_what_it_is_for(made: Any, faults: int) -> None:
    assert len(list(faults_of(made))) == faults
