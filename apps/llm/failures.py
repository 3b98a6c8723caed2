"""The failures of requests, and what to do about each: wait, retry, adapt or stop."""

import email.utils
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from labelhub.core.llm.buckets import ReportedLimit

#: A longer wait than this is a quota, not a rate limit: the run pauses and frees its worker.
LONGEST_WAIT = 300.0

#: Seconds to which longer waits are cut: some endpoints send absurd ones.
LONGEST_HINT = 31 * 86_400.0

#: Maximum bytes to read of an answer; no completion has so many.
LONGEST_ANSWER = 32 * 1024 * 1024

#: Seconds until another try after a daily limit without a known renewal.
HOURLY = 3600.0

QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"}
MODEL_CODES = {"model_not_found", "invalid_model", "unknown_model"}
FILTER_CODES = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
LENGTH_CODES = {"context_length_exceeded", "context_length", "exceed_context_size_error"}
TRANSIENT = {408, 409, 425}
#: Statuses by which servers and proxies report that an answer took too long.
TOO_SLOW = {408, 504, 524}

#: Phrases of refusals of messages that are too long for the model.
TOO_LONG = re.compile(
    r"context (?:length|window|size)|maximum (?:context|input|prompt|sequence)"
    r"|too (?:large|long)|too many (?:input |prompt )?tokens|reduce the length",
    re.IGNORECASE,
)
_CAP_TOO_LARGE = re.compile(r"max_(?:completion_)?tokens\W+(?:is )?too large", re.IGNORECASE)
_DAILY = re.compile(r"per[ -]?day|/ ?(?:day|24 ?h)|daily|\b[RT]PD\b", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
#: Larger limits are ignored: some endpoints write "none" as a huge number.
LARGEST = 10**12


class Cause(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    NO_CONNECTION = "no connection"
    TIMED_OUT = "timed out"
    BROKEN_OFF = "broken off"
    MALFORMED = "malformed answer"


#: Codes of failures without a connection.
UNKNOWN_HOST, UNTRUSTED, NO_TLS = "unknown host", "untrusted certificate", "no TLS"


class NoAnswer(Exception):
    """There was no complete answer; the other fields as in :class:`Failure`."""

    def __init__(self, cause: Cause, length: int = 0, *, code: str = "", message: str = "") -> None:
        super().__init__(str(cause))
        self.cause, self.length, self.code, self.message = cause, length, code, message


class Verdict(StrEnum):
    """The reaction to a failed request."""

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
    """A request without a completion; ``status`` is 0 without an answer, ``length`` the known or
    possible number of characters of an unreadable or missing answer."""

    cause: Cause
    status: int = 0
    message: str = ""
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int = 0

    @property
    def timed_out(self) -> bool:
        """Whether no answer arrived in time."""
        return self.cause is Cause.TIMED_OUT or self.status in TOO_SLOW

    @property
    def paid(self) -> bool:
        """Whether an answer may have been written, which costs tokens."""
        return self.length > 0

    @property
    def unread(self) -> bool:
        """Whether the model may have written an answer that never arrived, for which the provider
        may charge."""
        return self.paid and self.cause in (Cause.TIMED_OUT, Cause.BROKEN_OFF)

    @property
    def note(self) -> str:
        """A short note for the record of attempts."""
        reason = self.code or ("" if self.cause is Cause.ANSWERED else str(self.cause))
        return ": ".join(part for part in (reason, self.message[:200]) if part)


def read_refusal(
    status: int, body: bytes, headers: Mapping[str, str], redacted: Callable[[str], str]
) -> Failure:
    """The failure of an answer with an error status; ``redacted`` removes secrets."""
    try:
        found = _unwrap_list(json.loads(body))
    except (ValueError, RecursionError):
        found = body.decode("utf-8", "replace")
    error = found["error"] if isinstance(found, dict) and found.get("error") else found
    return _failure(status, error, headers, redacted)


def read_error(
    error: Any, headers: Mapping[str, str], redacted: Callable[[str], str], *, length: int = 0
) -> Failure:
    """The failure of an ``error`` in an answer with status 200 (see :func:`error_in`). It counts as
    a server error, unless it names another status."""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return _failure(status, error, headers, redacted, length=length)


def error_in(found: Any) -> Any:
    """The error in an answer with status 200, at any place; None if there is none.

    OpenRouter puts it into the choice, beside the text so far.
    """
    found = _unwrap_list(found)
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


def _unwrap_list(found: Any) -> Any:
    """Gemini's endpoint answers a wrong request with a list."""
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
    # The time to wait, in the form of a header. Source: google.rpc.RetryInfo.
    delays = [detail.get("retryDelay") for detail in _mappings(fields, "details")]
    delay = next(filter(None, delays), None)
    wait = {"retry-after": str(delay).removesuffix("s")} if delay else {}
    return Failure(
        Cause.ANSWERED,
        status,
        message=redacted(str(message)),
        code=redacted(str(_quota_name(fields) or fields.get("code") or fields.get("type") or "")),
        param=redacted(str(fields.get("param") or "")),
        headers=wait | dict(headers),
        length=length,
    )


def _quota_name(error: Mapping[str, Any]) -> str:
    """The name of the used-up quota, a daily one first. Source: google.rpc.QuotaFailure."""
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
    """The verdict on ``failure``; ``now`` in Unix seconds, for dates in Retry-After."""
    status = failure.status
    if status in (429, 402):
        if status == 402 or failure.code in QUOTA_CODES:
            return Verdict.QUOTA
        hint = retry_after(failure.headers, now=now)
        long = (hint or 0) > LONGEST_WAIT
        return Verdict.QUOTA if long or _used_up_today(failure, hint) else Verdict.WAIT
    if status in (401, 403):
        return Verdict.KEY
    if status == 404 or failure.code in MODEL_CODES:
        return Verdict.MODEL
    if failure.cause is not Cause.ANSWERED or status >= 500 or status in TRANSIENT:
        return Verdict.RETRY
    return _judge_content(failure)


def _judge_content(failure: Failure) -> Verdict:
    if failure.code.lower() in FILTER_CODES:
        return Verdict.FILTERED
    about_the_cap = failure.param.startswith("max_") or _CAP_TOO_LARGE.search(failure.message)
    about_the_text = failure.status in (400, 413, 422) and not about_the_cap
    if failure.code in LENGTH_CODES or (about_the_text and TOO_LONG.search(failure.message)):
        return Verdict.TOO_LONG
    return Verdict.REJECTED


def resume_after(failure: Failure, *, now: float) -> float | None:
    """Seconds until another try with a used-up quota; None if a person has to act."""
    hint = retry_after(failure.headers, now=now)
    if (hint or 0) <= LONGEST_WAIT and _used_up_today(failure, hint):
        return HOURLY
    return hint


def _used_up_today(failure: Failure, hint: float | None) -> bool:
    """Whether a daily quota is used up. A message with a short wait is about a quota that refills
    steadily. If the code names the daily quota, the wait is that of the limit per minute."""
    if failure.code in QUOTA_CODES:
        return False
    words = failure.code if hint is not None else f"{failure.code} {failure.message}"
    return bool(_DAILY.search(words))


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """The seconds to wait in the headers (milliseconds, seconds or an HTTP date), or None."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _parse_number(headers.get(name, ""), float, below=math.inf)
        if seconds is not None:
            return min(seconds * scale, LONGEST_HINT)
    try:
        then = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        seconds = then.timestamp() - now
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), LONGEST_HINT)


def read_rate_headers(headers: Mapping[str, str]) -> dict[str, ReportedLimit]:
    """The readable limits in the headers, under ``requests`` and ``tokens``."""
    found = {}
    for unit in ("requests", "tokens"):
        limit = _parse_number(headers.get(f"x-ratelimit-limit-{unit}", ""), int)
        remaining = _parse_number(headers.get(f"x-ratelimit-remaining-{unit}", ""), int)
        if limit:
            found[unit] = ReportedLimit(
                int(limit),
                remaining=None if remaining is None else int(remaining),
                reset=read_duration(headers.get(f"x-ratelimit-reset-{unit}", "")),
            )
    return found


def read_duration(text: str) -> float | None:
    """Seconds in ``12ms``, ``1s``, ``6m0s``, ``2h3m`` or a bare number; None in anything else."""
    text = text.strip().lower()
    number = _parse_number(text, float)
    if number is not None:
        return number
    if not text or _PART.sub("", text):
        return None
    return sum(float(count) * _SECONDS[unit] for count, unit in _PART.findall(text))


def _parse_number(
    text: str, kind: type[int] | type[float], *, below: float = LARGEST
) -> float | None:
    try:
        number = kind(text)
    except ValueError:
        return None
    return number if 0 <= number < below else None
