"""What refusals teach, word by word; and the words of other refusals, which teach nothing."""

from typing import Any

import pytest

from apps.llm.capabilities import capability_words, learn_from
from apps.llm.failures import Cause, Failure, Verdict, judge, resume_after

SENT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}],
    "max_tokens": 10,
    "temperature": 0,
    "seed": 1,
    "stop": ["x"],
    "logprobs": True,
    "top_logprobs": 5,
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema"},
}


def refused(message: str, status: int = 400, **more: Any) -> Failure:
    return Failure(Cause.ANSWERED, status, message, **more)


@pytest.mark.parametrize(
    ("message", "field", "value"),
    [
        ("Unsupported parameter: 'logprobs' is not supported with this model.", "logprobs", False),
        ("top_logprobs: Extra inputs are not permitted", "logprobs", False),
        ("Unknown parameter: 'seed'.", "takes_seed", False),
        ("Unrecognized request argument supplied: reasoning_effort", "reasoning_effort", "omit"),
        ("Unsupported parameter: 'stop' is not supported", "takes_stop", False),
        ("response_format is not supported", "structured", "json_object"),
        ("This model does not support response format `json_schema`", "structured", "json_object"),
        ("Unsupported value: 'temperature' does not support 0", "takes_temperature", False),
        ("Use max_completion_tokens instead of max_tokens", "max_tokens_param",
         "max_completion_tokens"),
        ("System role not supported", "system_role", "merge"),
        ("Invalid schema for response_format 'answer': too deep", "structured", "json_object"),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_learnt_with_what_was_said(
    message: str, field: str, value: Any
) -> None:
    found = learn_from(refused(message), SENT)
    assert found is not None
    assert (found.field, found.value, found.reason) == (field, value, message)
    assert field not in capability_words(field, value) or "tokens" in message


@pytest.mark.parametrize(
    "failure",
    [
        refused("Unknown parameter: 'top_k'."),
        refused("temperature must be at most 2"),
        refused("Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but "
                "got 99 instead.", code="decimal_above_max_value"),
        refused("Invalid type for 'temperature': expected a decimal, but got a string instead.",
                code="invalid_type"),
        refused("`top_p` must be a number between 0 and 1", param="top_p"),
        refused("Invalid value for seed: should be less than or equal to 9223372036854775807"),
        refused("seed is not supported", status=500),
        refused("Incorrect API key provided.", status=401),
        refused("Not allowed by the administrator of this system.", status=403),
        refused("This model's maximum context length is 10; temperature is not supported."),
    ],
)  # fmt: skip
def test_other_refusals_teach_nothing(failure: Failure) -> None:
    assert learn_from(failure, SENT) is None


@pytest.mark.parametrize(
    ("failure", "verdict"),
    [
        (refused("", code="context_length_exceeded"), Verdict.TOO_LONG),
        (refused("the request exceeds the available context size"), Verdict.TOO_LONG),
        (refused("prompt is too long: 9 tokens > 8 maximum"), Verdict.TOO_LONG),
        (refused("Request Entity Too Large", 413), Verdict.TOO_LONG),
        (refused("max_tokens is too large: 90000"), Verdict.REJECTED),
        (refused("filtered", code="content_filter"), Verdict.FILTERED),
        (refused("no", 401), Verdict.KEY),
        (refused("no", 403), Verdict.KEY),
        (refused("no", 404), Verdict.MODEL),
        (refused("no", 500), Verdict.RETRY),
        (refused("no", 408), Verdict.RETRY),
        (Failure(Cause.TIMED_OUT), Verdict.RETRY),
        (refused("pay", 402), Verdict.QUOTA),
        (refused("slow down", 429), Verdict.WAIT),
        (refused("slow down", 429, headers={"retry-after": "120"}), Verdict.WAIT),
        (refused("slow down", 429, headers={"retry-after": "300"}), Verdict.WAIT),
        (refused("slow down", 429, headers={"retry-after": "301"}), Verdict.QUOTA),
        (refused("quota", 429, code="insufficient_quota"), Verdict.QUOTA),
        (refused("Limit of requests per day (RPD) reached", 429), Verdict.QUOTA),
        (refused("Rate limit exceeded: free-models-per-day", 429), Verdict.QUOTA),
        (refused("Limit 200 requests/day", 429), Verdict.QUOTA),
        (refused("Limit: 50 / 24h", 429), Verdict.QUOTA),
        (refused("requests per day", 429, headers={"retry-after": "9"}), Verdict.WAIT),
    ],
)
def test_the_table_of_failures(failure: Failure, verdict: Verdict) -> None:
    assert judge(failure, now=0) is verdict


def test_when_to_look_at_a_used_up_quota_again() -> None:
    hint = {"retry-after": "7200"}
    assert resume_after(refused("x", 429, headers=hint), now=0) == 7200
    assert resume_after(refused("requests per day", 429), now=0) == 3600
    assert resume_after(refused("x", 429, code="insufficient_quota"), now=0) is None
