"""How a request failed, and what follows from it: wait, try again, adapt or stop."""

import email.utils
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: A longer wait than this is a quota, not a rate limit: the run pauses and frees its worker.
LONGEST_WAIT = 300.0

#: Longer waits are not believed, seconds: no calendar has a day for some of those that are sent.
LONGEST_HINT = 31 * 86_400.0

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
_DAILY = re.compile(r"per[ -]day|/ ?(?:day|24 ?h)|daily|\b[RT]PD\b", re.IGNORECASE)


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
        return self.paid and self.cause is not Cause.MALFORMED

    @property
    def note(self) -> str:
        """A short note for the record of attempts."""
        what = self.code or ("" if self.cause is Cause.ANSWERED else str(self.cause))
        return ": ".join(part for part in (what, self.message[:200]) if part)


def read_refusal(
    status: int, body: bytes, headers: Mapping[str, str], redacted: Callable[[str], str]
) -> Failure:
    """The failure that an answer with an error status is; ``redacted`` takes secrets out."""
    told = _error_in(body)
    said = told if isinstance(told, dict) else {}
    message = said.get("message") or said.get("detail") or told or ""
    return Failure(
        Cause.ANSWERED,
        status,
        message=redacted(str(message)),
        code=redacted(str(said.get("code") or said.get("type") or "")),
        param=redacted(str(said.get("param") or "")),
        headers=dict(headers),
    )


def told_status(error: Any) -> int:
    """The status that ``error`` names, which came with status 200. An endpoint that had begun to
    answer is in trouble, unless it says more."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _error_in(body: bytes) -> Any:
    """What stands under ``error``, else the whole answer, as text where it is no JSON."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
    return found["error"] if isinstance(found, dict) and found.get("error") else found


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
    # A day's limit that fills up steadily names a short wait, and is waited for like any other.
    daily = hint is None and _DAILY.search(failure.message)
    return Verdict.QUOTA if daily or (hint or 0) > LONGEST_WAIT else Verdict.WAIT


def resume_after(failure: Failure, *, now: float) -> float | None:
    """Seconds until a used-up quota may be worth another try; None when somebody has to act."""
    hint = retry_after(failure.headers, now=now)
    if hint is None and failure.code not in QUOTA_CODES and _DAILY.search(failure.message):
        return HOURLY
    return hint


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
