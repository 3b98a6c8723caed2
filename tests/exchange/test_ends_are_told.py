"""People are told of the imports and saved exports that they left to a worker."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.models import Job
from apps.exchange.saved import files
from apps.exchange.saved.services import save_export
from apps.exchange.services import imports
from apps.exchange.services.imports import run_import
from apps.projects.models import Project
from tests.exchange.helpers import imported, lines, queued
from tests.factories.exchange import run_export
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
ROWS = lines({"id": "1", "text": "a", "gold": "good"}, {"id": "2", "text": "b"})


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def boss(project: Project) -> User:
    return member(project, Role.MANAGER)


def told(boss: User) -> list[tuple[str, str, str]]:
    return list(boss.notifications.order_by("pk").values_list("kind", "outcome", "name"))


def test_an_import_is_told_of_once_however_often_it_is_taken_up(
    project: Project, boss: User
) -> None:
    batch = queued(project, ROWS, actor=boss)
    for _ in range(2):
        run_import(batch.pk)
    assert told(boss) == [("import", "done", "rows.jsonl")]
    words = "Read 2 rows: 2 created (1 with gold, 1 without a label), 0 unchanged."
    assert boss.notifications.get().message == words


def test_a_kill_just_before_the_end_tells_nobody_and_the_next_worker_once(
    project: Project, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(project, ROWS, actor=boss)

    def die(**_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(imports, "notify_end", die)
        with pytest.raises(KeyboardInterrupt):
            run_import(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, told(boss)) == ("running", [])
    Job.objects.update(lease_until=None)
    run_import(batch.pk)
    assert told(boss) == [("import", "done", "rows.jsonl")]


def test_a_failed_import_is_told_of(
    project: Project, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(project, ROWS, actor=boss)
    imports.stored_file(batch).unlink()
    run_import(batch.pk)
    assert told(boss) == [("import", "failed", "rows.jsonl")]


def test_whoever_waits_for_the_answer_is_not_told(project: Project, boss: User) -> None:
    run_import(queued(project, ROWS, actor=boss, send=False).pk)
    assert told(boss) == []


def test_a_saved_export_is_told_of(
    project: Project, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(project, ROWS)
    export = save_export(project=project, actor=boss, format_name="csv")
    for _ in range(2):
        run_export(export)
    assert told(boss) == [("export", "done", export.file_name)]

    def fail(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr(files, "write_file", fail)
    broken = save_export(project=project, actor=boss, format_name="csv")
    run_export(broken)
    assert told(boss)[1:] == [("export", "failed", broken.file_name)]
