"""Limits go on while Redis is away, and nobody is kept from signing in."""

import socket
from collections.abc import Iterator

import pytest
from django.test import Client
from django.test.utils import override_settings
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.common.redis_cache import RedisOrLocalCache
from tests.factories.accounts import PASSWORD, UserFactory


@pytest.fixture
def address() -> Iterator[str]:
    """Where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"redis://127.0.0.1:{taken.getsockname()[1]}/0"


@pytest.fixture(autouse=True)
def redis_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RedisOrLocalCache, "away_until", 0.0)


def test_what_is_kept_and_counted_without_redis(address: str) -> None:
    cache = RedisOrLocalCache(address, {})
    cache.clear()
    assert cache.add("a", 1)
    assert not cache.add("a", 2)
    assert cache.get("a") == 1
    assert cache.incr("a") == 2
    assert cache.incr("added-before-redis-went-away") == 1
    cache.set_many({"b": 1, "c": 2})
    assert cache.get_many(["b", "c", "d"]) == {"b": 1, "c": 2}
    assert cache.touch("b")
    assert cache.has_key("b")
    assert cache.delete("b")
    cache.delete_many(["c"])
    assert cache.get("c") is None


def test_redis_is_left_alone_for_a_while_after_it_failed(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = RedisOrLocalCache(address, {})
    asked: list[object] = []

    def refuse(*given: object, **_: object) -> None:
        asked.append(given)
        raise RedisConnectionError("refused")

    monkeypatch.setattr("django.core.cache.backends.redis.RedisCacheClient.get_client", refuse)
    cache.get("k")
    cache.get("k")
    assert len(asked) == 1
    monkeypatch.setattr(RedisOrLocalCache, "away_until", 0.0)  # the pause is over
    cache.get("k")
    assert len(asked) == 2


@pytest.mark.django_db
def test_signing_in_works_and_is_limited_without_redis(address: str, client: Client) -> None:
    UserFactory.create(username="ada")
    backend = {"BACKEND": "apps.common.redis_cache.RedisOrLocalCache", "LOCATION": address}
    wrong = {"login": "eve", "password": "wrong"}
    with override_settings(CACHES={"default": backend}):
        for _ in range(5):
            assert client.post("/accounts/login/", wrong).status_code == 200
        assert "Too many failed" in client.post("/accounts/login/", wrong).content.decode()
        right = {"login": "ada", "password": PASSWORD}
        assert client.post("/accounts/login/", right).status_code == 302
