"""Rate limits: token buckets, networks, pauses between questions, and the least time of answers.

The server keeps the history of questions for author and device, so that neither a new tab nor
signing out resets it. Each refusal has a code and each permit a probability, for labels weighted by
its inverse (the caller multiplies it by that of the feature and of the arm).
"""

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import Any, Literal, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase

#: The prefix of one household or office, which is one visitor for limits.
V4_PREFIX, V6_PREFIX = 24, 56


class TokenBucket:
    """A bucket that starts with ``burst`` tokens, its maximum, and gets ``rate`` per second.

    Args:
        rate: tokens per second, above 0.
        burst: the most tokens, at least 1.
        clock: seconds from any origin; a clock set back gives nothing until it has caught up.

    Raises:
        InvalidInput: a number is out of its range.
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not 0 < rate < math.inf:
            raise InvalidInput.at("rate", Phrase("must be a number above 0"))
        if not 1 <= burst < math.inf:
            raise InvalidInput.at("burst", Phrase("must be a number from 1 on"))
        self._rate, self._burst, self._clock = rate, burst, clock
        self._level, self._filled_at = float(burst), clock()
        self._shut_until = -math.inf

    def take(self, amount: float = 1.0) -> bool:
        """Take ``amount`` tokens if there are enough; whether there were."""
        if self.wait(amount) > 0:
            return False
        self._level = max(0.0, self._level - amount)
        return True

    def wait(self, amount: float = 1.0) -> float:
        """Seconds until ``amount`` tokens can be taken, 0 if now; infinite above the burst."""
        self._fill()
        if amount > self._burst:
            return math.inf
        missing = amount - self._level
        shut = max(0.0, self._shut_until - self._clock())
        # Rounding must not leave a wait too short for any clock.
        return max(shut, missing / self._rate if missing > 1e-9 else 0.0)

    def shut(self, seconds: float) -> None:
        """Give nothing for ``seconds`` but keep collecting; a shut bucket keeps its time."""
        now = self._clock()
        if now >= self._shut_until:
            self._shut_until = now + seconds

    def _fill(self) -> None:
        now = self._clock()
        if now > self._filled_at:
            grown = self._level + (now - self._filled_at) * self._rate
            self._level, self._filled_at = min(self._burst, grown), now


def network_prefix(address: str) -> str:
    """The /24 (IPv4) or /56 (IPv6) that ``address`` is in, such as ``203.0.113.0/24``.

    An IPv4 address written as an IPv6 one counts as what it is; a zone (``%eth0``) does not count.

    Raises:
        InvalidInput: ``address`` is no IP address.
    """
    try:
        found = ip_address(address.strip().partition("%")[0])
    except ValueError:
        raise InvalidInput.at("address", Phrase("is not an IP address")) from None
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    bits = V4_PREFIX if found.version == 4 else V6_PREFIX
    return str(ip_network((found, bits), strict=False))


#: After so many dismissals in a row the pause grows by this factor with each, up to the longest.
BACKOFF_AFTER, BACKOFF_FACTOR, LONGEST_BACKOFF = 2, 4.0, timedelta(days=7)
#: The first back-off, seconds, even if a site has no pause between questions.
LEAST_REST = 90.0

Reason: TypeAlias = Literal[
    "",
    "opted_out",
    "open_question",
    "conversation_full",
    "day_full",
    "backing_off",
    "too_soon",
    "too_few_messages",
    "not_sampled",
]


@dataclass(frozen=True, slots=True)
class ThrottleRule:
    """A site's limits for one author.

    At most one survey in ``every_messages`` messages, ``min_seconds`` apart, ``per_conversation``
    and ``per_day``. The first survey waits as long after the author came. Of the remaining messages
    the share ``sampling`` is asked about.

    Raises:
        InvalidInput: a number is out of its range.
    """

    every_messages: int = 3
    min_seconds: float = 90
    per_conversation: int = 4
    per_day: int = 10
    sampling: float = 1.0

    def __post_init__(self) -> None:
        for field, (least, most) in _RANGES.items():
            if not least <= getattr(self, field) <= most:
                raise InvalidInput.at(
                    field, Phrase("must be from %(least)s to %(most)s", least=least, most=most)
                )


_RANGES: Mapping[str, tuple[Any, Any]] = {
    "every_messages": (0, 10_000),
    "min_seconds": (0, 31_536_000),
    "per_conversation": (0, 10_000),
    "per_day": (0, 10_000),
    "sampling": (0, 1),
}


@dataclass(frozen=True, slots=True)
class AskHistory:
    """The history of questions to one author.

    Attributes:
        began_at: when the author came, None if unknown.
        messages_since_last_survey: with the present message, without the one last asked about;
            before the first survey all messages.
        surveys_today: on the day of ``now`` in its time zone.
        dismissals_in_a_row: an answer ends them.
        open_questions: sent or on a screen.
    """

    began_at: datetime | None = None
    messages_since_last_survey: int = 0
    last_survey_at: datetime | None = None
    surveys_in_conversation: int = 0
    surveys_today: int = 0
    dismissals_in_a_row: int = 0
    opted_out: bool = False
    open_questions: int = 0


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether to ask; if not, the code of the ``reason`` and ``until`` when it holds, if known.

    ``propensity``: the probability of a permit, given the history: the sampling rate, or 0 if
    something else forbids it.
    """

    allowed: bool
    reason: Reason
    until: datetime | None
    propensity: float


