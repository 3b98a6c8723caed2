"""POST import/ and GET export/ over REST."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.common.jobs import waiting_jobs, work_task
from apps.exchange.api import imports
from apps.exchange.exporters import FORMATS, file_name
from apps.exchange.services.imports import KIND
from apps.projects.models import ImportBatch, Project
from apps.reviews.models import SavedFilter
from tests.exchange.helpers import all_places_taken, imported, ledger, lines, url_of
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory, member, member_api
from tests.factories.reviews import answer, claim, new_project, reviewer

pytestmark = pytest.mark.django_db

ROWS = [{"id": "1", "text": "a", "gold": "good"}, {"id": "2", "text": ""}]


def post(project: Project, body: Any, query: str = "", **how: Any) -> Any:
    return member_api(project).post(url_of("api_import", project) + query, body, **how)


def get(project: Project, query: str = "", role: Role = Role.VIEWER) -> Any:
    return member_api(project, role).get(url_of("api_export", project) + query)


def test_a_json_list_is_imported_at_once() -> None:
    project = ProjectFactory.create()
    response = post(project, ROWS, format="json")
    assert response.status_code == 200
    body = response.json()
    assert (body["created"], body["unchanged"], body["conflicts"]) == (1, 0, 0)
    assert body["items_created"] == 1
    assert body["errors"] == [{"row": 2, "field": "text", "message": "The text is empty."}]
    assert (body["status"], body["rows"]) == ("done", 2)
    again = post(project, ROWS[:1], format="json").json()
    assert (again["created"], again["unchanged"], again["errors"]) == (0, 1, [])


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (lines(ROWS[0]), "application/x-ndjson"),
        (b"id,text,gold\n1,a,good\n", "text/csv"),
        (b'{"items": [{"id": 1, "text": "a", "gold": "good"}]}', "application/json"),
    ],
)
def test_other_bodies_are_known_by_their_content_type(content: bytes, content_type: str) -> None:
    response = post(ProjectFactory.create(), content, content_type=content_type)
    assert response.json()["created"] == 1


def test_a_file_and_its_columns_may_be_posted_as_a_form() -> None:
    project = ProjectFactory.create()
    file = SimpleUploadedFile("x.tsv", b"key\tsaid\tmood\n7\ta\tgood\n")
    query = "?text_column=said&id_column=key&gold_column=mood"
    assert post(project, {"file": file}, query, format="multipart").json()["created"] == 1
    row = ledger(project)[0]
    assert (row["id"], row["text"], row["gold"]) == ("7", "a", "good")


def test_strict_refuses_the_whole_list() -> None:
    project = ProjectFactory.create()
    response = post(project, ROWS, "?strict=1", format="json")
    assert (response.status_code, response["Content-Type"]) == (422, "application/problem+json")
    body = response.json()
    assert (body["code"], body["created"], body["errors"][0]["row"]) == ("import_failed", 0, 2)
    assert project.items.count() == 0


def test_conflicts_are_listed_apart_from_errors() -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a"}))
    body = post(project, [{"id": "1", "text": "b"}], format="json").json()
    assert (body["conflicts"], body["errors"]) == (1, [])
    assert body["conflict_rows"][0]["row"] == 1


def test_a_body_that_cannot_be_read_just_now_goes_to_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(imports, "PAGE_WAITS", 0)
    rows = [{"id": "1", "text": "x" * 600_000}, {"id": "2", "text": "y" * 600_000}]
    with all_places_taken():
        response = post(ProjectFactory.create(), rows, format="json")
    batch = response.json()["id"]
    assert (response.status_code, waiting_jobs(KIND)) == (202, [batch])
    work_task(KIND, batch)
    assert ImportBatch.objects.get().created == 2


def test_a_large_body_goes_to_the_worker(
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    sent_jobs: list[tuple[str, int]],
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 10)
    project = ProjectFactory.create()
    with django_capture_on_commit_callbacks(execute=True):
        response = post(project, ROWS, format="json")
    assert (response.status_code, response.json()["status"]) == (202, "queued")
    assert sent_jobs == [(KIND, response.json()["id"])]
    work_task(*sent_jobs[0])
    address = url_of("api_import_detail", project, response.json()["id"])
    assert member_api(project).get(address).json()["created"] == 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_streamed_under_its_name(name: str) -> None:
    project = ProjectFactory.create(slug="hotel")
    imported(project, lines(ROWS[0]))
    response = get(project, f"?format={name}")
    assert response.streaming
    named = file_name(project, FORMATS[name], filters={})
    assert response["Content-Disposition"] == f'attachment; filename="{named}"'
    rows_of_labels = name == "csv_long"  # nobody has labelled the item
    assert b"good" in response.getvalue() or name == "parquet" or rows_of_labels


def test_a_saved_filter_chooses_the_items() -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a room"}, {"id": "2", "text": "a dish"}))
    saved = SavedFilter.objects.create(project=project, name="Rooms", query={"q": "room"})
    response = get(project, f"?format=jsonl&filter={saved.pk}")
    assert [json.loads(line)["id"] for line in response.getvalue().splitlines()] == ["1"]
    assert "-rooms.jsonl" in response["Content-Disposition"]
    assert get(project, "?filter=999").status_code == 404


def test_who_has_yet_to_answer_gets_no_file() -> None:
    """It would tell a reviewer what others say before their own answer."""
    project, client = new_project(overlap=2), APIClient()
    queued_items(project, 1)
    first, second = reviewer(project), reviewer(project)

    def statuses() -> list[int]:
        found = []
        for user in (first, second, member(project, Role.MANAGER)):
            client.force_authenticate(user)
            found.append(client.get(url_of("api_export", project)).status_code)
        return found

    assert statuses() == [200, 200, 200]
    answer(claim(project, first), first, "good")
    assert statuses() == [200, 403, 200]
    answer(claim(project, second), second, "good")
    assert statuses() == [200, 200, 200]
