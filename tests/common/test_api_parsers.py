"""JSON bodies: what would break a list or an export later on is refused at the door."""

import io
from typing import Any

import pytest
from django.conf import LazySettings
from rest_framework.exceptions import ParseError

from apps.common.api.parsers import BodyTooLarge, PlainJSONParser


def parsed(body: bytes) -> Any:
    return PlainJSONParser().parse(io.BytesIO(body))


def test_plain_json_goes_through() -> None:
    body = '{"text": "né 😀", "n": [1, -2.5, true, null], "big": 9223372036854775807}'
    expected = {"text": "né 😀", "n": [1, -2.5, True, None], "big": 2**63 - 1}
    assert parsed(body.encode()) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b'"\xff"',
        b"[NaN]",
        b"[1e999]",
        b'{"n": -1e999}',
        b'{"n": 9223372036854775808}',
        b'["a\\u0000b"]',
        b'["a\\ud800b"]',
        b'{"a\\udc00": 1}',
        b"[" * 100_000,
        b"[" * 65 + b"]" * 65,
    ],
)
def test_what_would_break_the_server_later_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError):
        parsed(body)


def test_a_body_of_any_size_is_not_read_into_memory(settings: LazySettings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    with pytest.raises(BodyTooLarge):
        parsed(b"[" + b" " * 20 + b"]")
