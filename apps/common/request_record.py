"""What is known of the request that this thread or task serves, and the log of who did what."""

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from structlog.contextvars import bound_contextvars, get_contextvars

#: Sign-ins, refusals and deletions, which no level switches off: names and ids, never texts.
security = structlog.get_logger("labelhub.security")

#: Key of the :class:`RequestRecord` in the scope of a request.
RECORD = "labelhub.request"
HEADER = "X-Request-ID"
#: Other incoming ids are replaced.
SANE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


@dataclass(slots=True)
class RequestRecord:
    """One request; the views' side fills in route and user once they are known."""

    id: str
    address: str = ""
    method: str = ""
    path: str = ""
    route: str = ""
    user: str = ""
    user_id: int | None = None
    key: str = ""
    started: float = field(default_factory=time.perf_counter)
    ended: bool = False


def request_id_from(sent: str) -> str:
    """The id that a client or proxy has sent if it is sane, else a new one."""
    return sent if SANE_ID.fullmatch(sent) else secrets.token_hex(8)


def current_request_id() -> str:
    """The id of the request that caused the work of this thread or task; "" if none did."""
    return str(get_contextvars().get("request_id", ""))


@contextmanager
def request_context(record: RequestRecord) -> Iterator[None]:
    """Name the request in every log line of the block, and of tasks that it starts."""
    with bound_contextvars(request_id=record.id, address=record.address):
        yield


def sent_ids(headers: Mapping[str, object]) -> dict[str, str]:
    """What a Celery message says about the request that caused it, checked."""
    found = str(headers.get("request_id") or "")
    return {"request_id": found} if SANE_ID.fullmatch(found) else {}
