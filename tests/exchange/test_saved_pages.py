"""Saved exports in pages and over REST, and the manifest of the command."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.roles import Role
from apps.common.jobs import work_task
from apps.exchange.models import SavedExport
from apps.exchange.saved import files
from apps.projects.models import Project
from tests.exchange.helpers import url_of
from tests.exchange.test_saved_exports import small
from tests.factories.exchange import run_export, saved
from tests.factories.projects import member_api, member_browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return small()


def test_from_the_button_to_the_file(
    project: Project,
    django_capture_on_commit_callbacks: Any,
    sent_jobs: list[tuple[str, int]],
) -> None:
    client = member_browser(project)
    with django_capture_on_commit_callbacks(execute=True):
        asked = {"format": "csv", "only": "gold", "keep": "on"}
        answer = client.post(url_of("export_page", project), asked, follow=True)
    page = answer.content.decode()
    assert re.search(r'>Items</span>\s*<span class="progress__count">\s*0 of 1\s*<', page)
    assert "every 2s" in page
    part = client.get(url_of("saved_list", project), headers={"HX-Request": "true"}).content
    assert b"<html" not in part
    work_task(*sent_jobs[0])
    page = client.get(url_of("saved_list", project), follow=True).content.decode()
    assert "every 2s" not in page
    export = SavedExport.objects.get()
    assert export.sha256 in page
    file: Any = member_browser(project, Role.VIEWER).get(url_of("saved_file", project, export.pk))
    content = file.getvalue()
    assert hashlib.sha256(content).hexdigest() == export.sha256
    assert file["Content-Disposition"] == f'attachment; filename="{export.file_name}"'
    assert int(file["Content-Length"]) == len(content)
    manifest = client.get(url_of("saved_manifest", project, export.pk)).json()
    assert manifest["filters"] == {"only": "gold"}


def test_a_file_that_was_changed_or_lost_is_found_out(project: Project) -> None:
    export, client = saved(project), member_browser(project)
    address = url_of("saved_verify", project, export.pk)
    assert b"is unchanged" in client.post(address, follow=True).content
    files.path_of(export.stored_name).write_bytes(b"other")
    assert b"was changed or lost" in client.post(address, follow=True).content
    verified = (
        member_api(project).post(url_of("api_saved_export_verify", project, export.pk)).json()
    )
    assert (verified["ok"], verified["bytes"], verified["expected_sha256"]) == (
        False,
        5,
        export.sha256,
    )
    files.remove(export.stored_name)
    verified = (
        member_api(project).post(url_of("api_saved_export_verify", project, export.pk)).json()
    )
    assert (verified["ok"], verified["sha256"]) == (False, None)
    gone = client.get(url_of("saved_file", project, export.pk))
    assert (gone.status_code, b"gone from the server" in gone.content) == (409, True)


def test_hostile_names_are_escaped(project: Project) -> None:
    Project.objects.update(name="<script>alert(1)</script>")
    export = saved(project)
    SavedExport.objects.update(message="<b>x</b>", status="failed")
    page = member_browser(project).get(url_of("export_page", project)).content
    assert b"<b>x</b>" not in page
    assert b"<script>alert" not in page
    assert export.file_name.encode() in page


def test_over_rest(project: Project) -> None:
    client = member_api(project)
    asked = client.post(url_of("api_saved_export_list", project), {"format": "jsonl"})
    assert (asked.status_code, asked.json()["status"]) == (202, "queued")
    number = asked.json()["id"]
    early = client.get(url_of("api_saved_export_file", project, number))
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    run_export(SavedExport.objects.get(pk=number))
    listed = member_api(project, Role.VIEWER).get(url_of("api_saved_export_list", project)).json()
    assert (listed["count"], listed["results"][0]["status"]) == (1, "done")
    export = client.get(url_of("api_saved_export", project, number)).json()
    assert export["manifest"]["counts"]["items"] == export["items_done"] == 2
    file: Any = client.get(url_of("api_saved_export_file", project, number))
    assert len(file.getvalue()) == export["bytes"]
    manifest = client.get(url_of("api_saved_export_manifest", project, number)).json()
    assert manifest == export["manifest"]
    assert client.post(url_of("api_saved_export_verify", project, number)).json()["ok"] is True
    assert client.delete(url_of("api_saved_export", project, number)).status_code == 204
    assert client.get(url_of("api_saved_export", project, number)).status_code == 404
    assert client.post(url_of("api_saved_export_list", project), {"format": "pdf"}).status_code in (
        400,
        422,
    )


def test_the_command_writes_a_manifest(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.jsonl"
    how = {"format": "jsonl", "output": target, "json": True}
    call_command("export_labels", project.slug, **how)
    assert "manifest" not in json.loads(capsys.readouterr().out)
    call_command("export_labels", project.slug, manifest=True, **how)
    printed = json.loads(capsys.readouterr().out)
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert printed["manifest"] == str(tmp_path / "out.jsonl.manifest.json")
    assert manifest["file"] == {
        "name": "out.jsonl",
        "bytes": target.stat().st_size,
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
    }
    assert manifest["counts"] == {
        "items": 2, "labels": {}, "rejections": {}, "offline_labels": 0, "gold": {"imported": 1},
    }  # fmt: skip


def test_deleting_takes_the_file_along(project: Project) -> None:
    export = saved(project)
    member_browser(project).post(url_of("saved_delete", project, export.pk))
    assert (SavedExport.objects.count(), files.stored_names()) == (0, [])
