"""Tell outages of disk and database from errors of our own."""

import errno

from django.db.utils import InterfaceError, OperationalError

from labelhub.core.errors import Unavailable
from labelhub.core.phrases import Phrase

DISK_FULL = Phrase(
    "The server's disk is full, so this request was not completed. Ask an operator to make room, "
    "then send it again."
)
DATABASE_AWAY = Phrase(
    "The database cannot be reached now, so this request was not completed. Try again in a moment."
)
DATABASE_READONLY = Phrase(
    "The database is read-only, so this request was not completed. Ask an operator to let the "
    "server write to its data folder, then send it again."
)
DATABASE_BUSY = Phrase(
    "The database is busy, so this request was not completed. Try again in a moment."
)

#: Primary result codes of SQLite: https://sqlite.org/rescode.html, by name.
_BUSY, _LOCKED, _READONLY, _IOERR, _FULL, _CANTOPEN = 5, 6, 8, 10, 13, 14
_OF_SQLITE = {
    _BUSY: DATABASE_BUSY,
    _LOCKED: DATABASE_BUSY,
    _READONLY: DATABASE_READONLY,
    _IOERR: DATABASE_AWAY,
    _FULL: DISK_FULL,
    _CANTOPEN: DATABASE_AWAY,
}
#: SQLSTATEs of PostgreSQL by their beginning, the longer first (PostgreSQL manual, appendix A).
_OF_POSTGRESQL = {
    "53100": DISK_FULL,
    "08": DATABASE_AWAY,  # connection exception
    "53": DATABASE_AWAY,  # insufficient resources, such as too many connections
    "57P": DATABASE_AWAY,  # shut down, or still starting
    "58": DATABASE_AWAY,  # system error
    "40": DATABASE_BUSY,  # deadlock or serialization failure
    "55P03": DATABASE_BUSY,  # lock not available
}


def find_outage(error: BaseException | None) -> Unavailable | None:
    """The outage behind ``error``, or None if there is none."""
    while error is not None:
        if message := _outage_message(error):
            return Unavailable(message)
        error = error.__cause__
    return None


def _outage_message(error: BaseException) -> str:
    """What is out of order; "" if ``error`` is no outage."""
    if isinstance(error, OSError):
        return DISK_FULL if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    if isinstance(error, InterfaceError):
        # Other interface errors, such as a value that cannot be bound, are our own.
        return DATABASE_AWAY if "closed" in str(error) else ""
    if not isinstance(error, OperationalError):
        return ""
    cause = error.__cause__
    if cause is None:  # raised by labelhub.sqlite after waiting for the lock
        return DATABASE_BUSY if "locked" in str(error) else ""
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return _OF_SQLITE.get(code & 0xFF, "")
    state = getattr(cause, "sqlstate", "")
    if state is None:  # psycopg could not connect
        return DATABASE_AWAY
    return next((words for begin, words in _OF_POSTGRESQL.items() if state.startswith(begin)), "")
