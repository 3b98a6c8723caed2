"""How long a question must be before its author's eyes, and whether an answer came too early.

280 ms a word, between five and nine seconds: under a third of a second a word nobody has read
(Zhang 2013), and the published protocol waits five seconds at least (paper 004, 2.2). What counts
is the server's clock. What the browser says of its own is only asked for when the question was
shown while the line was down, and even then the server's clock must allow it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Literal, TypeAlias

LEAST_MS, MOST_MS, MS_PER_WORD = 5_000, 9_000, 280
#: What the way of ``shown`` and of the answer through the network may differ by.
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
    """What the clocks say of one answer.

    ``ok``: measured by the server. ``client_attested``: the server's clock allows it, but that it
    was read for as long is only the browser's word; no ground for a reward. ``too_early``: not
    accepted; ``after_ms`` is when to send it again (0 otherwise). ``server_ms``: how long the
    server knows the question to have been out, never negative.
    """

    verdict: Verdict
    after_ms: int
    server_ms: int


def minimum_ms(question: str, options: Sequence[str]) -> int:
    """The least time in milliseconds for reading ``question`` and all of its ``options``."""
    read = sum(_words_of(piece) for text in (question, *options) for piece in text.split())
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
    """Whether an answer came after the question could have been read.

    Args:
        pushed: when the server sent the question, by its clock like the next two; all aware.
        shown: when it learnt that the question was on the screen; None if it never did.
        received: when the answer came.
        min_ms: :func:`minimum_ms` of the question.
        visible_ms: how long the browser says the question was visible; None if it does not say.
        shown_in_replay: ``shown`` came together with the answer, after time without a connection.

    A clock set back between the three makes the answer too early: the cost is a moment's wait.
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
        # After a clock was set back by an hour nobody shall wait an hour.
        return Timing("too_early", min(missing, max(min_ms, LEAST_MS)), max(0, counted))
    return Timing(verdict, 0, counted)


def _ms(passed: timedelta) -> int:
    """Whole milliseconds, rounded down: what has not quite passed has not passed."""
    return passed // _MILLISECOND


def _words_of(piece: str) -> int:
    dense = len(_DENSE.findall(piece))
    plain = any(char.isalnum() for char in _DENSE.sub("", piece))
    return ceil(dense / 2) + plain
