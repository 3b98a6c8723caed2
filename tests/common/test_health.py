"""What a load balancer and an operator are told of a server."""

import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.common import health
from apps.common.health import Reading
from apps.common.holds import hold
from apps.common.models import WorkerSign
from apps.common.queues import HEAVY, QUEUES
from labelhub.core.errors import Unavailable

REDIS = "redis://:secret@127.0.0.1:1/0"


class Silent:
    """A Redis that is not there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        return None

    def ping(self) -> bool:
        raise RedisConnectionError(REDIS)


class Answering(Silent):
    """A Redis that is."""

    def ping(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def fresh_readings(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """A process that has asked nobody yet, of a server without Redis and bucket."""
    settings.REDIS_URL = settings.LABELHUB_FILES_URL = ""
    for name, read in (("_redis", health.ask_redis), ("_bucket", health.ask_bucket)):
        monkeypatch.setattr(health, name, Reading(read, patience=20, kept=60))


def ready(client: Client) -> tuple[int, str, dict[str, str]]:
    """Status of the answer, of the server, and its parts."""
    response = client.get("/health/ready")
    assert "secret" not in response.content.decode()
    body = response.json()
    return response.status_code, body["status"], body["parts"]


@pytest.mark.django_db
def test_probes_may_name_an_address_and_pages_may_not(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["labels.example.org"]
    assert client.get("/health/ready", HTTP_HOST="10.1.2.3:8000").status_code == 200
    assert client.get("/accounts/login/", HTTP_HOST="10.1.2.3:8000").status_code == 400


@pytest.mark.django_db
def test_a_server_in_order_names_its_parts(client: Client) -> None:
    assert ready(client) == (200, "ok", {"database": "ok", "worker": "ok", "disk": "ok"})


def test_only_a_missing_database_takes_the_server_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def cursor(self) -> None:
            raise OperationalError("password=secret")

    monkeypatch.setattr(health, "connection", Broken())
    assert ready(client) == (503, "unavailable", {"database": "not reachable"})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "status", "redis"), [(Silent, "degraded", "not reachable"), (Answering, "ok", "ok")]
)
def test_a_server_without_redis_is_degraded_and_ready(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, kind: type, status: str,
    redis: str,
) -> None:  # fmt: skip
    settings.REDIS_URL = REDIS
    monkeypatch.setattr(Redis, "from_url", lambda *_args, **_options: kind())
    code, found, parts = ready(client)
    assert (code, found, parts["redis"]) == (200, status, redis)


def test_a_redis_address_that_is_no_address_is_not_reachable(settings: Any) -> None:
    settings.REDIS_URL = "nonsense"
    assert health.ask_redis() is False


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "files"), [(None, "ok"), (Unavailable("secret"), "not reachable")]
)
def test_a_bucket_that_does_not_answer_is_named(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, error: Exception | None,
    files: str,
) -> None:  # fmt: skip
    class Bucket:
        def exists(self, _name: str) -> bool:
            if error:
                raise error
            return False

    settings.LABELHUB_FILES_URL = "s3://bucket"
    monkeypatch.setattr(health, "default_storage", Bucket())
    code, _, parts = ready(client)
    assert (code, parts["files"]) == (200, files)


@pytest.mark.django_db
def test_a_full_disk_a_missing_worker_and_a_hold_are_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ago = timezone.now() - timedelta(minutes=3)
    for queue in QUEUES:
        WorkerSign.objects.create(queue=queue, seen_at=ago)
    hold()
    monkeypatch.setattr(health, "LEAST_ROOM", 2**70)
    code, status, parts = ready(client)
    assert (code, status, parts["worker"]) == (200, "degraded", "none for 3 minutes")
    assert parts["disk"].endswith(" MB left")
    assert parts["hold"].startswith("held since 20")
    WorkerSign.objects.exclude(queue=HEAVY).update(seen_at=timezone.now())
    assert ready(client)[2]["worker"] == "none for heavy"


def test_a_data_folder_that_is_gone_is_named(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "gone"
    assert health._disk_state() == "not reachable"


@pytest.fixture
def hanging() -> Iterator[tuple[Callable[[], str], threading.Event, list[int]]]:
    """A part that hangs until its event, and how often it was asked."""
    back, calls = threading.Event(), list[int]()

    def ask() -> str:
        calls.append(1)
        back.wait(20)
        return "here"

    yield ask, back, calls
    back.set()


def test_what_hangs_is_asked_once_and_holds_up_nobody(
    hanging: tuple[Callable[[], str], threading.Event, list[int]],
) -> None:
    ask, back, calls = hanging
    reading = Reading(ask, patience=0.01, kept=60)
    assert [reading.get() for _ in range(3)] == [None] * 3
    back.set()
    reading._patience = 20
    time.sleep(0.05)  # as long as nobody asks again
    assert [reading.get() for _ in range(3)] == ["here"] * 3
    assert len(calls) == 1


def test_a_failure_is_not_kept() -> None:
    calls: list[int] = []

    def ask() -> str:
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError("away")
        return "here"

    reading = Reading(ask, patience=20, kept=60)
    assert [reading.get() for _ in range(3)] == [None, "here", "here"]
