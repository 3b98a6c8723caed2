"""From a stored message to its questions: ask the models and store what they say.

Decisions come from ``labelhub.core.interview.pipeline``, a generator without I/O like a debate
protocol. A message that nobody finishes (its process was killed) is taken up again while its moment
lasts, and counted as dropped afterwards.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from apps.authors.database import in_database
from apps.authors.models import Message, Question
from apps.authors.services.limits import ASK, person_of, reserve
from apps.authors.services.spending import count_cost
from apps.authors.services.storing import store, store_failure
from apps.authors.services.taking_up import Task, take_up
from apps.llm.models import ModelSpec
from apps.llm.standing import close_all, standing_gateway
from apps.llm.trying import Patience
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.pipeline import Asked, ask
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.prices import cost_nanousd, estimate_usage
from labelhub.core.llm.types import Call, Completion, Reply, Status, Usage

logger = logging.getLogger(__name__)

LEFT = "The author has left."

Result = TypeVar("Result")

#: An author waits for no retry of minutes.
PATIENCE = Patience(
    attempts=2, first_backoff=0.2, longest_backoff=1.0, total_wait=10.0, for_all=False
)
#: Seconds in which the models must be through with a message: less than whoever asks them has it
#: to themselves (``hearing.LEASE``).
LONGEST = 45.0
#: Seconds for calls whose answer is of use and not needed, by role: what authors taught is expected
#: without it.
WITHIN: Mapping[str, float] = {"predict": 8.0}


class Models(Protocol):
    """Whoever answers calls: a gateway, or what a test wants."""

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """Ask ``spec`` the ``call``."""
        ...


#: Waits until the next calls may be made, or raises where they are not wanted any more.
Ready: TypeAlias = Callable[[], Awaitable[None]]
OpenModels: TypeAlias = Callable[[ModelSpec, Patience], AbstractAsyncContextManager[Models]]


async def _at_once() -> None:
    """Nothing to wait for."""


async def ask_about(
    task: Task,
    open_models: OpenModels = standing_gateway,
    *,
    ready: Ready = _at_once,
    send: bool = False,
) -> list[Question]:
    """Ask the models about a message and store what comes of it; the questions, in their order.

    Args:
        ready: is waited for before each step.
        send: the first question counts as sent: the caller sends it.
    """
    spent: list[int] = []
    site, author = task.message.author.site, task.message.author
    try:
        await ready()
        await in_database(reserve, site, ASK, person_of(author))
        async with open_models(task.spec, PATIENCE) as models:
            asked = await interview(task, models, spent, ready)
    except asyncio.CancelledError:  # the author has left
        await in_database(store_failure, task, "left", LEFT, sum(spent))
        raise
    except LabelhubError as error:
        logger.warning("Message %s: %s", task.message.pk, error)
        stage = {"left": "left", "limit": "budget"}.get(error.code, "model")
        return await in_database(store_failure, task, stage, error.message[:300], sum(spent))
    finally:
        if spent[1:]:  # the first call was counted before it began
            await in_database(count_cost, site.pk, 0, calls=len(spent) - 1)
    return await in_database(store, task, asked, sum(spent), send=send)


def ask_now(message_id: int) -> list[Question]:
    """Take a message up and ask about it, for callers without an event loop."""
    related = ("author__site__project", "author__site__model__provider", "conversation")
    message = Message.objects.select_related(*related).filter(pk=message_id).first()
    task = take_up(message) if message is not None else None
    return asyncio.run(_ask_and_close(task)) if task is not None else []


async def _ask_and_close(task: Task) -> list[Question]:
    try:
        return await ask_about(task)
    finally:
        await close_all()


async def interview(task: Task, models: Models, spent: list[int], ready: Ready = _at_once) -> Asked:
    """Drive the generator: each list of calls in parallel.

    Raises:
        ModelError: the models were not through after :data:`LONGEST` seconds.
    """
    try:
        async with asyncio.timeout(LONGEST):
            steps = ask(task.author_message, task.plan)
            return await drive(steps, task.spec, models, spent, ready)
    except TimeoutError:
        raise ModelError(f"The models were not through after {LONGEST:g} seconds.") from None


async def drive(
    steps: Generator[list[Call], list[Reply], Result],
    spec: ModelSpec,
    models: Models,
    spent: list[int],
    ready: Ready = _at_once,
) -> Result:
    """What a generator of calls comes to; each list is asked in parallel once it is ``ready``, what
    it cost (nanousd) is added to ``spent``."""
    try:
        calls = next(steps)
        while True:
            await ready()
            replies = await asyncio.gather(*(_reply(spec, call, models, spent) for call in calls))
            calls = steps.send(replies)
    except StopIteration as end:
        result: Result = end.value
        return result


async def _reply(spec: ModelSpec, call: Call, models: Models, spent: list[int]) -> Reply:
    try:
        async with asyncio.timeout(WITHIN.get(call.role)):
            completion = await models.complete(spec, call)
    except asyncio.CancelledError:
        spent.append(_cost_of_asking(spec, call))
        raise
    except TimeoutError:
        spent.append(_cost_of_asking(spec, call))
        return Reply(status=Status.FAILED, note=f"No answer in {WITHIN[call.role]:g} seconds.")
    except ModelError as error:
        # What was paid for answers of no use; the call counts where that is nothing.
        spent.append(cost_nanousd(Usage(**error.data.get("usage", {})), **spec.prices) or 0)
        return Reply(status=Status.FAILED, note=error.message)
    spent.append(cost_nanousd(completion.usage, **spec.prices) or 0)
    return read_completion(call, completion)


def _cost_of_asking(spec: ModelSpec, call: Call) -> int:
    """What is given up has been read, and is paid."""
    return cost_nanousd(estimate_usage(call.messages, ""), **spec.prices) or 0
