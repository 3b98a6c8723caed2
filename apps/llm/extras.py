"""Extra headers and body fields of requests: what operators may add, and what they may not."""

import re
from collections.abc import Mapping
from typing import Any

from labelhub.core.errors import InvalidInput

#: Shown in place of a header's value; given back unchanged, the kept value stays.
MASK = "••••••"
MOST_HEADERS = 20

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
#: The client's own affair; a key is named by its variable and never written here.
_OURS = {
    "accept-encoding", "authorization", "connection", "content-encoding", "content-length",
    "content-type", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
#: What decides who is asked, what for, and what it may cost.
_DECIDED = {
    "model", "messages", "input", "stream", "stream_options", "n", "best_of", "max_tokens",
    "max_completion_tokens",
}  # fmt: skip


def check_headers(raw: Any) -> dict[str, str]:
    """The headers as kept; nothing given is none.

    Raises:
        InvalidInput: they are no object of texts, or one of them is not an operator's to set.
    """
    if not raw:
        return {}
    if not isinstance(raw, Mapping) or len(raw) > MOST_HEADERS:
        raise InvalidInput(
            f'headers: must be a JSON object such as {{"X-Team": "lab"}}, '
            f"with at most {MOST_HEADERS} headers."
        )
    for name, value in raw.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(f"headers: '{str(name)[:40]}' is not the name of a header.")
        if name.lower() in _OURS:
            raise InvalidInput(f"headers: '{name}' is set by the server itself; leave it out.")
        if not isinstance(value, str) or not _sendable(value):
            raise InvalidInput(
                f"headers: the value of '{name}' must be one line of plain text (ASCII)."
            )
    return dict(raw)


def check_extra_body(raw: Any) -> dict[str, Any]:
    """The body fields as kept; nothing given is none.

    Raises:
        InvalidInput: they are no object, or one of them decides what the server decides.
    """
    if not raw:
        return {}
    if not isinstance(raw, Mapping):
        raise InvalidInput('extra_body: must be a JSON object such as {"top_k": 20}.')
    if taken := sorted(_DECIDED & set(raw)):
        raise InvalidInput(f"extra_body: '{taken[0]}' is set by the server itself; leave it out.")
    return dict(raw)


def masked(headers: Mapping[str, str]) -> dict[str, str]:
    """The same headers without their values, for pages."""
    return dict.fromkeys(headers, MASK)


def unmasked(given: Any, kept: Mapping[str, str]) -> Any:
    """What was ``given`` back from a page, with the ``kept`` values where they were masked."""
    if not isinstance(given, Mapping):
        return given
    return {
        name: kept[name] if value == MASK and name in kept else value
        for name, value in given.items()
    }


def _sendable(value: str) -> bool:
    return len(value) <= 2000 and value.isascii() and value.isprintable()
