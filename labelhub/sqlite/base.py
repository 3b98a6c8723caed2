"""SQLite allows one writer at a time; a waiting writer polls after ever longer sleeps of up to a
tenth of a second, so under load some wait for seconds while the lock is free. Threads of one
process take our own lock before they open a write transaction, and so need not poll. Between
processes, SQLite's lock and its ``timeout`` apply.
"""

import threading
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base, features
from django.db.utils import OperationalError

_lock = threading.Lock()
WRITES = ("INSERT", "UPDATE", "DELETE")


def _take_lock(seconds: float) -> None:
    if not _lock.acquire(timeout=seconds):
        raise OperationalError("database is locked")


class DatabaseFeatures(features.DatabaseFeatures):
    """Features of SQLite since 3.32 (2020)."""

    #: Django assumes 999, which splits a thousand rows into twenty statements.
    max_query_params = 32_766


#: Longer ones are rare, as those with a thousand values.
LONGEST_KEPT = 4_000


@lru_cache(maxsize=1_000)
def _convert_marks(query: str) -> str:
    return str(base.FORMAT_QMARK_REGEX.sub("?", query)).replace("%%", "%")


class CursorWrapper(base.SQLiteCursorWrapper):
    """Takes the lock also for single writes outside of a transaction."""

    #: Seconds to wait for the lock.
    patience = 5.0

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        """The statement with SQLite's marks for parameters; most are run again and again."""
        if param_names is not None or len(query) > LONGEST_KEPT:
            return str(super().convert_query(query, param_names=param_names))  # type: ignore[misc]  # left out of the stubs
        return _convert_marks(query)

    def execute(self, query: str, params: Any = None) -> Any:
        if self.connection.in_transaction or not query.startswith(WRITES):
            return super().execute(query, params)
        _take_lock(self.patience)
        try:
            return super().execute(query, params)
        finally:
            _lock.release()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that takes the lock for its transactions."""

    features_class = DatabaseFeatures

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor that takes the lock for single writes."""
        cursor = self.connection.cursor(factory=CursorWrapper)
        cursor.patience = self._patience()
        return cursor

    _has_lock = False

    def _start_transaction_under_autocommit(self) -> None:
        """BEGIN IMMEDIATE, once this thread has the lock."""
        _take_lock(self._patience())
        self._has_lock = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # left out of the stubs
        except BaseException:
            self._release_lock()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # left out of the stubs
        # A failed commit raises above and keeps the lock until its rollback.
        self._release_lock()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # left out of the stubs
        finally:
            self._release_lock()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # left out of the stubs
        finally:
            self._release_lock()

    def _patience(self) -> float:
        """SQLite's own ``timeout``, which it waits for other processes."""
        return float(self.settings_dict["OPTIONS"].get("timeout", CursorWrapper.patience))

    def _release_lock(self) -> None:
        if self._has_lock:
            self._has_lock = False
            _lock.release()
