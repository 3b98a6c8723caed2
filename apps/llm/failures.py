"""How a request failed, and what follows from it: wait, try again, adapt or stop."""

import email.utils
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from labelhub.core.llm.buckets import ReportedLimit

#: A longer wait than this is a quota, not a rate limit: the run pauses and frees its worker.
LONGEST_WAIT = 300.0

#: Longer waits are not believed, seconds: no calendar has a day for some of those that are sent.
LONGEST_HINT = 31 * 86_400.0

#: Longer answers are not read: no completion has so many bytes.
LONGEST_ANSWER = 32 * 1024 * 1024

#: When to look again at a daily limit whose renewal nobody tells, seconds.
HOURLY = 3600.0

QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"}
MODEL_CODES = {"model_not_found", "invalid_model", "unknown_model"}
FILTER_CODES = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
LENGTH_CODES = {"context_length_exceeded", "context_length", "exceed_context_size_error"}
TRANSIENT = {408, 409, 425}
#: Statuses by which a server, or a proxy in front of it, says that an answer took too long.
TOO_SLOW = {408, 504, 524}

#: Words of a refusal that mean: these messages are too long for the model.
TOO_LONG = re.compile(
    r"context (?:length|window|size)|maximum (?:context|input|prompt|sequence)"
    r"|too (?:large|long)|too many (?:input |prompt )?tokens|reduce the length",
    re.IGNORECASE,
)
_CAP_TOO_LARGE = re.compile(r"max_(?:completion_)?tokens\W+(?:is )?too large", re.IGNORECASE)
_DAILY = re.compile(r"per[ -]?day|/ ?(?:day|24 ?h)|daily|\b[RT]PD\b", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
#: A limit that no arithmetic should be done with: some endpoints write "none" as a huge number.
LARGEST = 10**12


class Cause(StrEnum):
    """Where a request ended."""

    ANSWERED = "answered"
    NO_CONNECTION = "no connection"
    TIMED_OUT = "timed out"
    BROKEN_OFF = "broken off"
    MALFORMED = "malformed answer"


class NoAnswer(Exception):
    """None came, or not all of it; ``length`` as that of a :class:`Failure`."""

    def __init__(self, cause: Cause, length: int = 0) -> None:
        super().__init__(str(cause))
        self.cause, self.length = cause, length


class Verdict(StrEnum):
    """What to do about a failed request."""

    WAIT = "wait"
    RETRY = "retry"
    QUOTA = "quota"
    KEY = "key"
    MODEL = "model"
    FILTERED = "filtered"
    TOO_LONG = "too long"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Failure:
    """One request that brought no completion; ``status`` is 0 when no answer came, ``length`` how
    many characters came, or may have been written, of an answer that nobody can read."""

    cause: Cause
    status: int = 0
    message: str = ""
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int = 0

    @property
    def timed_out(self) -> bool:
        """Whether no answer came in time."""
        return self.cause is Cause.TIMED_OUT or self.status in TOO_SLOW

    @property
    def paid(self) -> bool:
        """Whether an answer may have been written, and has its price."""
        return self.length > 0

    @property
    def unread(self) -> bool:
        """Whether an answer may have been written of which nothing came: a provider may charge for
        it, or not."""
        return self.paid and self.cause in (Cause.TIMED_OUT, Cause.BROKEN_OFF)

    @property
    def note(self) -> str:
        """A short note for the record of attempts."""
        reason = self.code or ("" if self.cause is Cause.ANSWERED else str(self.cause))
        return ": ".join(part for part in (reason, self.message[:200]) if part)


def read_refusal(
    status: int, body: bytes, headers: Mapping[str, str], redacted: Callable[[str], str]
) -> Failure:
    """The failure that an answer with an error status is; ``redacted`` takes secrets out."""
    try:
        found = _only(json.loads(body))
    except (ValueError, RecursionError):
        found = body.decode("utf-8", "replace")
    error = found["error"] if isinstance(found, dict) and found.get("error") else found
    return _failure(status, error, headers, redacted)


def read_told(
    error: Any, headers: Mapping[str, str], redacted: Callable[[str], str], *, length: int = 0
) -> Failure:
    """The failure that ``error`` is, which came with status 200 (see :func:`error_in`). An endpoint
    that had begun to answer is in trouble, unless the error names another status."""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return _failure(status, error, headers, redacted, length=length)


def error_in(found: Any) -> Any:
    """The error that an answer with status 200 tells, in whatever place; None where it tells none.

    OpenRouter puts it into the choice, beside what was written until then.
    """
    found = _only(found)
    if not isinstance(found, Mapping):
        return None
    choices = _mappings(found, "choices")
    choice = choices[0] if choices else {}
    if error := found.get("error") or choice.get("error"):
        return error
    if "error" in (found.get("object"), found.get("type")):
        return found
    ended = choice.get("finish_reason") == "error"
    return {"message": "the answer ended in an error"} if ended else None


def _only(found: Any) -> Any:
    """Gemini's endpoint puts what it answers to a wrong request into a list."""
    return found[0] if isinstance(found, list) and found else found


def _failure(
    status: int,
    error: Any,
    headers: Mapping[str, str],
    redacted: Callable[[str], str],
    *,
    length: int = 0,
) -> Failure:
    fields = error if isinstance(error, Mapping) else {}
    message = fields.get("message") or fields.get("detail") or error or ""
    return Failure(
        Cause.ANSWERED,
        status,
        message=redacted(str(message)),
        code=redacted(str(_quota_in(fields) or fields.get("code") or fields.get("type") or "")),
        param=redacted(str(fields.get("param") or "")),
        headers=_wait_in(fields) | dict(headers),
        length=length,
    )


def _wait_in(error: Mapping[str, Any]) -> dict[str, str]:
    """How long to wait, as a header would tell it. Source: google.rpc.RetryInfo."""
    delays = [
        detail["retryDelay"] for detail in _mappings(error, "details") if detail.get("retryDelay")
    ]
    return {"retry-after": str(delays[0]).removesuffix("s")} if delays else {}


def _quota_in(error: Mapping[str, Any]) -> str:
    """The name of the quota that is used up, that of a day first. Source:
    google.rpc.QuotaFailure."""
    violations = [
        violation
        for detail in _mappings(error, "details")
        for violation in _mappings(detail, "violations")
    ]
    names = [str(violation.get("quotaId") or "") for violation in violations]
    return max(names, key=lambda name: bool(_DAILY.search(name)), default="")


def _mappings(holder: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = holder.get(key)
    return (
        [value for value in found if isinstance(value, Mapping)] if isinstance(found, list) else []
    )


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
    return _judge_request(failure)


def _judge_request(failure: Failure) -> Verdict:
    if failure.code.lower() in FILTER_CODES:
        return Verdict.FILTERED
    if failure.code in LENGTH_CODES or _says_too_long(failure):
        return Verdict.TOO_LONG
    return Verdict.REJECTED


def _says_too_long(failure: Failure) -> bool:
    about_the_cap = failure.param.startswith("max_") or _CAP_TOO_LARGE.search(failure.message)
    refused = failure.status in (400, 413, 422) and not about_the_cap
    return refused and bool(TOO_LONG.search(failure.message))


def _judge_limit(failure: Failure, now: float) -> Verdict:
    if failure.status == 402 or failure.code in QUOTA_CODES:
        return Verdict.QUOTA
    hint = retry_after(failure.headers, now=now)
    long = (hint or 0) > LONGEST_WAIT
    return Verdict.QUOTA if long or _used_up_today(failure, hint) else Verdict.WAIT


def resume_after(failure: Failure, *, now: float) -> float | None:
    """Seconds until a used-up quota may be worth another try; None when somebody has to act."""
    hint = retry_after(failure.headers, now=now)
    if (hint or 0) <= LONGEST_WAIT and _used_up_today(failure, hint):
        return HOURLY
    return hint


def _used_up_today(failure: Failure, hint: float | None) -> bool:
    """Whether a daily quota is used up. One that fills up steadily names a short wait, and is
    waited for like any other; where the quota itself is named, the wait beside it is that of the
    minute."""
    if failure.code in QUOTA_CODES:
        return False
    words = failure.code if hint is not None else f"{failure.code} {failure.message}"
    return bool(_DAILY.search(words))


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait as the headers say: milliseconds, seconds or an HTTP date; else None."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return min(seconds * scale, LONGEST_HINT)
    try:
        then = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        seconds = then.timestamp() - now
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), LONGEST_HINT)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def read_rate_headers(headers: Mapping[str, str]) -> dict[str, ReportedLimit]:
    """The limits told, under ``requests`` and ``tokens``; what cannot be read is not told."""
    found = {unit: _told(headers, unit) for unit in ("requests", "tokens")}
    return {unit: limit for unit, limit in found.items() if limit is not None}


def read_duration(text: str) -> float | None:
    """Seconds in ``12ms``, ``1s``, ``6m0s``, ``2h3m`` or a bare number; None in anything else."""
    text = text.strip().lower()
    number = _whole_number(text, float)
    if number is not None:
        return number
    if not text or _PART.sub("", text):
        return None
    return sum(float(count) * _SECONDS[unit] for count, unit in _PART.findall(text))


def _told(headers: Mapping[str, str], unit: str) -> ReportedLimit | None:
    limit = _whole_number(headers.get(f"x-ratelimit-limit-{unit}", ""), int)
    if not limit:
        return None
    return ReportedLimit(
        int(limit),
        remaining=_remaining(headers.get(f"x-ratelimit-remaining-{unit}", "")),
        reset=read_duration(headers.get(f"x-ratelimit-reset-{unit}", "")),
    )


def _remaining(text: str) -> int | None:
    number = _whole_number(text, int)
    return None if number is None else int(number)


def _whole_number(text: str, kind: type[int] | type[float]) -> float | None:
    try:
        number = kind(text)
    except ValueError:
        return None
    return number if 0 <= number < LARGEST else None
