"""Killed while it writes or loads an archive, a worker loses and doubles nothing."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

from apps.common.jobs import work_on
from apps.common.models import Job
from apps.exchange.archive import services
from apps.exchange.archive.export import ProjectArchive
from apps.exchange.archive.services import request_import, run_import
from apps.exchange.models import ProjectImport
from apps.exchange.saved.files import path_of
from apps.exchange.saved.services import KIND, save_export
from apps.exchange.services.imports import store_upload
from tests.factories.archive import FilledProject, content_of, written_archive

pytestmark = pytest.mark.django_db(transaction=True)


def killed(work: Callable[[], object]) -> bool:
    """Whether another process that does the work was killed; its lease has lapsed then."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    Job.objects.update(lease_until=None, lease_token=None)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def dying(function: Callable[..., object], calls: int) -> Callable[..., object]:
    """The function, which ends its process when it was called so often."""
    left = calls

    def call(*args: object) -> object:
        nonlocal left
        left -= 1
        found = function(*args)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return call


def test_a_killed_export_is_written_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    filled = FilledProject()
    export = save_export(project=filled.project, actor=None, format_name="archive")
    read = ProjectArchive._read
    monkeypatch.setattr(ProjectArchive, "_read", dying(read, 9))
    assert killed(lambda: work_on(KIND, export.pk))
    export.refresh_from_db()
    assert export.status == "running"

    monkeypatch.setattr(ProjectArchive, "_read", read)
    work_on(KIND, export.pk)
    export.refresh_from_db()
    assert export.status == "done"
    expected = content_of(written_archive(filled.project, tmp_path / "whole.zip"))
    assert content_of(path_of(export.stored_name)) == expected


def test_a_killed_import_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    filled = FilledProject()
    path = written_archive(filled.project, tmp_path / "a.zip")
    filled.project.delete()
    row = request_import(
        path=store_upload([path.read_bytes()]), file_name="a", actor=None, send=False
    )
    insert = services.Loader._insert
    monkeypatch.setattr(services, "CHUNK", 1)
    # In the check, in the first rows, in the thick of it, and near the end.
    monkeypatch.setattr(services.People, "__init__", dying(services.People.__init__, 1))
    assert killed(lambda: run_import(row))
    monkeypatch.undo()
    monkeypatch.setattr(services, "CHUNK", 1)
    for calls in (1, 30, 40, 20):
        monkeypatch.setattr(services.Loader, "_insert", dying(insert, calls))
        assert killed(lambda: run_import(row))
        assert ProjectImport.objects.get().status == "loading"
    monkeypatch.setattr(services.Loader, "_insert", insert)
    done = run_import(row)
    assert done.status == "done", str(done.message)
    assert done.project is not None
    assert done.rows_done == sum(map(len, filled.rows.values())) - 6  # people, prompts and models
    again = written_archive(done.project, tmp_path / "b.zip")
    assert content_of(again) == content_of(path)
