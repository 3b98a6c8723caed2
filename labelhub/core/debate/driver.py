"""The one place where a protocol meets whoever answers its calls."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from labelhub.core.debate.outcome import Debate, Outcome
from labelhub.core.llm.types import Call, Reply

Ask: TypeAlias = Callable[[Call], Awaitable[Reply]]


async def run_debate(debate: Debate, ask: Ask) -> Outcome:
    """Drive ``debate`` to its end; calls yielded together are asked at the same time.

    To resume, drive a fresh generator with an ``ask`` that answers known steps from store.

    Raises:
        Exception: whatever ``ask`` raises, once the other calls of that moment have ended, so that
            an answer that was paid for is not thrown away.
    """
    try:
        calls = next(debate)
        while True:
            calls = debate.send(await _ask_all(calls, ask))
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        debate.close()


async def _ask_all(calls: Sequence[Call], ask: Ask) -> list[Reply]:
    answers = await asyncio.gather(*(ask(call) for call in calls), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if isinstance(answer, Reply)]
