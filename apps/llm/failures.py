"""How a request failed, and what follows from it: wait, try again, adapt or stop."""

import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apps.llm.models import ModelSpec

#: A longer wait than this is a quota, not a rate limit: the run pauses and frees its worker.
LONGEST_WAIT = 300.0

QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"}
MODEL_CODES = {"model_not_found", "invalid_model", "unknown_model"}
TRANSIENT = {408, 409, 425}

_NOT_TAKEN = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|not allowed|deprecated|unexpected"
    r"|extra (inputs|fields)|only the default|instead|not permitted|must alternate",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"context (length|window)|too (large|long)|too many tokens", re.IGNORECASE)
_SYSTEM_ROLE = re.compile(
    r"\bsystem\b|\bdeveloper\b|messages\[0\]\.role|roles? must alternate", re.IGNORECASE
)


class Cause(StrEnum):
    """Where a request ended."""

    ANSWERED = "answered"
    NO_CONNECTION = "no connection"
    TIMED_OUT = "timed out"
    BROKEN_OFF = "broken off"
    MALFORMED = "malformed answer"


class Verdict(StrEnum):
    """What to do about a failed request."""

    WAIT = "wait"
    RETRY = "retry"
    QUOTA = "quota"
    KEY = "key"
    MODEL = "model"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Failure:
    """One request that brought no completion; ``status`` is 0 when no answer came."""

    cause: Cause
    status: int = 0
    message: str = ""
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """A short note for the record of attempts."""
        what = self.code or ("" if self.cause is Cause.ANSWERED else str(self.cause))
        return ": ".join(part for part in (what, self.message[:200]) if part)


def judge(failure: Failure, *, now: float) -> Verdict:
    """What follows from ``failure``; ``now`` in Unix seconds reads dates in Retry-After."""
    status = failure.status
    if status in (429, 402):
        return _judge_limit(failure, now)
    if status in (401, 403):
        return Verdict.KEY
    if status == 404 or failure.code in MODEL_CODES:
        return Verdict.MODEL
    if failure.cause is not Cause.ANSWERED or status >= 500 or status in TRANSIENT:
        return Verdict.RETRY
    return Verdict.REJECTED


def _judge_limit(failure: Failure, now: float) -> Verdict:
    if failure.status == 402 or failure.code in QUOTA_CODES:
        return Verdict.QUOTA
    if (retry_after(failure.headers, now=now) or 0) > LONGEST_WAIT:
        return Verdict.QUOTA
    return Verdict.WAIT


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait as the headers say: milliseconds, seconds or an HTTP date; else None."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return seconds * scale
    try:
        then = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, then.timestamp() - now)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


@dataclass(frozen=True, slots=True)
class Capability:
    """Something learnt about a model: a field of :class:`ModelSpec` and its new value."""

    field: str
    value: Any


def learnt_from(failure: Failure, request: Mapping[str, Any]) -> Capability | None:
    """What a 400 teaches about the model, or None when the request itself is at fault."""
    said = f"{failure.param} {failure.message}"
    named = failure.code.startswith("unsupported_") or _NOT_TAKEN.search(said)
    if failure.status not in (400, 422) or not named or _TOO_LONG.search(said):
        return None
    about = failure.param or failure.message
    if _sent_and_named(request, ("max_tokens", "max_completion_tokens"), about):
        return Capability("max_tokens_param", _other_cap(request))
    if _sent_and_named(request, ("temperature", "top_p"), about):
        return Capability("takes_temperature", value=False)
    if _SYSTEM_ROLE.search(said) and _system_messages(request):
        return Capability("system_role", ModelSpec.SystemRole.MERGE)
    return None


def _sent_and_named(request: Mapping[str, Any], names: tuple[str, ...], said: str) -> bool:
    return any(name in request and re.search(rf"\b{name}\b", said) for name in names)


def _other_cap(request: Mapping[str, Any]) -> str:
    if "max_tokens" in request:
        return str(ModelSpec.MaxTokensParam.MAX_COMPLETION_TOKENS)
    return str(ModelSpec.MaxTokensParam.MAX_TOKENS)


def _system_messages(request: Mapping[str, Any]) -> bool:
    return any(message["role"] in ("system", "developer") for message in request["messages"])
