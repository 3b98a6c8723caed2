"""Health, the theme, the page of all components."""

from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.common import views
from apps.common.models import WorkerSign
from tests.factories.accounts import UserFactory


class Silent:
    """A Redis that is not there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        return None

    def ping(self) -> bool:
        raise RedisConnectionError("redis://:secret@host")


class Answering(Silent):
    """A Redis that is."""

    def ping(self) -> bool:
        return True


def test_live_answers_without_the_database(client: Client) -> None:
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_probes_may_name_an_address_and_pages_may_not(
    client: Client, settings: Any, path: str
) -> None:
    settings.ALLOWED_HOSTS = ["labels.example.org"]
    assert client.get(path, HTTP_HOST="10.1.2.3:8000").status_code == 200
    assert client.get("/accounts/login/", HTTP_HOST="10.1.2.3:8000").status_code == 400


@pytest.mark.django_db
def test_ready_looks_at_the_database(client: Client, settings: Any) -> None:
    settings.REDIS_URL = ""
    response = client.get("/health/ready")
    assert response.status_code == 200
    parts = {"database": "ok", "worker": "ok", "disk": "ok"}
    assert response.json() == {"status": "ok", "parts": parts}


def test_ready_says_which_part_fails(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REDIS_URL = ""

    class Broken:
        def cursor(self) -> None:
            raise OperationalError("password=secret")

    monkeypatch.setattr(views, "connection", Broken())
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert response.json() == {"status": "unavailable", "parts": {"database": "not reachable"}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "status", "redis"), [(Silent, "degraded", "not reachable"), (Answering, "ok", "ok")]
)
def test_a_server_without_redis_is_degraded_and_ready(
    client: Client,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    status: str,
    redis: str,
) -> None:
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    monkeypatch.setattr(Redis, "from_url", lambda *_args, **_options: kind())
    response = client.get("/health/ready")
    assert response.status_code == 200
    body = response.json()
    assert (body["status"], body["parts"]["redis"]) == (status, redis)
    assert "secret" not in response.content.decode()


@pytest.mark.django_db
def test_a_full_disk_and_a_missing_worker_are_named(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REDIS_URL = ""
    WorkerSign.objects.create(pk=1, seen_at=timezone.now() - timedelta(minutes=3))
    monkeypatch.setattr(views, "LEAST_ROOM", 2**70)
    response = client.get("/health/ready")
    assert response.status_code == 200
    body = response.json()
    assert body["status"] == "degraded"
    assert body["parts"]["worker"] == "none for 3 minutes"
    assert body["parts"]["disk"].endswith(" MB left")


def test_a_data_folder_that_is_gone_is_named(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "gone"
    assert views.disk_state() == "not reachable"


def test_a_redis_address_that_is_no_address_is_not_reachable() -> None:
    assert views.redis_answers("nonsense") is False


def test_the_theme_is_kept_and_the_way_leads_back(client: Client) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "/accounts/login/?a=1"})
    assert response.headers["Location"] == "/accounts/login/?a=1"
    assert response.cookies["labelhub_theme"].value == "dark"


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_the_way_back_never_leads_elsewhere(client: Client, wanted: str) -> None:
    response = client.post("/theme/", {"theme": "light", "next": wanted})
    assert response.headers["Location"] == "/"


def test_an_unknown_theme_is_refused(client: Client) -> None:
    assert client.post("/theme/", {"theme": "pink"}).status_code == 400
    assert client.get("/theme/").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize(("cookie", "shown"), [("dark", "dark"), ('"><b>', "auto"), ("", "auto")])
def test_the_first_byte_of_a_page_knows_the_theme(client: Client, cookie: str, shown: str) -> None:
    client.cookies["labelhub_theme"] = cookie
    html = client.get("/accounts/login/").content.decode()
    assert f'<html lang="en" dir="ltr" data-theme="{shown}">' in html


@pytest.mark.django_db
def test_the_components_page_is_for_people_who_signed_in(client: Client) -> None:
    assert client.get("/design/").status_code == 302


@pytest.mark.django_db
def test_the_components_page_shows_all_of_them(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(UserFactory.create())
    with django_assert_num_queries(3):  # session, user, bell
        html = client.get("/design/").content.decode()
    for part in ("kind--author", "figure__range", "matrix__right", "form-errors", "skeleton"):
        assert part in html
    assert "&lt;b&gt;Would buy again.&lt;/b&gt;" in html
    assert "htmx-2.min.js" not in html
