"""What is sent again, after how long, and what is raised: without any connection."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.client import Retries, WrongUse, calls, endpoints
from labelhub.client.endpoints import ENDPOINTS, Repeat
from labelhub.client.errors import ClientError, Problem
from labelhub.client.records import Project
from labelhub.client.sending import refusal
from labelhub.client.wire import Broken, Reply, Request, Send, Sleep
from tests.cases import all_cases
from tests.client.helpers import problem

REPEATS = st.sampled_from(list(Repeat))
LOOK = calls.one(endpoints.PROJECT, Project, at={"slug": "moods"})


def played(request: Request[Any], outcomes: list[Reply | Broken], **how: Any) -> tuple[int, Any]:
    """(how often it was sent, what came of it) when it is answered so."""
    steps = Retries(**how).asked(request)
    sent, step = 0, next(steps)
    try:
        while True:
            if isinstance(step, Sleep):
                step = steps.send(None)
            else:
                assert isinstance(step, Send)
                sent += 1
                step = steps.send(outcomes[min(sent, len(outcomes)) - 1])
    except StopIteration as end:
        return sent, end.value
    except ClientError as error:
        return sent, error


def reply(response: httpx.Response) -> Reply:
    """As a link hands it on."""
    return Reply(response.status_code, response.headers, response.content)


def error_of(response: httpx.Response) -> ClientError:
    """What is raised for an answer."""
    return refusal("GET x/", reply(response))


UNSENT = Broken("refused", reached=False)
LOST = Broken("broke", reached=True)
SLOW = Broken("", reached=True, timeout=True)
BUSY = reply(problem(409, "queue_busy", retryable=True))
GATEWAY = reply(httpx.Response(502, text="<html>Bad gateway</html>"))
LIMIT = reply(problem(429, "throttled", headers={"Retry-After": "1"}))
FAULT = reply(problem(500, "internal"))
SAID_NO = reply(problem(409, "conflict"))


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
        (SAID_NO, "conflict", 1, 1),
    ],
)
@all_cases("name", ENDPOINTS)
def test_how_often_each_is_sent(
    name: str, outcome: Reply | Broken, code: str, reads: int, never: int
) -> None:
    endpoint = ENDPOINTS[name]
    request: Request[Any] = Request(endpoint=endpoint, path=endpoint.path, parse=lambda data: data)
    sent, error = played(request, [outcome])
    assert sent == (never if endpoint.repeat is Repeat.NEVER else reads)
    assert error.code == code


def test_what_must_not_be_done_twice_is_known() -> None:
    never = {name for name, one in ENDPOINTS.items() if one.repeat is Repeat.NEVER}
    assert never == {
        "CREATE_PROJECT", "SUBMIT_UNLEASED", "START_RUN", "PAUSE", "RESUME", "CANCEL",
    }  # fmt: skip


def test_it_goes_on_once_it_is_answered() -> None:
    answer = reply(httpx.Response(200, json={"results": [], "next": None}))
    request = calls.page(endpoints.PROJECTS, Project)
    sent, page = played(request, [LOST, GATEWAY, answer])
    assert (sent, page.results) == (3, ())


@given(
    repeat=REPEATS,
    attempt=st.integers(1, 10_000),
    asked=st.none() | st.floats(0, 1e6),
    undone=st.booleans(),
    seed=st.integers(),
)
def test_pauses_are_bounded_and_never_shorter_than_asked(
    repeat: Repeat, attempt: int, asked: float | None, undone: bool, seed: int
) -> None:
    policy = Retries(draw=random.Random(seed))  # noqa: S311 - no secret
    problem = Problem(retryable=True, undone=undone, retry_after=asked)
    pause = policy.pause(repeat, ClientError("no", problem), attempt)
    if pause is None:
        never = repeat is Repeat.NEVER and not undone
        assert never or attempt >= policy.attempts or (asked or 0) > policy.patience
    else:
        assert (asked or 0) <= pause <= max(policy.longest, asked or 0)
        assert pause <= max(policy.first * 2 ** (attempt - 1), asked or 0)


def test_clients_that_failed_together_come_back_apart() -> None:
    error = ClientError("no", Problem(retryable=True))
    pauses = {Retries().pause(Repeat.READS, error, 3) for _ in range(20)}
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


def test_who_is_asked_to_wait_too_long_is_told_at_once() -> None:
    sent, error = played(LOOK, [reply(problem(429, headers={"Retry-After": "3600"}))])
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
