"""The cache of a process. It is apart from the one of Redis, which most servers do not load."""

from django.core.cache.backends.locmem import LocMemCache


class LocalCache(LocMemCache):
    """This process's memory."""

    def hit(self, key: str, seconds: int) -> int:
        """Count up from 1; the count is forgotten after ``seconds``."""
        self.add(key, 0, seconds)
        return self.incr(key)
