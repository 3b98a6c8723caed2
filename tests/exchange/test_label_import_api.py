"""POST labels/import/: labels and predictions for items that exist."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from apps.accounts.roles import Role
from apps.common.jobs import work_task
from apps.common.models import Job
from apps.exchange.api import imports
from apps.exchange.services import label_files
from apps.exchange.services.imports import KIND, run_import
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import ImportBatch, Item, Project
from tests.exchange.helpers import lines, url_of
from tests.factories.labels import open_item
from tests.factories.projects import ProjectFactory, member_api

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = ProjectFactory.create()
    for name in ("a", "b"):
        open_item(project, external_id=name, text=f"The text of {name}.")
    return project


def row(item: str = "a", who: str = "ann", label: Any = "good", **more: Any) -> dict[str, Any]:
    return {"item_id": item, "annotator_id": who, "annotator_type": "crowd", "label": label, **more}


def post(project: Project, body: Any, role: Role = Role.MANAGER, **how: Any) -> Any:
    return member_api(project, role).post(url_of("api_label_import", project), body, **how)


def test_every_form_of_body_brings_the_same_labels(project: Project) -> None:
    rows = [row(), row("b", label="bad")]
    csv = b"item_id,annotator_id,annotator_type,label\na,%s,crowd,good\nb,%s,crowd,bad\n"
    bodies: list[tuple[Any, dict[str, Any]]] = [
        (rows, {"format": "json"}),
        (lines(*(r | {"annotator_id": "lines"} for r in rows)),
         {"content_type": "application/x-ndjson"}),
        (csv % (b"csv", b"csv"), {"content_type": "text/csv"}),
        ({"file": SimpleUploadedFile("l.csv", csv % (b"form", b"form"))}, {"format": "multipart"}),
    ]  # fmt: skip
    for body, how in bodies:
        done = post(project, body, **how)
        assert done.status_code == 200, done.content
        assert (done.json()["created"], done.json()["labels_created"], done.json()["errors"]) == (
            2, 2, [],
        )  # fmt: skip
    assert Label.objects.count() == 8
    alone = post(project, row(who="single"), format="json").json()
    assert (alone["created"], alone["rows"]) == (1, 1)


def test_sent_again_they_are_unchanged_and_what_differs_is_a_conflict(project: Project) -> None:
    post(project, [row()], format="json")
    again = post(project, [row(), row(label="bad")], format="json").json()
    assert (again["created"], again["unchanged"], again["conflicts"]) == (0, 1, 1)
    assert again["conflict_rows"][0]["row"] == 2
    assert Label.objects.get().value == "good"


def test_rows_with_faults_are_told_and_the_others_are_in(project: Project) -> None:
    number = Item.objects.get(external_id="b").pk
    rows = [
        row("nowhere"), row(label="ugly"), {"item_id": "a"}, row(),
        {**row(who="bob"), "item_id": "", "item_number": number},
        {**row(who="bob"), "item_number": 10**12},
        {**row(who="bob"), "item_number": "٣"},
        {**row(who="bob"), "item_number": open_item(ProjectFactory.create()).pk},
    ]  # fmt: skip
    done = post(project, rows, format="json").json()
    assert (done["created"], done["failed"]) == (2, 6)
    assert [fault["row"] for fault in done["errors"]] == [1, 2, 3, 6, 7, 8]
    assert Label.objects.get(annotator__name="bob").item_id == number


def test_predictions_of_a_model_become_suggestions_with_their_confidence(project: Project) -> None:
    sent = row(who="my-bert 2", label="bad", confidence=0.75, rationale="It says so.")
    post(project, [sent | {"annotator_type": "llm"}], format="json")
    label = Label.objects.get()
    assert (label.annotator.kind, label.confidence, label.rationale) == ("llm", 0.75, "It says so.")
    state = ItemState.objects.get(item__external_id="a")
    assert (state.suggestion, state.stage) == (label, "suggested")
    post(project, [row("b", gold="bad")], format="json")
    assert Gold.objects.get().value == "bad"


def test_a_project_without_texts_gets_items_by_their_ids() -> None:
    project = ProjectFactory.create()
    done = post(project, [row("x"), row("y")], format="json").json()
    assert (done["items_created"], done["created"], Item.objects.count()) == (2, 2, 2)


def test_a_large_file_goes_to_the_worker(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 10)
    waiting = post(project, [row()], format="json")
    assert (waiting.status_code, waiting.json()["status"]) == (202, "queued")
    batch = ImportBatch.objects.get()
    work_task(KIND, batch.pk)
    url = url_of("api_import_detail", project, batch.pk)
    done = member_api(project).get(url).json()
    assert (done["status"], done["labels_created"], done["message"]) == (
        "done", 1, "Read 1 row: 1 created, 0 unchanged.",
    )  # fmt: skip


def test_after_a_kill_it_goes_on_and_its_counts_are_as_without(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where rows repeat each other, each of which revises the one before."""
    monkeypatch.setattr(label_files, "CHUNK_ROWS", 2)
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 1)
    same = row(label="good", supersedes=True)
    rows = [row(label="bad"), same, same, same, row("b"), row("nowhere")]
    post(project, rows, format="json")
    batch = ImportBatch.objects.get()
    written: list[Any] = []
    write = label_files.write_labels

    def killed(*given: Any, **more: Any) -> None:
        if len(written) == 2:
            raise SystemExit
        written.append(1)
        write(*given, **more)

    with monkeypatch.context() as patched:
        patched.setattr("apps.exchange.services.imports.write_labels", killed)
        with pytest.raises(SystemExit):
            run_import(batch.pk)
    assert Label.objects.count() == 4
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    done = run_import(batch.pk)
    assert (done.rows_done, done.created, done.unchanged, done.failed) == (6, 5, 0, 1)
    assert Label.objects.count() == 5


def test_who_may_not_manage_brings_no_labels(project: Project) -> None:
    for role, status in ((Role.REVIEWER, 403), (Role.VIEWER, 403)):
        assert post(project, [row()], role, format="json").status_code == status
    assert post(project, b"", content_type="application/json").status_code == 422
    assert not Label.objects.exists()


def test_hostile_rows_are_faults(project: Project) -> None:
    rows = [row("a\0"), row(label=["good"] * 1000), row(label={"good": {}}), row(confidence=1e400),
            row(confidence=-1), row(uid="x"), row(created_at="0000"), [], "row",
            row(supersedes=str(uuid4()), who="ghost")]  # fmt: skip
    body = json.dumps(rows).replace("Infinity", "1e999").encode()
    done = post(project, body, content_type="application/json")
    assert done.status_code == 200, done.content
    assert done.json()["created"] <= 1
    assert done.json()["failed"] >= 8
