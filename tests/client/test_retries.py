"""What is sent again, after how long, and which error is raised, with scripted answers."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub_client import Operation, Retries, WrongUse, operations
from labelhub_client.api import REPEATABLE, Request, build_request
from labelhub_client.errors import ClientError, refusal
from tests.cases import all_cases
from tests.client.helpers import Answer, problem, scripted

LOOK = build_request("projects_retrieve", slug="moods")


@pytest.fixture
def no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses take no time."""
    monkeypatch.setattr("time.sleep", lambda _: None)


def send(request: Request, *answers: Answer) -> tuple[int, Any]:
    """How often the request was sent, and the answer or the error."""
    client, script = scripted(*answers)
    outcome: httpx.Response | ClientError
    try:
        outcome = client._send(request)
    except ClientError as error:
        outcome = error
    return len(script.seen), outcome


def error_of(response: httpx.Response) -> ClientError:
    """The error of an answer."""
    return refusal("GET x/", response)


UNSENT = httpx.ConnectError("refused")
LOST = httpx.ReadError("broke")
SLOW = httpx.ReadTimeout("")
BUSY = problem(409, "queue_busy", retryable=True)
GATEWAY = httpx.Response(502, text="<html>Bad gateway</html>")
LIMIT = problem(429, "throttled", headers={"Retry-After": "1"})
FAULT = problem(500, "internal")
REFUSED = problem(409, "conflict")


@all_cases(
    ("outcome", "code", "reads", "never"),
    [
        (UNSENT, "unreachable", 5, 5),
        (BUSY, "queue_busy", 5, 5),
        (LIMIT, "throttled", 5, 5),
        (LOST, "answer_lost", 5, 1),
        (SLOW, "timed_out", 5, 1),
        (GATEWAY, "http_error", 5, 1),
        (FAULT, "internal", 1, 1),
        (REFUSED, "conflict", 1, 1),
    ],
)
@all_cases("repeatable", [True, False])
def test_how_often_a_request_is_sent(
    no_sleep: None, repeatable: bool, outcome: Answer, code: str, reads: int, never: int
) -> None:
    sent, error = send(replace(LOOK, repeatable=repeatable), outcome)
    assert sent == (reads if repeatable else never)
    assert error.code == code


@all_cases("operation", operations().values(), ids=lambda operation: operation.id)
def test_what_reads_or_replaces_may_be_repeated_and_little_else(operation: Operation) -> None:
    harmless = operation.method in ("GET", "PUT")
    assert operation.may_repeat({}) == (harmless or REPEATABLE.get(operation.id) == ())
    assert not (harmless and operation.id in REPEATABLE)


@all_cases(
    ("body", "expected"),
    [
        ({"item": 1, "value": "good", "lease": "token"}, True),
        ({"item": 1, "skip": True}, True),
        ({"item": 1, "postpone": True}, True),
        ({"item": 1, "value": "good"}, False),
    ],
)
def test_an_answer_may_be_repeated_under_its_lease(body: dict[str, Any], expected: bool) -> None:
    assert build_request("label_create", slug="moods", json=body).repeatable == expected


def test_retries_end_with_an_answer() -> None:
    sent, answer = send(LOOK, LOST, GATEWAY, httpx.Response(200, json=[1]))
    assert (sent, answer.json()) == (3, [1])


@given(
    repeatable=st.booleans(),
    attempt=st.integers(1, 10_000),
    asked=st.none() | st.floats(0, 1e6),
    undone=st.booleans(),
    seed=st.integers(),
)
def test_pauses_are_bounded_and_never_shorter_than_asked(
    repeatable: bool, attempt: int, asked: float | None, undone: bool, seed: int
) -> None:
    policy = Retries(draw=random.Random(seed))  # noqa: S311 - no secret
    error = ClientError("no", retryable=True, undone=undone, retry_after=asked)
    pause = policy.pause(error, attempt, repeatable=repeatable)
    if pause is None:
        never = not (repeatable or undone)
        assert never or attempt >= policy.attempts or (asked or 0) > policy.patience
    else:
        assert (asked or 0) <= pause <= max(policy.longest, asked or 0)
        assert pause <= max(policy.first * 2 ** (attempt - 1), asked or 0)


def test_clients_that_failed_together_come_back_apart() -> None:
    error = ClientError("no", retryable=True)
    pauses = {Retries().pause(error, 3, repeatable=True) for _ in range(20)}
    assert len(pauses) > 10


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first": -1.0}, {"patience": -1.0}])
def test_a_policy_of_no_use_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongUse):
        Retries(**wrong)


def test_retry_after_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    error = error_of(problem(503, headers={"Retry-After": later}))
    assert error.retry_after == pytest.approx(30, abs=5)
    past = error_of(problem(503, headers={"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}))
    assert past.retry_after == 0


@given(header=st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126)))
def test_a_retry_after_of_any_kind_is_survived(header: str) -> None:
    found = error_of(problem(503, headers={"Retry-After": header})).retry_after
    assert found is None or found >= 0


def test_a_server_that_asks_for_a_long_wait_is_an_error_at_once() -> None:
    sent, error = send(LOOK, problem(429, headers={"Retry-After": "3600"}))
    assert (sent, error.retry_after, error.retryable) == (1, 3600, True)


JSON: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 3, "", "word", [], [3], [{}], {}, {"field": None, "row": "x"}]
)


@given(
    status=st.integers(300, 599),
    body=st.dictionaries(
        st.sampled_from(["code", "detail", "errors", "data", "retryable", "title"]), JSON
    ) | JSON,
)  # fmt: skip
def test_whatever_stands_in_a_refusal_it_becomes_an_error_in_words(status: int, body: Any) -> None:
    error = error_of(httpx.Response(status, json=body))
    assert str(error)
    assert error.status == status
    assert isinstance(error.code, str)


@given(status=st.integers(300, 599), body=st.binary(max_size=50))
def test_a_page_of_a_proxy_becomes_an_error_in_words(status: int, body: bytes) -> None:
    assert f"{status}" in str(error_of(httpx.Response(status, content=body))) or status < 400
