"""A model that says what it was told to: for tests and replays, never for labelling."""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TypeAlias

from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call, Completion

Scripted: TypeAlias = str | Completion | ModelError
Answerer: TypeAlias = Callable[[Call], Scripted]


class NothingScripted(ModelError):
    """A role was asked for which no answer is left."""

    code = "nothing_scripted"


class ScriptedModel:
    """A :class:`~labelhub.core.llm.types.ChatModel` with an answer book; ``history`` has all calls.

    A role's queue is used up first, then its standing answer. An error in the script is raised.
    """

    def __init__(self) -> None:
        self.history: list[Call] = []
        self._queues: defaultdict[str, deque[Scripted]] = defaultdict(deque)
        self._standing: dict[str, Answerer] = {}

    def enqueue(self, role: str, *answers: Scripted) -> "ScriptedModel":
        """The next answers of ``role``, each given once; returns itself for chaining."""
        self._queues[role].extend(answers)
        return self

    def always(self, role: str, answer: Scripted | Answerer) -> "ScriptedModel":
        """What ``role`` answers when its queue is empty; a function is called with the call."""
        self._standing[role] = answer if callable(answer) else lambda _: answer
        return self

    async def complete(self, call: Call) -> Completion:
        """The scripted answer.

        Raises:
            ModelError: the script says so, or has nothing left for the role.
        """
        self.history.append(call)
        answer = self._next(call)
        if isinstance(answer, ModelError):
            raise answer
        return Completion(text=answer) if isinstance(answer, str) else answer

    def _next(self, call: Call) -> Scripted:
        if self._queues[call.role]:
            return self._queues[call.role].popleft()
        if call.role in self._standing:
            return self._standing[call.role](call)
        raise NothingScripted(f"No answer is scripted for the role '{call.role}'.")
