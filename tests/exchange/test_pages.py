"""The pages: choose a file, match its columns, watch, see the outcome; download."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.roles import Role
from apps.exchange import selectors
from apps.exchange.exporters import FORMATS
from apps.exchange.services.imports import KIND, run_import
from apps.projects.models import ImportBatch, Project
from apps.reviews.models import SavedFilter
from tests.exchange.helpers import all_places_taken, imported, ledger, lines, queued
from tests.factories.projects import ProjectFactory, member_browser

pytestmark = pytest.mark.django_db


def upload(client: Client, project: Project, content: bytes, name: str = "x.csv") -> Any:
    file = SimpleUploadedFile(name, content)
    return client.post(reverse("import_create", args=[project.slug]), {"file": file})


def test_a_file_goes_from_upload_to_outcome(
    django_capture_on_commit_callbacks: Any, sent_jobs: list[tuple[str, int]]
) -> None:
    project = ProjectFactory.create()
    client = member_browser(project)
    answer = upload(client, project, b"key,said,mood\n1,<b>a</b>,good\n2,,bad\n")
    page = client.get(answer.url)
    assert b"Check the file" in page.content
    assert b"&lt;b&gt;a&lt;/b&gt;" in page.content
    assert b"<b>a</b>" not in page.content

    with django_capture_on_commit_callbacks(execute=True):
        columns = {"text": "said", "id": "key", "question": "", "gold": "mood"}
        assert client.post(answer.url, columns).status_code == 302
    batch = ImportBatch.objects.get()
    assert sent_jobs == [(KIND, batch.pk)]
    assert b"Waiting for the worker" in client.get(answer.url).content

    run_import(batch.pk)
    page = client.get(answer.url)
    assert b"The text is empty" in page.content or b"No text here" in page.content
    assert (ledger(project)[0]["id"], ledger(project)[0]["gold"]) == ("1", "good")
    assert client.post(answer.url, columns).status_code == 200  # it has ended: nothing happens


def test_an_upload_waits_while_other_files_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "PAGE_WAITS", 0)
    project = ProjectFactory.create()
    client = member_browser(project)
    with all_places_taken():
        answer = upload(client, project, b"text\n" + b"words\n" * 200_000)
        page = client.get(answer.url)
    assert (page.status_code, b"Try again in a moment" in page.content) == (503, True)
    assert b"Check the file" in client.get(answer.url).content


def test_progress_polls_until_the_end() -> None:
    project = ProjectFactory.create()
    client = member_browser(project)
    batch = queued(project, lines({"text": "a"}))
    address = reverse("import_progress", args=[project.slug, batch.pk])
    ImportBatch.objects.update(status="running", bytes_done=5, rows_done=1200)
    page = client.get(address, {"since": "1", "first": "2"})
    assert page.status_code == 200
    assert b"1,200 rows read" in page.content
    assert b" left" in page.content
    assert client.get(address, {"since": "1", "first": "x"}).status_code == 200
    ImportBatch.objects.update(status="done")
    ended = client.get(address)
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")


def test_another_tools_file_is_named_and_its_question_chosen() -> None:
    project = ProjectFactory.create()
    client = member_browser(project)
    mood, topic = (
        {"from_name": name, "type": "choices", "value": {"choices": [value]}}
        for name, value in (("mood", "good"), ("topic", "<i>"))
    )
    annotation = {"result": [mood, topic], "completed_by": 1}
    task = {"id": 1, "data": {"review": "Fine."}, "annotations": [annotation], "predictions": [4]}
    answer = upload(client, project, json.dumps([task]).encode(), "tasks.json")
    page = client.get(answer.url).content.decode()
    assert "Label Studio: labels" in page
    assert "choose which one to import" in page
    assert '<option value="mood">' in page  # which of the two is not guessed
    assert client.post(answer.url, {"text": "review", "answer": ""}).status_code == 422
    client.post(answer.url, {"text": "review", "answer": "mood"})
    batch = run_import(ImportBatch.objects.get().pk)
    assert (batch.created, batch.labels_created) == (1, 1)
    result_page = client.get(answer.url).content.decode()
    assert "the predictions&#x27; ids only" in result_page


def test_earlier_imports_are_listed(django_assert_max_num_queries: Any) -> None:
    project = ProjectFactory.create()
    for number in range(3):
        imported(project, lines({"text": f"t{number}"}), f"file{number}.jsonl")
    client = member_browser(project)
    with django_assert_max_num_queries(8):
        page = client.get(reverse("import_create", args=[project.slug]))
    assert page.content.count(b"1 created") == 3


def test_the_text_column_must_be_chosen() -> None:
    project = ProjectFactory.create()
    client = member_browser(project)
    answer = upload(client, project, b"a,b\n1,2\n")
    page = client.post(answer.url, {"text": "", "gold": "nothere"})
    assert page.status_code == 422
    assert ImportBatch.objects.get().status == "uploaded"


@pytest.mark.parametrize("only", ["", "gold"])
def test_the_export_page_offers_every_format(only: str) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"text": "a", "gold": "good"}))
    client = member_browser(project, Role.VIEWER)
    page = client.get(reverse("export_page", args=[project.slug]), {"only": only})
    for name in FORMATS:
        assert f'<option value="{name}"'.encode() in page.content
    address = reverse("export_download", args=[project.slug])
    file = client.get(address, {"format": "csv", "only": only})
    assert file.getvalue().startswith(b"text,id,gold")


def test_a_manager_exports_the_items_of_a_saved_filter() -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a room"}, {"id": "2", "text": "a dish"}))
    saved = SavedFilter.objects.create(project=project, name="Rooms", query={"q": "room"})
    client, address = member_browser(project), reverse("export_page", args=[project.slug])
    chosen = {"only": "all", "filter": saved.pk, "format": "jsonl"}
    answer: Any = client.post(address, chosen, follow=True)
    assert [json.loads(line)["id"] for line in answer.getvalue().splitlines()] == ["1"]
    assert client.post(address, chosen | {"format": "xml"}).status_code == 422
    assert member_browser(project, Role.VIEWER).post(address, chosen).status_code == 403
