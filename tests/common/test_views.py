"""Health, the theme, the page of all components."""

from typing import Any, Self

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.common import views
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
def test_ready_looks_at_the_database(client: Client, settings: Any) -> None:
    settings.REDIS_URL = ""
    response = client.get("/health/ready")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "parts": {"database": "ok"}}


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
@pytest.mark.parametrize(("kind", "status"), [(Silent, 503), (Answering, 200)])
def test_ready_looks_at_redis_where_there_is_one(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, kind: type, status: int
) -> None:
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    monkeypatch.setattr(Redis, "from_url", lambda *_args, **_options: kind())
    response = client.get("/health/ready")
    assert response.status_code == status
    assert "secret" not in response.content.decode()


def test_a_redis_address_that_is_no_address_is_not_reachable() -> None:
    assert views._redis_answers("nonsense") is False


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
    assert f'<html lang="en" data-theme="{shown}">' in html


@pytest.mark.django_db
def test_the_components_page_is_for_people_who_signed_in(client: Client) -> None:
    assert client.get("/design/").status_code == 302


@pytest.mark.django_db
def test_the_components_page_shows_all_of_them(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(UserFactory.create())
    with django_assert_num_queries(2):  # the session and the user
        html = client.get("/design/").content.decode()
    for part in ("kind--author", "figure__range", "matrix__right", "form-errors", "skeleton"):
        assert part in html
    assert "&lt;b&gt;Would buy again.&lt;/b&gt;" in html
    assert "htmx-2.min.js" not in html
