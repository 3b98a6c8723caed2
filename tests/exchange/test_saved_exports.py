"""Saved exports: written whole by one worker, told of by a manifest, gone when they must be."""

import errno
import hashlib
import json
import os
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.utils import timezone

from apps.authors.services.privacy import erase_author
from apps.common.models import Job
from apps.debates.models import Run, RunRole
from apps.exchange.exporters import FORMATS, export_pieces
from apps.exchange.manifests import build_manifest
from apps.exchange.models import SavedExport
from apps.exchange.saved import files, services
from apps.exchange.saved.services import ready_export
from apps.labels.services import annotator_for, record_label
from apps.llm.models import PromptVersion
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict
from tests.exchange.helpers import exported, imported, lines
from tests.factories.authors import answered_by, author_of, site_with_features
from tests.factories.exchange import run_export, saved
from tests.factories.labels import draft, open_item
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import GuidelineFactory, ProjectFactory

pytestmark = pytest.mark.django_db
Status = SavedExport.Status


def small(**fields: Any) -> Project:
    """Two items, one of them decided."""
    project = ProjectFactory.create(**fields)
    imported(project, lines({"id": "1", "text": "a", "gold": "good"}, {"id": "2", "text": "b"}))
    return project


def in_folder() -> list[str]:
    return sorted(files.stored_names())


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("only", ["", "gold"])
def test_the_file_is_the_export(name: str, only: str) -> None:
    project = small()
    export = saved(project, name, only)
    content = files.path_of(export.stored_name).read_bytes()
    if name != "parquet":  # which notes when it was written
        assert content == exported(project, name, only=only)
    assert export.status == Status.DONE
    items = 0 if name == "labelstudio-config" else 1 if only else 2
    assert (export.size, export.items_done) == (len(content), items)
    assert export.sha256 == hashlib.sha256(content).hexdigest()
    assert export.manifest["file"]["sha256"] == export.sha256
    assert export.manifest["counts"]["gold"] == ({"imported": 1} if items else {})
    assert export.file_name.startswith(f"{project.slug}-gold-" if only else f"{project.slug}-2")


def test_the_manifest_tells_what_is_in_the_file_and_what_made_it() -> None:
    project = small()
    GuidelineFactory.create(project=project, version=3)
    schema = current_schema(project)
    run = Run.objects.create(project=project, protocol="single", schema=schema)
    prompt = PromptVersion.objects.create(hash="f" * 64, name="single/annotator", body="?")
    model = ModelSpecFactory.create()
    RunRole.objects.create(run=run, role="annotator", model=model, prompt=prompt)
    item, elsewhere = open_item(project), uuid4()
    for uid in (run.uid, elsewhere):
        by = annotator_for(project, kind="llm", name=str(uid), offline=uid == elsewhere)
        record_label(draft(item, by, "good", run_uid=uid, action="proposed"))
    manifest = saved(project).manifest
    assert manifest["project"] == {"slug": project.slug, "name": project.name}
    assert manifest["software"]["name"] == "LabelHub"
    counts = {
        "items": 3, "labels": {"llm": 2}, "rejections": {}, "offline_labels": 1,
        "gold": {"imported": 1},
    }  # fmt: skip
    assert manifest["counts"] == counts
    versions = manifest["schema"]["versions"]
    assert [(row["version"], row["labels"], row["gold"]) for row in versions] == [(1, 2, 1)]
    assert versions[0]["definition"] == schema.definition
    assert manifest["guideline"]["version"] == 3
    ours, theirs = manifest["runs"]
    assert (ours["uid"], ours["labels"], ours["protocol"]) == (str(run.uid), 1, "single")
    assert ours["roles"] == [
        {"role": "annotator", "model": model.name, "provider": model.provider.name,
         "prompt": "single/annotator", "prompt_hash": "f" * 64}
    ]  # fmt: skip
    assert (theirs["uid"], "imported" in theirs["note"]) == (str(elsewhere), True)
    json.dumps(manifest)


def test_three_at_once_are_enough() -> None:
    project = small()
    for _ in range(services.AT_ONCE):
        services.save_export(project=project, actor=None, format_name="csv")
    with pytest.raises(Conflict, match="wait for one"):
        services.save_export(project=project, actor=None, format_name="csv")


def test_a_killed_worker_leaves_it_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    project = small()
    export = services.save_export(project=project, actor=None, format_name="csv")

    def killed(name: str, *_: Any) -> None:
        partial = files.path_of(name + files.PART)
        partial.parent.mkdir(parents=True)
        partial.write_text("half of")
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_file", killed)
        with pytest.raises(SystemExit):
            run_export(export)
    (partial,) = in_folder()
    run_export(export)  # it is still held
    assert in_folder() == [partial]
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    run_export(export)
    export.refresh_from_db()
    assert export.status == Status.DONE
    services.keep_exports()
    assert in_folder() == [export.stored_name]