def may_ask(rule: ThrottleRule, history: AskHistory, now: datetime, draw: float) -> Permit:
    """Whether this author may be asked about the present message.

    Args:
        rule: the site's limits.
        history: the author's past.
        now: aware; its time zone decides when the day ends.
        draw: in [0, 1), see :func:`sampling_draw`.
    """
    if history.opted_out:
        return _refused("opted_out")
    if history.open_questions > 0:
        return _refused("open_question")
    refused = _check_counts(rule, history, now) or _check_pauses(rule, history, now)
    if refused is not None:
        return refused
    allowed = draw < rule.sampling
    return Permit(allowed, "" if allowed else "not_sampled", None, propensity=rule.sampling)


def sampling_draw(site: str, author: str, message: str) -> float:
    """A number in [0, 1) that looks random but is always the same for a message."""
    # As JSON: ("a", "bc") and ("ab", "c") must not draw the same.
    drawn_for = json.dumps([site, author, message]).encode()
    return (int.from_bytes(hashlib.sha256(drawn_for).digest()[:8], "big") >> 11) / 2**53


def _check_counts(rule: ThrottleRule, history: AskHistory, now: datetime) -> Permit | None:
    if history.surveys_in_conversation >= rule.per_conversation:
        return _refused("conversation_full")
    if history.surveys_today >= rule.per_day:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return _refused("day_full", midnight)
    return None


def _check_pauses(rule: ThrottleRule, history: AskHistory, now: datetime) -> Permit | None:
    """The pauses after the last survey, or after the author came."""
    last = history.last_survey_at
    backoff = _backoff(rule, history.dismissals_in_a_row)
    if last and backoff and now < last + backoff:
        return _refused("backing_off", last + backoff)
    since, pause = last or history.began_at, timedelta(seconds=rule.min_seconds)
    if since and now < since + pause:
        return _refused("too_soon", since + pause)
    few = history.messages_since_last_survey < rule.every_messages
    return _refused("too_few_messages") if few else None


def _backoff(rule: ThrottleRule, dismissals: int) -> timedelta | None:
    """The pause after so many dismissals; None if there are too few."""
    grown = dismissals - BACKOFF_AFTER + 1
    if grown < 1:
        return None
    rest, longest = max(rule.min_seconds, LEAST_REST), LONGEST_BACKOFF.total_seconds()
    # In logarithms: no number of dismissals may overflow.
    if math.log(rest) + grown * math.log(BACKOFF_FACTOR) >= math.log(longest):
        return LONGEST_BACKOFF
    return timedelta(seconds=rest * BACKOFF_FACTOR**grown)


def _refused(reason: Reason, until: datetime | None = None) -> Permit:
    return Permit(allowed=False, reason=reason, until=until, propensity=0.0)


LEAST_MS, MOST_MS, MS_PER_WORD = 5_000, 9_000, 280
#: By how much the network times of ``shown`` and of the answer may differ.
TOLERANCE_MS = 250

Verdict: TypeAlias = Literal["ok", "too_early", "client_attested"]

#: Thai, Lao, Myanmar, Khmer, kana, Han: written without blanks, about two signs to a word.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Timing:
    """The timing of one answer.

    ``ok``: measured by the server. ``client_attested``: the server's clock allows it, but only the
    browser measured the reading time; no reason for a reward. ``too_early``: not accepted;
    ``after_ms`` is when to send it again (0 otherwise). ``server_ms``: the time since the question
    by the server's clock, never negative.
    """

    verdict: Verdict
    after_ms: int
    server_ms: int


def minimum_ms(question: str, options: Sequence[str]) -> int:
    """The least time in milliseconds to read ``question`` and all ``options``."""
    read = sum(_count_words(piece) for text in (question, *options) for piece in text.split())
    return min(max(LEAST_MS, MS_PER_WORD * read), MOST_MS)


def judge_timing(
    *,
    pushed: datetime,
    shown: datetime | None,
    received: datetime,
    min_ms: int,
    visible_ms: int | None,
    shown_in_replay: bool = False,
) -> Timing:
    """Whether there was enough time to read the question before the answer.

    Args:
        pushed: when the server sent the question, by its clock like the next two; all aware.
        shown: when the server learnt that the question was on the screen; None if it did not.
        received: when the answer came.
        min_ms: :func:`minimum_ms` of the question.
        visible_ms: the browser's measure of visible time; None if missing.
        shown_in_replay: ``shown`` came together with the answer, after a lost connection.

    A clock set back between the three makes the answer too early, which costs a short wait.
    """
    since_pushed = _ms(received - pushed)
    missing = LEAST_MS - TOLERANCE_MS - since_pushed
    verdict: Verdict = "ok"
    if shown is None or shown_in_replay:
        counted, verdict = since_pushed, "client_attested"
        missing = max(missing, min_ms - since_pushed, min_ms - (visible_ms or 0))
    else:
        counted = _ms(received - max(pushed, shown))
        missing = max(missing, min_ms - TOLERANCE_MS - counted)
    if missing > 0:
        # A clock set back by an hour must not cause a wait of an hour.
        return Timing("too_early", min(missing, max(min_ms, LEAST_MS)), max(0, counted))
    return Timing(verdict, 0, counted)


def _ms(passed: timedelta) -> int:
    """Whole milliseconds, rounded down."""
    return passed // _MILLISECOND


def _count_words(piece: str) -> int:
    dense = len(_DENSE.findall(piece))
    plain = any(char.isalnum() for char in _DENSE.sub("", piece))
    return ceil(dense / 2) + plain
