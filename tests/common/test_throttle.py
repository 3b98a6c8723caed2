"""Limits of requests, per key and per person."""

import socket
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from rest_framework.test import APIClient

from apps.accounts.services import create_api_key
from apps.common.redis_cache import RedisOrLocalCache
from labelhub.settings.checks import read_rate
from tests.cases import all_cases
from tests.factories.accounts import UserFactory, browser_of

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/"


@pytest.fixture(autouse=True)
def few(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    caches["default"].clear()
    settings.LABELHUB_API_RATE = (2, 60)
    monkeypatch.setattr("apps.common.api.throttle.time.time", lambda: 1_000_000.0)


def test_the_headers_count_down_and_then_it_is_429() -> None:
    owner = UserFactory.create()
    first, other = (
        APIClient(HTTP_X_API_KEY=create_api_key(user=owner, name="test").plain) for _ in range(2)
    )
    seen = [first.get(URL) for _ in range(3)]
    assert [answer.status_code for answer in seen] == [200, 200, 429]
    assert [answer["RateLimit"] for answer in seen] == [
        '"caller";r=1;t=20', '"caller";r=0;t=20', '"caller";r=0;t=20',
    ]  # fmt: skip
    assert {answer["RateLimit-Policy"] for answer in seen} == {'"caller";q=2;w=60'}
    assert (seen[2]["Retry-After"], seen[2].json()["code"]) == ("20", "rate_limited")
    assert other.get(URL).status_code == 200  # another key, and so is a session
    assert browser_of(owner).get(URL)["RateLimit"] == '"caller";r=1;t=20'


def test_the_next_window_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = browser_of(UserFactory.create())
    assert [browser.get(URL).status_code for _ in range(3)][2] == 429
    monkeypatch.setattr("apps.common.api.throttle.time.time", lambda: 1_000_020.0)
    assert browser.get(URL).status_code == 200


def test_no_limit_no_headers(settings: LazySettings) -> None:
    settings.LABELHUB_API_RATE = (0, 60)
    assert "RateLimit" not in browser_of(UserFactory.create()).get(URL)


def test_without_redis_nobody_is_refused(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RedisOrLocalCache, "away_until", 0.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = RedisOrLocalCache(f"redis://127.0.0.1:{taken.getsockname()[1]}/0", {})
        assert [away.hit("a", 60), away.hit("a", 60)] == [1, 2]


def test_redis_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trips: list[Any] = []

    class Pipeline:
        def incr(self, _name: str) -> "Pipeline":
            return self

        def expire(self, _name: str, _seconds: int) -> "Pipeline":
            return self

        def execute(self) -> list[int]:
            trips.append(1)
            return [7, 1]

    class Connection:
        def pipeline(self, **_: Any) -> Pipeline:
            return Pipeline()

    with monkeypatch.context() as patched:
        patched.setattr(RedisOrLocalCache, "away_until", 0.0)
        patched.setattr(
            "django.core.cache.backends.redis.RedisCacheClient.get_client",
            lambda *_, **__: Connection(),
        )
        assert RedisOrLocalCache("redis://127.0.0.1/0", {}).hit("a", 60) == 7
    assert trips == [1]


@all_cases(
    "text, rate", [("15000/m", (15000, 60)), ("5/s", (5, 1)), ("9/h", (9, 3600)), ("0", (0, 60))]
)
def test_rates_that_can_be_read(text: str, rate: tuple[int, int]) -> None:
    assert read_rate("X", text) == rate


@all_cases("text", ["", "many", "5/", "5/d", "٣/m", "-1/m", "1.5/s"])
def test_rates_that_cannot(text: str) -> None:
    with pytest.raises(ImproperlyConfigured):
        read_rate("X", text)