def test_who_lost_the_lease_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    project = small()
    export = services.save_export(project=project, actor=None, format_name="csv")
    monkeypatch.setattr(services, "PACE", 0.0)
    whole = export_pieces

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        Job.objects.update(lease_token=None)
        return whole(*args, **kwargs)

    monkeypatch.setattr(services, "export_pieces", overtaken)
    run_export(export)
    export.refresh_from_db()
    assert (export.status, in_folder()) == (Status.RUNNING, [])


def test_one_that_was_deleted_meanwhile_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    project = small()
    export = services.save_export(project=project, actor=None, format_name="csv")
    whole = build_manifest

    def deleted(*args: Any, **kwargs: Any) -> Any:
        services.delete_export(export=export)
        return whole(*args, **kwargs)

    monkeypatch.setattr(services, "build_manifest", deleted)
    run_export(export)
    assert (SavedExport.objects.count(), in_folder()) == (0, [])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk of the server is full"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (ValueError("secret detail"), "server error"),
    ],
)
def test_what_goes_wrong_is_told_and_nothing_stays(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fails(_: int) -> None:
        raise error

    project = small()
    export = services.save_export(project=project, actor=None, format_name="csv")
    monkeypatch.setattr(os, "fsync", fails)
    run_export(export)
    export.refresh_from_db()
    assert (export.status, export.stored_name, in_folder()) == (Status.FAILED, "", [])
    assert words in export.message
    assert "secret detail" not in export.message


def test_only_the_newest_are_kept(settings: LazySettings) -> None:
    settings.LABELHUB_SAVED_EXPORTS = 2
    project, other = small(), saved(small())
    exports = [saved(project) for _ in range(4)]
    left = list(project.saved_exports.order_by("pk"))
    assert left == exports[2:]
    assert in_folder() == sorted([*(export.stored_name for export in left), other.stored_name])


def test_files_of_deleted_projects_go() -> None:
    gone, kept = saved(small()), saved(small())
    gone.project.delete()
    services.keep_exports()
    assert in_folder() == [kept.stored_name]


def of_author() -> tuple[SavedExport, Any]:
    """A saved export with what an author has answered, and the author."""
    author = author_of(site_with_features(), "customer")
    answered_by(author)
    return saved(author.site.project), author


def test_an_erased_author_is_in_no_file(django_capture_on_commit_callbacks: Any) -> None:
    export, author = of_author()
    beside = saved(small())
    path = files.path_of(export.stored_name)
    assert b"laptop" in path.read_bytes()
    with django_capture_on_commit_callbacks(execute=True):
        erase_author(author)
    assert not path.exists()
    export.refresh_from_db()
    assert (export.status, export.stored_name) == (Status.STALE, "")
    assert "Save the export again" in export.message
    assert in_folder() == [beside.stored_name]


def test_a_file_of_an_erased_author_is_not_given_out_before_it_is_deleted() -> None:
    export, author = of_author()
    erase_author(author)  # nothing is committed: nobody has deleted the file
    with pytest.raises(Conflict, match="author's data was deleted"):
        ready_export(export.project, export.pk)


def test_whoever_is_erased_while_it_is_written_is_not_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    author = author_of(site_with_features(), "customer")
    answered_by(author)
    staying = author_of(author.site, "another")
    answered_by(staying)
    export = services.save_export(project=author.site.project, actor=None, format_name="jsonl")
    whole = build_manifest

    def erased(*args: Any, **kwargs: Any) -> Any:
        erase_author(author)
        return whole(*args, **kwargs)

    monkeypatch.setattr(services, "build_manifest", erased)
    run_export(export)
    export.refresh_from_db()
    assert (export.status, in_folder()) == (Status.RUNNING, [])
    monkeypatch.undo()
    run_export(export)
    export.refresh_from_db()
    assert (export.status, export.manifest["counts"]["labels"]) == (Status.DONE, {"author": 1})


def test_progress_is_told_and_the_lease_renewed_while_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = small()
    export = services.save_export(project=project, actor=None, format_name="jsonl")
    monkeypatch.setattr(services, "PACE", 0.0)
    seen, leases = [], list[Any]()
    fsync, whole = os.fsync, export_pieces

    def begin(*args: Any, **kwargs: Any) -> Any:
        leases.append(Job.objects.get().lease_until)
        return whole(*args, **kwargs)

    def look(number: int) -> None:
        now = SavedExport.objects.get(pk=export.pk)
        seen.append((now.items_done, now.size > 0, now.items_total))
        leases.append(Job.objects.get().lease_until)
        fsync(number)

    monkeypatch.setattr(services, "export_pieces", begin)
    monkeypatch.setattr(os, "fsync", look)
    run_export(export)
    assert seen == [(2, True, 2)]
    assert leases[0] < leases[1]
