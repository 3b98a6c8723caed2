"""Room for thinking: how much more than an answer a model may write, found out and kept.

Some models think before they answer, and what they think counts as part of the answer. How much
that is nobody says beforehand, so it is learnt (``ModelSpec.thinking_tokens``) and added to every
cap from then on. As long as it is not known, one call at a time is asked: the first one learns for
the others, and only that one is paid for twice. One text over which a model never came to an end
says little of the others: the room comes down again to what the last answers needed.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from apps.llm.capabilities import Capability
from apps.llm.models import ModelSpec
from apps.llm.wire import MOST_ROOM
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.llm.types import Completion

#: How much larger the next cap is than one that was spent on thinking.
GROWTH = 4
#: How much more room there is than what a model is known to have thought.
SPARE = 2
_STEP = 256
#: So many answers in words show how much room is enough.
MANY = 20
#: So many answers in a row without a word, each with the most room there is, and a model never
#: comes to an end of its thoughts.
MOST_WITHOUT_A_WORD = 5


@dataclass(slots=True)
class Thoughts:
    """What the last answers of one model were: tokens of thinking of those in words since there is
    so much ``room``, and how many in a row had none although there was no more room to give."""

    last: deque[int] = field(default_factory=lambda: deque(maxlen=MANY))
    room: int = 0
    without_a_word: int = 0


class Thinking:
    """Who may be asked, on one line, while it is not known how much its model thinks.

    ``thoughts`` by the id of the model are kept from one line to the next.
    """

    def __init__(self, thoughts: dict[int, Thoughts]) -> None:
        self._thoughts = thoughts
        self._locks: dict[int, asyncio.Lock] = {}
        self._cut_off: set[int] = set()

    @asynccontextmanager
    async def first(self, spec: ModelSpec) -> AsyncIterator[None]:
        """Wait until it is known, or until nobody else is finding it out."""
        async with AsyncExitStack() as finding_out:
            if not self._known(spec):
                lock = self._locks.setdefault(spec.pk, asyncio.Lock())
                await finding_out.enter_async_context(lock)
            if self._known(spec):
                await finding_out.aclose()  # others need not wait for this one
            yield

    def heed(self, spec: ModelSpec, answer: Completion) -> None:
        """Take note of an answer: one without a word asks for another of which that is learnt."""
        if answer.finish_reason == "length" and thought_only(answer):
            self._cut_off.add(spec.pk)
        else:
            self._cut_off.discard(spec.pk)
            lately, room = self._of(spec), spec.thinking_tokens or 0
            if spec.thinking_tokens is None or room > lately.room:
                # It is another model, or has just needed more than all of these.
                lately.last.clear()
            lately.room = room
            lately.last.append(thought(answer))
            lately.without_a_word = 0

    def less_room(self, spec: ModelSpec) -> Capability | None:
        """What the last answers together teach of the room that is enough, if it is less."""
        known, last = spec.thinking_tokens, self._of(spec).last
        enough = _room_for(max(last, default=0))
        if known is None or len(last) < MANY or enough >= known:
            return None
        return Capability("thinking_tokens", enough, down_from=known)

    def without_a_word(self, spec: ModelSpec) -> bool:
        """Take note of an answer without a word that had the most room there is; whether there were
        too many in a row. From then on they are counted anew: for whoever goes on."""
        lately = self._of(spec)
        lately.without_a_word = (lately.without_a_word + 1) % MOST_WITHOUT_A_WORD
        return not lately.without_a_word

    def _of(self, spec: ModelSpec) -> Thoughts:
        return self._thoughts.setdefault(spec.pk, Thoughts())

    def _known(self, spec: ModelSpec) -> bool:
        return spec.thinking_tokens is not None and spec.pk not in self._cut_off


def thought_only(answer: Completion) -> bool:
    """Whether all of a cut off answer was thinking, seen or hidden. Blanks are no thinking: models
    can fill a form with them."""
    return not answer.text or (bool(answer.text.strip()) and not _said(answer))


def more_room(spec: ModelSpec, answer: Completion, cap: int) -> Capability | None:
    """What ``answer``, given under ``cap``, teaches of the room that ``spec`` needs to think."""
    known = spec.thinking_tokens or 0
    if answer.finish_reason == "length" and thought_only(answer):
        room = GROWTH * max(cap, spec.max_output_tokens)
    else:
        tokens = thought(answer)
        room = _room_for(tokens) if tokens > known else known
    room = max(known, min(room, MOST_ROOM))
    return None if room == spec.thinking_tokens else Capability("thinking_tokens", room)


def _room_for(tokens: int) -> int:
    return min(math.ceil(SPARE * tokens / _STEP) * _STEP, MOST_ROOM)


def _said(answer: Completion) -> str:
    return strip_thinking(answer.text).strip()


def thought(answer: Completion) -> int:
    """Tokens of thinking, as counted by the endpoint, or guessed from what can be read of it."""
    if answer.usage.tokens_reasoning:
        return answer.usage.tokens_reasoning
    seen = estimate_tokens(answer.reasoning) if answer.reasoning else 0
    tagged = len(answer.text) - len(_said(answer)) if "<" in answer.text else 0
    return max(seen, tagged // 3)
