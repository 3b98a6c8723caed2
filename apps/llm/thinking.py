"""Room for thinking: the tokens beyond an answer that a model may write, learnt from its answers.

Some models think before they answer, and their thoughts count as part of the answer. LabelHub
learns how many tokens they need (``ModelSpec.thinking_tokens``) and adds them to every cap. Until
it knows, it makes one call at a time: the first one learns for the others, and only that one is
paid twice.
One text on which a model never stops thinking says little about others, so the room shrinks to what
the last answers needed.
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

#: The factor between a cap that was spent on thinking and the next one.
GROWTH = 4
#: The factor between a model's known thinking and its room.
SPARE = 2
_STEP = 256
#: The number of answers in words that show how much room is enough.
MANY = 20
#: Answers in a row without a word, each with the largest room, after which a model is given up.
MOST_WITHOUT_A_WORD = 5


@dataclass(slots=True)
class Thoughts:
    """The last answers of one model: the tokens of thinking of those with words under the current
    ``room``, and how many in a row had no word under the largest room."""

    last: deque[int] = field(default_factory=lambda: deque(maxlen=MANY))
    room: int = 0
    without_a_word: int = 0


class Thinking:
    """Allows one call at a time on a line while the thinking of its model is unknown.

    ``thoughts``, by model id, pass from one line to the next.
    """

    def __init__(self, thoughts: dict[int, Thoughts]) -> None:
        self._thoughts = thoughts
        self._locks: dict[int, asyncio.Lock] = {}
        self._cut_off: set[int] = set()

    @asynccontextmanager
    async def first(self, spec: ModelSpec) -> AsyncIterator[None]:
        """Wait until the thinking is known, or no other call is learning it."""
        async with AsyncExitStack() as finding_out:
            if not self._known(spec):
                lock = self._locks.setdefault(spec.pk, asyncio.Lock())
                await finding_out.enter_async_context(lock)
            if self._known(spec):
                await finding_out.aclose()  # others need not wait for this one
            yield

    def heed(self, spec: ModelSpec, answer: Completion) -> None:
        """Note an answer; after one without a word, the next call has to learn again."""
        if answer.finish_reason == "length" and is_only_thinking(answer):
            self._cut_off.add(spec.pk)
        else:
            self._cut_off.discard(spec.pk)
            lately, room = self._of(spec), spec.thinking_tokens or 0
            if spec.thinking_tokens is None or room > lately.room:
                # It is another model, or it has just needed more than in all of these answers.
                lately.last.clear()
            lately.room = room
            lately.last.append(thinking_tokens_of(answer))
            lately.without_a_word = 0

    def less_room(self, spec: ModelSpec) -> Capability | None:
        """The smaller room that the last answers show to be enough, if any."""
        known, last = spec.thinking_tokens, self._of(spec).last
        enough = _room_for(max(last, default=0))
        if known is None or len(last) < MANY or enough >= known:
            return None
        return Capability("thinking_tokens", enough, down_from=known)

    def without_a_word(self, spec: ModelSpec) -> bool:
        """Note an answer without a word under the largest room. Returns whether there were too many
        in a row; the count then begins again, for a resumed run."""
        lately = self._of(spec)
        lately.without_a_word = (lately.without_a_word + 1) % MOST_WITHOUT_A_WORD
        return not lately.without_a_word

    def _of(self, spec: ModelSpec) -> Thoughts:
        return self._thoughts.setdefault(spec.pk, Thoughts())

    def _known(self, spec: ModelSpec) -> bool:
        return spec.thinking_tokens is not None and spec.pk not in self._cut_off


def is_only_thinking(answer: Completion) -> bool:
    """Whether all of a cut-off answer was thinking, visible or hidden. Blanks are not thinking:
    models can fill a form with them."""
    return not answer.text or (bool(answer.text.strip()) and not _visible_text(answer))


def more_room(spec: ModelSpec, answer: Completion, cap: int) -> Capability | None:
    """The room for thinking that ``spec`` needs by an ``answer`` under ``cap``, if it changed."""
    known = spec.thinking_tokens or 0
    if answer.finish_reason == "length" and is_only_thinking(answer):
        room = GROWTH * max(cap, spec.max_output_tokens)
    else:
        tokens = thinking_tokens_of(answer)
        room = _room_for(tokens) if tokens > known else known
    room = max(known, min(room, MOST_ROOM))
    return None if room == spec.thinking_tokens else Capability("thinking_tokens", room)


def _room_for(tokens: int) -> int:
    return min(math.ceil(SPARE * tokens / _STEP) * _STEP, MOST_ROOM)


def _visible_text(answer: Completion) -> str:
    return strip_thinking(answer.text).strip()


def thinking_tokens_of(answer: Completion) -> int:
    """Tokens of thinking, as the endpoint counts them, or estimated from the visible thoughts."""
    if answer.usage.tokens_reasoning:
        return answer.usage.tokens_reasoning
    seen = estimate_tokens(answer.reasoning) if answer.reasoning else 0
    tagged = len(answer.text) - len(_visible_text(answer)) if "<" in answer.text else 0
    return max(seen, tagged // 3)
