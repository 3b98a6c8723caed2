"""The shared cache, with process memory as fallback while Redis is away."""

import logging
import time
from collections.abc import Callable
from typing import Any, ClassVar

from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from apps.common.cache import LocalCache

logger = logging.getLogger(__name__)

#: Seconds without any attempt to use Redis after an error, so that no request waits for it.
PAUSE = 5.0


class _SharedCache(RedisCache):
    def hit(self, key: str, seconds: int) -> int:
        """Count up from 1 in one round trip; the count is forgotten ``seconds`` after the last."""
        name = self.make_and_validate_key(key)
        client = self._cache.get_client(name, write=True)  # type: ignore[attr-defined]  # not in the stubs
        pipeline = client.pipeline(transaction=False)
        count, _ = pipeline.incr(name).expire(name, seconds).execute()
        return int(count)


def _or_local(name: str) -> Callable[..., Any]:
    shared, local = getattr(_SharedCache, name), getattr(LocalCache, name)

    def method(cache: "RedisOrLocalCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= RedisOrLocalCache.away_until:
            try:
                return shared(cache, *args, **kwargs)
            except RedisError as error:
                RedisOrLocalCache.away_until = time.monotonic() + PAUSE
                logger.error("Redis is away; limits count in this process only: %s", error)
        if name == "incr":  # Redis may have gone away since the key was added there
            cache.local.add(args[0], 0)
        return local(cache.local, *args, **kwargs)

    return method


class RedisOrLocalCache(_SharedCache):
    """Redis, or this process's memory while Redis is away: people can still sign in, and each
    process counts its own password attempts."""

    #: By :func:`time.monotonic`; shared by the process, as Django makes one cache per thread.
    away_until: ClassVar[float] = 0.0

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        # Redis is asked once; settings do not import its classes, as most servers have no Redis.
        options = params.get("OPTIONS", {}) | {"retry": Retry(NoBackoff(), 0)}
        super().__init__(server, params | {"OPTIONS": options})
        self.local = LocalCache("while-redis-is-away", params | {"OPTIONS": {}})

    add = _or_local("add")
    get = _or_local("get")
    set = _or_local("set")
    touch = _or_local("touch")
    delete = _or_local("delete")
    get_many = _or_local("get_many")
    set_many = _or_local("set_many")
    delete_many = _or_local("delete_many")
    has_key = _or_local("has_key")
    clear = _or_local("clear")

    incr = _or_local("incr")
    hit = _or_local("hit")
