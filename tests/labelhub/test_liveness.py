"""``/health/live``, and requests that a stopping server interrupts."""

import asyncio
from typing import Any

import pytest

from apps.common.health import stopping
from apps.common.request_record import RECORD, RequestRecord
from labelhub.web.liveness import answer_liveness
from tests.labelhub.test_request_log import call


def answer(app: Any, path: str) -> tuple[int, bytes, dict[bytes, bytes]]:
    """Status, body and headers."""
    record = RequestRecord(id="1", address="", method="GET", path=path)
    head, body = asyncio.run(call(answer_liveness(app), {"path": path, RECORD: record}))
    return head["status"], body["body"], dict(head["headers"])


async def busy(*_: object) -> None:
    raise AssertionError("all threads are busy")


def test_live_is_answered_without_a_thread_and_says_when_the_server_is_about_to_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert answer(busy, "/health/live")[:2] == (200, b'{"status": "ok"}')
    monkeypatch.setattr(stopping, "is_set", lambda: True)
    assert answer(busy, "/health/live")[:2] == (503, b'{"status": "stopping"}')


def test_an_interrupted_request_is_to_be_sent_again() -> None:
    async def interrupted(*_: object) -> None:
        raise asyncio.CancelledError

    status, body, headers = answer(interrupted, "/api/v1/projects/")
    assert (status, headers[b"retry-after"]) == (503, b"2")
    assert b'"retryable": true' in body
