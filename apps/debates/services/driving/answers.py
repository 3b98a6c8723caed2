"""Answers that are there already: to equal calls under way, or made by earlier runs.

Two stores, kept apart. A debate's own turns (``Claimed.memo``) make it go on where it stopped and
are hit by their step. Here calls are hit by what they ask (``call_key``), whoever asked: the stored
turns themselves are the cache, so that an answer is kept once, and gone when its run is deleted.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Reply, Usage

#: Answers of this slice that are remembered, the most recent ones.
REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion, and the probabilities that were read when it came (its tokens are gone)."""

    completion: Completion
    probabilities: Mapping[str, float]

    def read(self, call: Call) -> Reply:
        """What it says to ``call``: read anew, so that a better parser mends old answers."""
        reply = read_completion(call, self.completion)
        return replace(reply, probabilities=reply.probabilities or self.probabilities)

    @property
    def as_reused(self) -> Completion:
        """The completion as an equal call gets it: paid for already."""
        return replace(self.completion, usage=Usage(), attempts=(), seconds=0.0)


Stored = Callable[[Sequence[str]], Awaitable[Mapping[str, Answer]]]


class AnswerCache:
    """What one slice knows of answers to equal calls. Belongs to one event loop.

    Args:
        stored: looks keys up among the turns of earlier runs, many at once.
        keys: what earlier runs have answers to; None where there are too many to know. Calls that
            are asked ``once`` are always looked up.
    """

    def __init__(self, stored: Stored, *, keys: Collection[str] | None) -> None:
        self._stored = stored
        self._keys = keys
        self._under_way: dict[str, asyncio.Future[Answer | ModelError | None]] = {}
        self._recent: OrderedDict[str, Answer] = OrderedDict()
        self._wanted: dict[str, asyncio.Future[Answer | None]] = {}
        self._gathering: asyncio.Task[None] | None = None

    async def known(self, key: str, call: Call) -> Answer | ModelError | None:
        """The answer to an equal call, waiting for one that is under way; None: ask."""
        if key in self._under_way:
            return await asyncio.shield(self._under_way[key])
        if key in self._recent:
            return self._recent[key]
        # From here on equal calls wait for this one.
        self._under_way[key] = asyncio.get_running_loop().create_future()
        if not (call.once or self._keys is None or key in self._keys):
            return None
        try:
            found = await self._look(key)
        except Exception:
            self.settle(key, None)
            raise
        if found is not None:
            self.settle(key, found)
        return found

    def settle(self, key: str, answer: Answer | ModelError | None) -> None:
        """Tell those who wait for ``key``; a good answer is remembered for a while. None sends each
        of them to ask for itself."""
        waiting = self._under_way.pop(key, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        if isinstance(answer, Answer) and is_reusable(answer.completion):
            self._recent[key] = answer
            if len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)

    async def _look(self, key: str) -> Answer | None:
        future = self._wanted.setdefault(key, asyncio.get_running_loop().create_future())
        if self._gathering is None or self._gathering.done():
            self._gathering = asyncio.create_task(self._gather())
        return await asyncio.shield(future)

    async def _gather(self) -> None:
        while self._wanted:
            # Whoever asks meanwhile, and while a query is under way, is part of the next one.
            await asyncio.sleep(0)
            wanted, self._wanted = self._wanted, {}
            try:
                found = await self._stored(list(wanted))
            except Exception as error:  # noqa: BLE001 - each of those who wait raises it
                for future in wanted.values():
                    future.set_exception(error)
                continue
            for key, future in wanted.items():
                future.set_result(found.get(key))


def is_reusable(completion: Completion) -> bool:
    """Whether an answer may be given again: a whole one, and no refusal."""
    return completion.finish_reason == "stop" and not completion.refusal
