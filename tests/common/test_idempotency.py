"""Idempotency-Key: done once, answered as before."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.common import shared_files
from apps.common.api.idempotency import forget_requests
from apps.common.models import IdempotentRequest
from apps.exchange.services.imports import FOLDER
from apps.projects.models import ImportBatch, Item, Project
from apps.projects.services import create_project
from tests.cases import all_cases
from tests.factories.accounts import UserFactory, api_of
from tests.factories.projects import ProjectFactory, member_api

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/"
NEW = {"slug": "once", "task": "text"}


@pytest.fixture
def caller() -> User:
    return UserFactory.create()


def post(caller: User, body: Any = None, key: str = "k1", url: str = URL) -> Any:
    client = api_of(caller)
    client.raise_request_exception = False
    return client.post(url, NEW if body is None else body, HTTP_IDEMPOTENCY_KEY=key)


def test_the_same_request_again_gets_the_same_answer(caller: User) -> None:
    first, again = post(caller), post(caller)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again["Content-Type"] == first["Content-Type"]
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert Project.objects.count() == 1


def test_another_request_with_the_key_is_refused(caller: User) -> None:
    post(caller)
    for body, url in (({**NEW, "slug": "twice"}, URL), (NEW, "/api/v1/keys/")):
        refused = post(caller, body, url=url)
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert Project.objects.count() == 1


def test_keys_of_different_people_have_nothing_to_do_with_each_other(caller: User) -> None:
    post(caller)
    assert post(UserFactory.create(), {**NEW, "slug": "another"}).status_code == 201


def test_what_failed_did_nothing_and_may_be_tried_again(
    caller: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**fields: Any) -> Project:
        create_project(**fields)
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("apps.projects.api.views.create_project", broken)
        assert post(caller).status_code == 500
    assert not Project.objects.exists()
    assert post(caller).status_code == 201
    assert post(caller, {"slug": "no task"}, key="k2").status_code == 400
    assert post(caller, {**NEW, "slug": "k2"}, key="k2").status_code == 201


def test_secrets_in_answers_are_stored_encrypted(caller: User) -> None:
    made = post(caller, {"name": "a"}, url="/api/v1/keys/").json()
    row = IdempotentRequest.objects.get()
    assert made["key"].encode() not in bytes(row.body)
    assert post(caller, {"name": "a"}, url="/api/v1/keys/").json() == made
    assert ApiKey.objects.count() == 1
    with override_settings(LABELHUB_TEXT_KEYS=["another"]):
        assert post(caller, {"name": "a"}, url="/api/v1/keys/").status_code == 409


def test_after_a_day_a_key_is_free_again(caller: User) -> None:
    post(caller)
    IdempotentRequest.objects.update(started_at=timezone.now() - timedelta(hours=25))
    assert post(caller, {**NEW, "slug": "next-day"}).status_code == 201
    IdempotentRequest.objects.update(started_at=timezone.now() - timedelta(hours=25))
    forget_requests()
    assert not IdempotentRequest.objects.exists()


def test_a_file_is_known_again_however_it_is_packed() -> None:
    project = ProjectFactory.create()
    client, url = member_api(project), f"{URL}{project.slug}/import/"

    def send(content: bytes, key: str = "k") -> Any:
        file = SimpleUploadedFile("rows.jsonl", content)
        return client.post(url, {"file": file}, format="multipart", HTTP_IDEMPOTENCY_KEY=key)

    first, again = send(b'{"text": "a"}\n'), send(b'{"text": "a"}\n')
    assert (first.status_code, first.json()["created"]) == (200, 1)
    assert again.json() == first.json()
    assert send(b'{"text": "b"}\n').status_code == 422
    raw: dict[str, Any] = {"content_type": "application/x-ndjson", "HTTP_IDEMPOTENCY_KEY": "raw"}
    answers = [client.post(url, b'{"text": "c"}\n', **raw).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert client.post(url, b'{"text": "d"}\n', **raw).status_code == 422
    assert Item.objects.count() == 2


def test_a_repeated_import_tells_how_far_the_first_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if the process was killed once the import was queued."""
    project, before = ProjectFactory.create(), shared_files.names_in(FOLDER)
    client, url = member_api(project), f"{URL}{project.slug}/import/"
    sent: dict[str, Any] = {"content_type": "application/x-ndjson", "HTTP_IDEMPOTENCY_KEY": "k"}

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr("apps.exchange.api.imports.run_import", killed)
        with pytest.raises(SystemExit):
            client.post(url, b'{"text": "a"}\n', **sent)
    work = ("exchange.import", ImportBatch.objects.get().pk)
    with monkeypatch.context() as patched:  # another process is at it
        patched.setattr("apps.exchange.services.imports.work_on", lambda *_, **__: None)
        waiting = client.post(url, b'{"text": "a"}\n', **sent)
    assert (waiting.status_code, waiting.json()["id"]) == (202, work[1])
    done = client.post(url, b'{"text": "a"}\n', **sent)
    assert (done.status_code, done.json()["created"]) == (200, 1)
    assert done["Idempotency-Replayed"] == "true"
    assert (Item.objects.count(), ImportBatch.objects.count()) == (1, 1)
    assert shared_files.names_in(FOLDER) == before  # nor does the repeated file stay


@all_cases("key", ["", " ", "k" * 256, "k" * 1_000_000, "a\x00b", "٣", "ü", "a b"])
def test_what_is_no_key_is_refused(key: str) -> None:
    response = post(UserFactory.create(), key=key)
    assert (response.status_code, response.json()["code"]) == (400, "parse_error")


def test_who_may_not_do_it_learns_nothing_of_it(caller: User) -> None:
    post(caller)
    assert APIClient().post(URL, NEW, HTTP_IDEMPOTENCY_KEY="k1").status_code == 401
    User.objects.filter(pk=caller.pk).update(is_active=False)
    assert not IdempotentRequest.objects.exclude(user=caller).exists()
