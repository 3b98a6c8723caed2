"""What becomes of people, models, names and unfinished work on another server."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.authors.models import Author, Erasure, Message, Site, SiteKey
from apps.common import shared_files
from apps.common.jobs import Postponed, work_on
from apps.common.models import AuditEntry, Job
from apps.debates.models import Run
from apps.echo.models import Echo, LogEvent
from apps.exchange.archive.export import MANIFEST, ProjectArchive
from apps.exchange.archive.services import Loader, cancel_import
from apps.exchange.archive.tables import Table, tables
from apps.exchange.models import ProjectImport
from apps.exchange.saved.services import KIND, save_export
from apps.labels.models import Annotator, Assignment, ItemState, Label
from apps.llm.models import ModelSpec, Provider
from apps.projects.models import Membership, Project
from apps.projects.selectors import get_project
from apps.reviews.models import Slot
from labelhub.core.errors import Conflict, NotFound
from tests.factories.accounts import UserFactory, api_of, browser_of
from tests.factories.archive import FilledProject, content_of, loaded, written_archive
from tests.factories.projects import member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def filled() -> FilledProject:
    return FilledProject()


def new_of(done: ProjectImport) -> Project:
    assert done.status == "done", str(done.message)
    assert done.project is not None
    return done.project


def test_twice_on_one_server_gives_two_more_projects(filled: FilledProject, tmp_path: Path) -> None:
    path = written_archive(filled.project, tmp_path / "a.zip")
    first, second = new_of(loaded(path)), new_of(loaded(path, slug="again"))
    assert [first.slug, second.slug] == ["filled-0-2", "again"]
    for project in (first, second):
        run = Run.objects.filter(project=project).order_by("pk").first()
        label = Label.objects.filter(item__project=project).first()
        assert run
        assert label
        assert label.run_uid == run.uid != filled.rows["debates.Run"][0].uid
        for author, event in zip(
            Author.objects.filter(site__project=project).order_by("pk"),
            LogEvent.objects.filter(echo__site__project=project).order_by("pk"),
            strict=True,
        ):
            assert event.author_id == author.pk
    keys = set(Site.objects.values_list("public_key", flat=True))
    assert len(keys) == Site.objects.count() == 6
    assert all(
        words in str(ProjectImport.objects.earliest("pk").remarks)
        for words in ("public key", "switched off")
    )


def test_people_come_by_name_and_without_rights(filled: FilledProject, tmp_path: Path) -> None:
    ItemState.objects.filter(project=filled.project).update(
        assignees=[user.pk for user in filled.rows["accounts.User"]], reserved_slots=2, queued=True
    )
    path = written_archive(filled.project, tmp_path / "a.zip")
    here, gone = User.objects.filter(username__startswith="filled-").order_by("username")
    User.objects.filter(pk=gone.pk).update(username="somebody")
    done = loaded(path)
    project = new_of(done)
    assert done.result["people_found"] == ["filled-0"]
    assert done.result["people_missing"] == ["filled-1"]
    assert set(Annotator.objects.filter(project=project).values_list("user", flat=True)) == {
        here.pk,
        None,
    }
    assert set(Assignment.objects.filter(project=project).values_list("user", flat=True)) == {
        here.pk
    }
    assert done.result["rows_left_out"] == 5
    # No place of an item is kept for somebody who is not here.
    states = ItemState.objects.filter(project=project)
    assert all(state.reserved_slots <= len(state.assignees) for state in states)
    assert not Membership.objects.filter(project=project).exists()
    assert not Project.objects.visible_to(here).filter(pk=project.pk).exists()

    other = new_of(loaded(path, match_people=False))
    assert set(Annotator.objects.filter(project=other).values_list("user", flat=True)) == {None}


def test_secrets_stay_and_models_come_by_name(filled: FilledProject, tmp_path: Path) -> None:
    Provider.objects.filter(name="Ours").update(sealed_key=b"k", base_url="https://secret.example")
    SiteKey.objects.create(
        site=filled.rows["authors.Site"][0], purpose="sign", kid="k1", sealed=b"s"
    )
    path = written_archive(filled.project, tmp_path / "a.zip")
    with zipfile.ZipFile(path) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
    assert b"secret.example" not in whole
    assert b"sealed" not in whole.replace(b"sealed_", b"").replace(
        b'"sealed"', b""
    )  # of FilledProject
    filled.project.delete()
    done = loaded(path)
    project = new_of(done)
    placeholder = Provider.objects.get(project=project)
    assert (placeholder.name, placeholder.base_url, placeholder.sealed_key) == ("Ours", "", None)
    assert placeholder.key_state == "none"
    assert done.result["models_missing"] == ["Ours/filled small"]
    used = ModelSpec.objects.filter(pk__in=Site.objects.values("model")).values_list(
        "provider__name", flat=True
    )
    assert set(used) == {"Ours", "Everybody's"}
    site = Site.objects.filter(project=project).first()
    assert site
    assert not site.enabled
    assert not site.keys.exists()
    assert site.public_key == filled.rows["authors.Site"][0].public_key
    assert "public key" not in str(done.remarks)


def test_unfinished_work_waits_for_a_person(filled: FilledProject, tmp_path: Path) -> None:
    Run.objects.filter(project=filled.project).update(status="running")
    Message.objects.filter(site__project=filled.project).update(status="received")
    path = written_archive(filled.project, tmp_path / "a.zip")
    project = new_of(loaded(path))
    assert set(Run.objects.filter(project=project).values_list("status", flat=True)) == {"paused"}
    assert set(Message.objects.filter(site__project=project).values_list("status", flat=True)) == {
        "dropped"
    }
    assert not Slot.objects.filter(project=project, lease_token__isnull=False).exists()
    echo = Echo.objects.filter(site__project=project).first()
    assert echo
    assert (echo.logged, echo.learnt) == (2, 0)


def test_a_dry_run_changes_nothing(filled: FilledProject, tmp_path: Path) -> None:
    path = written_archive(filled.project, tmp_path / "a.zip")
    done = loaded(path, dry_run=True)
    assert (done.status, done.project) == ("done", None)
    assert done.result["counts"]["labels.Label"] == 2
    assert done.result["models_missing"] == ["Ours/filled small"]
    assert Project.objects.count() == 1
    assert not Job.objects.filter(kind="exchange.import_project").exists()


def test_export_and_import_are_in_the_audit_log(filled: FilledProject, tmp_path: Path) -> None:
    done = loaded(written_archive(filled.project, tmp_path / "a.zip"))
    entry = AuditEntry.objects.get(action="project.imported")
    assert entry.changes["sha256"] == [None, done.result["sha256"]]
    assert entry.changes["rows"] == [None, done.rows_done]
    assert entry.project_id == new_of(done).pk


def test_an_archive_of_an_older_server_gets_defaults(filled: FilledProject, tmp_path: Path) -> None:
    path, old = written_archive(filled.project, tmp_path / "a.zip"), tmp_path / "old.zip"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(old, "w") as target:
        manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        table = manifest["tables"]["labels.ItemState"]
        place = table["columns"].index("required_here")
        rows = [json.loads(line) for line in archive.read("labels.ItemState.jsonl").splitlines()]
        for row in [table["columns"], *rows]:
            del row[place]
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        table |= {"bytes": len(lines), "sha256": hashlib.sha256(lines).hexdigest()}
        for name in archive.namelist():
            content = {"labels.ItemState.jsonl": lines, MANIFEST: json.dumps(manifest).encode()}
            target.writestr(name, content.get(name) or archive.read(name))
    project = new_of(loaded(old))
    assert set(
        ItemState.objects.filter(project=project).values_list("required_here", flat=True)
    ) == {1}
    assert content_of(path)["labels.Label"]


def test_an_author_erased_meanwhile_is_in_no_archive(
    filled: FilledProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = save_export(project=filled.project, actor=None, format_name="archive")
    read = ProjectArchive.pieces

    def erase(archive: ProjectArchive) -> Iterator[bytes]:
        yield from read(archive)
        monkeypatch.setattr(ProjectArchive, "pieces", read)
        Erasure.objects.create(site=filled.rows["authors.Site"][0])

    monkeypatch.setattr(ProjectArchive, "pieces", erase)
    work_on(KIND, export.pk)
    export.refresh_from_db()
    assert export.status == "running"
    assert shared_files.names_in("saved-exports") == []
    Job.objects.update(lease_until=None)
    work_on(KIND, export.pk)
    export.refresh_from_db()
    assert export.status == "done"
    assert export.manifest["tables"]["authors.Erasure"]["rows"] == 3


def test_an_archive_is_downloaded_by_managers_alone(filled: FilledProject) -> None:
    export = save_export(project=filled.project, actor=None, format_name="archive")
    work_on(KIND, export.pk)
    page = f"/p/{filled.project.slug}/export/saved/{export.pk}/file/"
    rest = f"/api/v1/projects/{filled.project.slug}/exports/{export.pk}/file/"
    exports = f"/p/{filled.project.slug}/export/"
    for role, allowed in ((Role.VIEWER, False), (Role.REVIEWER, False), (Role.MANAGER, True)):
        user = member(filled.project, role)
        browser, status = browser_of(user), 200 if allowed else 403
        assert browser.get(page).status_code == status
        assert api_of(user).get(rest).status_code == status
        assert (page in browser.get(exports).content.decode()) == allowed


def test_nobody_sees_a_project_that_is_being_loaded(filled: FilledProject) -> None:
    operator = UserFactory.create(is_superuser=True)
    assert Project.objects.visible_to(operator).exists()
    Project.objects.update(loading=True)
    assert not Project.objects.visible_to(operator).exists()
    with pytest.raises(NotFound):
        get_project(operator, filled.project.slug, Right.VIEW)


def test_a_stopped_import_is_deleted_by_the_worker(
    filled: FilledProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written_archive(filled.project, tmp_path / "a.zip")
    filled.project.delete()
    insert = Loader._insert

    def stop(loader: Loader, table: Table, rows: Any) -> None:
        insert(loader, table, rows)
        if table.name == "labels.Label":
            raise Postponed("The server is stopping.")

    monkeypatch.setattr(Loader, "_insert", stop)
    row = loaded(path)
    assert row.status == "loading"
    assert Project.objects.get().loading
    cancel_import(row)
    work_on("exchange.import_project", row.pk)
    row.refresh_from_db()
    assert (row.status, str(row.message)) == ("failed", "It was stopped.")
    assert not any(table.rows.exists() for table in tables())
    with pytest.raises(Conflict):
        cancel_import(row)
