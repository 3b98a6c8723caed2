"""Extra headers and body fields of requests that operators may add."""

import re
from collections.abc import Mapping
from typing import Any

from labelhub.core.errors import InvalidInput

#: Shown instead of a header's value; submitted unchanged, it keeps the value.
MASK = "••••••"
MOST_HEADERS = 20

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
#: The client sets these. The provider names the variable of its key.
_RESERVED_HEADERS = {
    "accept-encoding", "authorization", "connection", "content-encoding", "content-length",
    "content-type", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
#: Set by LabelHub: the model, the messages and the cost.
_RESERVED_FIELDS = {
    "model", "messages", "input", "stream", "stream_options", "n", "best_of", "max_tokens",
    "max_completion_tokens",
}  # fmt: skip


def check_headers(raw: Any) -> dict[str, str]:
    """The headers in their stored form; none for an empty value.

    Raises:
        InvalidInput: they are not an object of texts, or one of them is reserved.
    """
    if not raw:
        return {}
    if not isinstance(raw, Mapping) or len(raw) > MOST_HEADERS:
        raise InvalidInput.at(
            "headers",
            'Must be a JSON object such as {"X-Team": "lab"}, with %(most)s headers at most.',
            most=MOST_HEADERS,
        )
    for name, value in raw.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput.at(
                "headers", "'%(name)s' is not the name of a header.", name=str(name)[:40]
            )
        if name.lower() in _RESERVED_HEADERS:
            raise InvalidInput.at(
                "headers", "'%(name)s' is set by LabelHub: leave it out.", name=name
            )
        sendable = isinstance(value, str) and len(value) <= 2000 and value.isascii()
        if not (sendable and value.isprintable()):
            raise InvalidInput.at(
                "headers",
                "The value of '%(name)s' must be one line of plain text (ASCII).",
                name=name,
            )
    return dict(raw)


def check_extra_body(raw: Any) -> dict[str, Any]:
    """The body fields in their stored form; none for an empty value.

    Raises:
        InvalidInput: they are not an object, or one of them is reserved.
    """
    if not raw:
        return {}
    if not isinstance(raw, Mapping):
        raise InvalidInput.at("extra_body", 'Must be a JSON object such as {"top_k": 20}.')
    if taken := sorted(_RESERVED_FIELDS & set(raw)):
        raise InvalidInput.at(
            "extra_body", "'%(name)s' is set by LabelHub: leave it out.", name=taken[0]
        )
    return dict(raw)


def masked(headers: Mapping[str, str]) -> dict[str, str]:
    """The same headers without their values, for pages."""
    return dict.fromkeys(headers, MASK)


def unmasked(given: Any, kept: Mapping[str, str]) -> Any:
    """The submitted headers, with the ``kept`` values where they were masked."""
    if not isinstance(given, Mapping):
        return given
    return {
        name: kept[name] if value == MASK and name in kept else value
        for name, value in given.items()
    }
