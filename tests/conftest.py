"""What every test may count on: no network beyond this machine, a clean cache, English, quiet logs.

Property-based tests draw the same twenty-five examples each time, so that what passed here passes
elsewhere. ``LABELHUB_HYPOTHESIS=search`` draws new ones, and many more, to look for what nobody
thought of.
"""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import connection
from django.test import Client, TransactionTestCase
from django.utils import translation
from hypothesis import settings
from pytest_django import DjangoDbBlocker

from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.common.jobs import work_task
from apps.echo.services import selection
from tests.factories.projects import member_browser
from tests.postgresql import is_repeated
from tests.schema_file import copy_schema, keep_schema, schema_file

settings.register_profile("daily", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("LABELHUB_HYPOTHESIS", "daily"))

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """On PostgreSQL a run of the whole suite is one of the files that it is named in."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if connection.vendor == "postgresql" and whole and collection_path.suffix == ".py":
        return not is_repeated(collection_path)
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What may take longest begins first: no process is to wait for it at the end. On PostgreSQL
    tests that reach no database are left out: nothing can differ there."""
    items.sort(key=_patience, reverse=True)
    if connection.vendor != "postgresql":
        return
    marks = ("django_db", "services")
    fixtures = {"db", "transactional_db", "data_folder", "databases"}
    reaching: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        marked = any(map(item.get_closest_marker, marks))
        reaching[marked or bool(fixtures.intersection(getattr(item, "fixturenames", ())))].append(
            item
        )
    config.hook.pytest_deselected(items=reaching[False])
    items[:] = reaching[True]


def _patience(item: pytest.Item) -> float:
    """The seconds that a test is given; those of pyproject.toml where it says nothing."""
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark else 180.0


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches for the network fails at once instead of hanging or passing by luck."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def clean_cache() -> Iterator[None]:
    """Rate limits and the like start anew with each test; so does what a process knows of a site's
    Echo, as the next test's site may have the same key."""
    cache.clear()
    selection._known.clear()
    yield
    cache.clear()


@pytest.fixture(autouse=True)
def default_language() -> None:
    """A request leaves its language active in the thread that answered it, and with the test
    client that is the thread of the tests."""
    translation.deactivate()


def empty_the_tables(_case: TransactionTestCase) -> None:
    """As Django's ``flush``, but what Django says there of its own models stays: to write that
    anew takes longer than most tests."""
    kept = {model._meta.db_table for model in (ContentType, Permission)}
    there = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = [table for table in there if table not in kept]
    with without_triggers("DELETE"):
        connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))


@contextmanager
def without_triggers(event: str) -> Iterator[None]:
    """Without SQLite's triggers on ``event``; PostgreSQL empties tables by another statement."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE %s",
            [f"% BEFORE {event} %"],
        )
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for _name, sql in triggers:
                cursor.execute(sql)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """What an earlier run has migrated is copied; then there is nothing left to migrate."""
    kept = schema_file()
    if connection.vendor == "sqlite" and kept.exists():
        shutil.copy(kept, connection.settings_dict["TEST"]["NAME"])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """PostgreSQL learns nothing from what tests roll back.

    Rows that are never committed fill a table's pages, and whoever counts its rows meanwhile, as
    autovacuum does at moments of its own, finds none: from then on queries are planned for empty
    tables, and one that joins eight thousand rows takes a minute. Uncounted tables are estimated
    by their size.
    """
    if connection.vendor != "postgresql":
        keep_schema()
        return
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            name = connection.ops.quote_name(table)
            cursor.execute(f"ALTER TABLE {name} SET (autovacuum_enabled = off)")


@pytest.fixture
def data_folder(tmp_path: Path, django_db_setup: None) -> Path:
    """For programs that are started: to set up a database of their own takes them seconds."""
    copy_schema(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True, scope="session")
def quick_flush() -> Iterator[None]:
    """After a test that commits nothing is left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_the_tables)
        yield


@pytest.fixture
def sent_jobs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Kind and subject of the jobs for which a worker was sent a task."""
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(work_task, "delay", lambda *named: sent.append(named))
    return sent


@pytest.fixture
def manager(site: Site) -> Client:
    """A manager of the project of a test's site."""
    return member_browser(site.project)


@pytest.fixture
def viewer(site: Site) -> Client:
    return member_browser(site.project, Role.VIEWER)
