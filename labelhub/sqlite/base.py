"""SQLite lets one writer in at a time; whoever waits asks again after ever longer naps, up to a
tenth of a second, so under load some wait for seconds while the lock is free. Threads of one
process need not nap: they take turns at a lock of ours before they open a write transaction.
Other processes still meet SQLite's own lock and its ``timeout``.
"""

import threading
from typing import Any

from django.db.backends.sqlite3 import base, features
from django.db.utils import OperationalError

_turn = threading.Lock()
WRITES = ("INSERT", "UPDATE", "DELETE")


def _wait_for_turn(seconds: float) -> None:
    if not _turn.acquire(timeout=seconds):
        raise OperationalError("database is locked")


class DatabaseFeatures(features.DatabaseFeatures):
    """What every SQLite since 3.32 (2020) can do."""

    #: Django reckons with 999, which cuts a thousand rows into twenty statements.
    max_query_params = 32_766


class CursorWrapper(base.SQLiteCursorWrapper):
    """Takes a turn for a single write outside a transaction as well."""

    #: Seconds that it waits for its turn.
    patience = 5.0

    def execute(self, query: str, params: Any = None) -> Any:
        """Run a statement."""
        if self.connection.in_transaction or not query.startswith(WRITES):
            return super().execute(query, params)
        _wait_for_turn(self.patience)
        try:
            return super().execute(query, params)
        finally:
            _turn.release()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions are opened in turn."""

    features_class = DatabaseFeatures

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor of ours."""
        cursor = self.connection.cursor(factory=CursorWrapper)
        cursor.patience = self._patience()
        return cursor

    _has_turn = False

    def _start_transaction_under_autocommit(self) -> None:
        """BEGIN IMMEDIATE, once it is this thread's turn."""
        _wait_for_turn(self._patience())
        self._has_turn = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # left out of the stubs
        except BaseException:
            self._pass_on()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # left out of the stubs
        # A commit that failed is rolled back next: the turn is kept until then.
        self._pass_on()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # left out of the stubs
        finally:
            self._pass_on()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # left out of the stubs
        finally:
            self._pass_on()

    def _patience(self) -> float:
        """SQLite's own ``timeout``; it waits as long for other processes."""
        return float(self.settings_dict["OPTIONS"].get("timeout", CursorWrapper.patience))

    def _pass_on(self) -> None:
        if self._has_turn:
            self._has_turn = False
            _turn.release()
