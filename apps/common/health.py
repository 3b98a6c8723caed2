"""Whether what a server needs is in order: for load balancers, metrics and the console."""

import logging
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from typing import Generic, TypeVar

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import Error as DatabaseError
from django.db import connection

from apps.common.holds import held_since
from apps.common.shared_files import in_bucket
from apps.common.workers import SILENCE, heartbeat_ages, in_words
from labelhub.core.errors import Unavailable

logger = logging.getLogger(__name__)

OK, STOPPING = "ok", "stopping"
AWAY = "not reachable"
#: Seconds for which an answer of Redis or of the bucket is kept, and for which one is awaited.
KEPT, PATIENCE = 5.0, 0.5
#: An answer is kept so many times longer than it took, so that asking without end costs little.
KEPT_TIMES = 20.0
_REDIS_SECONDS = 2.0
#: Bytes that must be free in the data folder.
LEAST_ROOM = 100 * 1024**2

Answer = TypeVar("Answer")

#: Set once this server will stop within seconds: balancers shall use another one.
stopping = threading.Event()


class Reading(Generic[Answer]):
    """What a slow part answers, read by a thread of its own and kept for some seconds.

    A part that hangs holds up a caller for ``patience`` seconds, and no more than that thread.
    """

    def __init__(self, read: Callable[[], Answer], *, patience: float, kept: float) -> None:
        self._read, self._patience, self._kept = read, patience, kept
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=getattr(read, "__name__", "reading"))
        self._running: Future[tuple[Answer, float]] | None = None
        self._answer: Answer | None = None
        self._until = 0.0

    def get(self) -> Answer | None:
        """The answer; None if there is none in time, or reading it failed."""
        with self._lock:
            if time.monotonic() < self._until:
                return self._answer
            if self._running is None:
                self._running = self._pool.submit(self._timed_read)
            try:
                self._answer, seconds = self._running.result(self._patience)
            except Late:  # it goes on; others need not wait too
                self._answer, self._until = None, time.monotonic() + self._patience
                return None
            except Exception as error:
                self._running = None
                if not isinstance(error, DatabaseError):
                    logger.exception("%s failed", getattr(self._read, "__name__", "A reading"))
                return None
            self._running = None
            self._until = time.monotonic() + max(self._kept, KEPT_TIMES * seconds)
            return self._answer

    def _timed_read(self) -> tuple[Answer, float]:
        started = time.monotonic()
        return self._read(), time.monotonic() - started


def database_answers() -> bool:
    """Whether the database answers; waits for it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def optional_parts() -> dict[str, str]:
    """Part → ``ok``, or what is out of order. People can go on labelling without any of these.

    Takes three statements and at most :data:`PATIENCE` seconds for each of Redis and the bucket.
    """
    since = held_since()
    parts = {"worker": _worker_state(), "disk": _disk_state()}
    if settings.REDIS_URL:
        parts["redis"] = OK if redis_answers() else AWAY
    if in_bucket():
        parts["files"] = OK if bucket_answers() else AWAY
    if since:
        parts["hold"] = f"held since {since:%Y-%m-%d %H:%M} UTC"
    return parts


def redis_answers() -> bool:
    """Whether Redis answered within the last seconds."""
    return bool(_redis.get())


def bucket_answers() -> bool:
    """Whether the bucket answered within the last seconds, and let the server look."""
    return bool(_bucket.get())


def _worker_state() -> str:
    ages = heartbeat_ages()
    silent = [queue for queue, age in ages.items() if age > SILENCE]
    if len(silent) < len(ages):
        return f"none for {', '.join(silent)}" if silent else OK
    return f"none for {in_words(min(ages.values()))}" if silent else OK


def _disk_state() -> str:
    """The room in the data folder."""
    try:
        free = shutil.disk_usage(settings.DATA_DIR).free
    except OSError:
        return AWAY
    return OK if free >= LEAST_ROOM else f"{free // 1024**2} MB left"


def ask_redis() -> bool:
    """Ask Redis now."""
    # Most servers have no Redis.
    from redis import Redis  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    try:
        client = Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=_REDIS_SECONDS,
            socket_connect_timeout=_REDIS_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        with client:
            return bool(client.ping())
    except (RedisError, ValueError):
        return False


def ask_bucket() -> bool:
    """Ask the bucket now: an answer about any name will do."""
    try:
        default_storage.exists("health")
    except Unavailable:
        return False
    return True


_redis = Reading(ask_redis, patience=PATIENCE, kept=KEPT)
_bucket = Reading(ask_bucket, patience=PATIENCE, kept=KEPT)
