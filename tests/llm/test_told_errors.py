"""Errors that endpoints tell in shapes of their own: within an answer, or as a list."""

import json
from typing import Any

import pytest

from apps.llm.failures import Verdict, judge, read_refusal, resume_after, retry_after
from labelhub.core.llm.errors import QuotaExhausted
from labelhub.core.llm.types import Message
from tests.llm.asking_helpers import Learnt, Sleeper, make_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, always, chat_completion, tiny_endpoint

MESSAGES = (Message("user", "Hello."),)


def broken(text: str = "", **fields: Any) -> dict[str, Any]:
    """An answer as OpenRouter ends it when its provider fails."""
    answer = chat_completion(text, finish_reason="error", native_finish_reason="error", **fields)
    return answer | {"usage": {"prompt_tokens": 0, "completion_tokens": 0}}


DISCONNECTED: dict[str, Any] = {
    "error": {"code": 502, "message": "Provider disconnected mid-generation"}
}
SLOW_DOWN: dict[str, Any] = {
    "error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min"}
}


async def test_an_error_within_an_answer_is_the_error_it_names_and_never_an_answer() -> None:
    decided = "Final Decision: Price"
    cases = {
        "error in the choice": (broken(**DISCONNECTED), 502),
        "error in the choice after words": (broken(decided, **DISCONNECTED), 502),
        "rate limit in the choice": (broken(**SLOW_DOWN), 429),
        "finish reason alone": (broken(decided), 502),
        "error beside the choice": (chat_completion(decided) | DISCONNECTED, 502),
        "an answer with an empty error": (chat_completion(decided) | {"error": None}, 200),
        "an answer with an empty error in the choice": (chat_completion(decided, error=None), 200),
    }
    failures = []
    for case, (first, status) in cases.items():

        def say(heard: Heard, first: Any = first) -> Answer:
            return (
                200,
                chat_completion("Final Decision: Cleanliness") if heard.before else first,
                {},
            )

        async with tiny_endpoint(say) as endpoint:
            spec = make_spec(provider={"base_url": endpoint.base_url})
            async with opened(spec) as gateway:
                done = await gateway.complete(spec, make_call())
        found = [attempt.http_status for attempt in done.attempts]
        wanted = [200] if status == 200 else [status, 200]
        if found != wanted or ("Price" in done.text) != (status == 200):
            failures.append((case, found, done.text))
    assert not failures


async def test_a_rate_limit_within_an_answer_is_waited_for_and_cuts_the_limit() -> None:
    sleeper, learnt = Sleeper(), Learnt()
    async with tiny_endpoint(always(broken(**SLOW_DOWN))) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url})
        async with opened(spec, sleeper=sleeper, learnt=learnt, total_wait=60.0) as gateway:
            with pytest.raises(QuotaExhausted):
                await gateway.complete(spec, make_call())
            assert gateway.limit_of(spec.provider) < 8
    assert sleeper.slept[:4] == [0.5, 1.0, 2.0, 4.0]
    assert learnt.limited["last"] > 0


def listed(*details: dict[str, Any], message: str = "Resource exhausted") -> bytes:
    """A refusal as Gemini's endpoint sends it."""
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}
    return json.dumps([{"error": error | {"details": details}}]).encode()


def wait(seconds: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds}


def quota(*names: str) -> dict[str, Any]:
    violations = [{"quotaMetric": "requests", "quotaId": name} for name in names]
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}


BY_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
BY_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


def test_a_refusal_in_a_list_is_read_with_its_wait_and_its_quota() -> None:
    cases = {
        "a wait": (listed(wait("20s")), {}, Verdict.WAIT, 20),
        "a wait with a fraction": (listed(wait("20.5s")), {}, Verdict.WAIT, 20.5),
        "a header goes first": (listed(wait("20s")), {"retry-after": "3"}, Verdict.WAIT, 3),
        "a quota of a minute": (listed(quota(BY_MINUTE), wait("41s")), {}, Verdict.WAIT, 41),
        "a quota of a day": (listed(quota(BY_DAY), wait("41s")), {}, Verdict.QUOTA, 3600),
        "a day after a minute": (listed(quota(BY_MINUTE, BY_DAY)), {}, Verdict.QUOTA, 3600),
        "a day with a long wait": (listed(quota(BY_DAY), wait("9000s")), {}, Verdict.QUOTA, 9000),
        "a day with a header": (listed(quota(BY_DAY)), {"retry-after": "9"}, Verdict.QUOTA, 3600),
        "no wait": (listed(), {}, Verdict.WAIT, None),
        "nonsense": (listed(wait("soon"), {"violations": [1, {}]}), {}, Verdict.WAIT, None),
        "an empty list": (b"[]", {}, Verdict.WAIT, None),
        "details that are no list": (b'[{"error": {"details": 5}}]', {}, Verdict.WAIT, None),
    }
    failures: list[tuple[str, Any]] = []
    for case, (body, headers, verdict, seconds) in cases.items():
        failure = read_refusal(429, body, headers, str)
        if judge(failure, now=0) is not verdict:
            failures.append((case, judge(failure, now=0)))
        when = resume_after if verdict is Verdict.QUOTA else None
        found = when(failure, now=0) if when else retry_after(failure.headers, now=0)
        if found != seconds:
            failures.append((case, found))
    assert not failures
    assert read_refusal(429, listed(), {}, str).message == "Resource exhausted"
