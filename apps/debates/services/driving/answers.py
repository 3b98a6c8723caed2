"""Reuse of answers to equal calls that are under way or were made by earlier runs.

A debate resumes from its own turns, found by step (``ClaimedDebate.memo``). This cache finds
answers of any debate by the content of the call (``call_key``). The stored turns are the cache: an
answer is stored once and is gone when its run is deleted.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Reply, Usage

#: Most recent answers of a slice that stay in memory.
REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion, and the label probabilities read from it (its token logprobs are not kept)."""

    completion: Completion
    probabilities: Mapping[str, float]

    def read(self, call: Call) -> Reply:
        """The reply to ``call``, parsed again so that old answers profit from a better parser."""
        reply = read_completion(call, self.completion)
        return replace(reply, probabilities=reply.probabilities or self.probabilities)

    @property
    def as_reused(self) -> Completion:
        """The completion for an equal call: without cost, attempts or time."""
        return replace(self.completion, usage=Usage(), attempts=(), seconds=0.0)


Stored = Callable[[Sequence[str]], Awaitable[Mapping[str, Answer]]]


class AnswerCache:
    """The answers to equal calls within one slice. Use in one event loop only.

    Args:
        stored: looks up many keys among the turns of earlier runs.
        keys: keys that earlier runs have answered; None where there are too many to keep. Calls
            marked ``once`` are always looked up.
    """

    def __init__(self, stored: Stored, *, keys: Collection[str] | None) -> None:
        self._stored = stored
        self._keys = keys
        self._under_way: dict[str, asyncio.Future[Answer | ModelError | None]] = {}
        self._recent: OrderedDict[str, Answer] = OrderedDict()
        self._wanted: dict[str, asyncio.Future[Answer | None]] = {}
        self._gathering: asyncio.Task[None] | None = None

    async def known(self, key: str, call: Call) -> Answer | ModelError | None:
        """The answer to an equal call, after waiting for one under way; None: call the model."""
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
        """Give ``answer`` to the calls that wait for ``key`` and remember a good one. With None
        each waiting call asks its model itself."""
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
            # Calls that arrive meanwhile, or during a query, are part of the next query.
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
    """Whether an answer may be reused: it is complete and no refusal."""
    return completion.finish_reason == "stop" and not completion.refusal
