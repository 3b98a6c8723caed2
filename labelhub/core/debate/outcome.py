"""The inputs and outcome of every protocol, and the loop that answers its calls."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Value

#: The rank of an outcome with unknown uncertainty: after those known to be in doubt, before those
#: known to be sure.
UNKNOWN_UNCERTAINTY = 0.5


@dataclass(frozen=True, slots=True)
class Precedent:
    """A labelled item, shown beside the text under debate.

    Attributes:
        key: the item's name within its project.
        label: the name of its label, also on a scale.
        similarity: in [0, 1].
        question: the item's own question, if it is shown.
    """

    key: str
    label: str
    text: str
    similarity: float = 0.0
    question: str = ""


@dataclass(frozen=True, slots=True)
class DebateItem:
    """The text under debate and its context. ``key`` is stable across runs.

    ``precedents`` are verified items in the label order of the schema, the most similar first; for
    the protocol ``predict`` other answers of the item's author.
    """

    key: str
    text: str
    context: tuple[tuple[str, str], ...] = ()
    question: str = ""
    options: tuple[str, ...] = ()
    precedents: tuple[Precedent, ...] = ()


class Untrusted(str):
    """Words of strangers or of other models: prompts show them only between delimiters."""

    __slots__ = ()


class CallMaker(Protocol):
    """Makes a call from a role's prompt; a protocol may do nothing else."""

    def __call__(
        self,
        role: str,
        *,
        step: str = "",
        heard: Mapping[str, Reply] | None = None,
        inputs: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        sample: int = 1,
        once: bool = False,
    ) -> Call:
        """The call for ``role``.

        Args:
            role: the role to ask.
            step: the call's name within its debate; by default the role's name.
            heard: earlier replies; the text of each is the prompt's input of that name.
            inputs: other inputs of the prompt; :class:`Untrusted` texts get delimiters.
            params: parameters of the protocol for the model, such as ``{"temperature": 0.7}``.
            sample: differs between equal calls.
            once: other debates make the same call, and one answer serves all of them.
        """
        ...


@dataclass(frozen=True, slots=True)
class DebateSpec:
    """The constants of a run; ``settings`` are all settings of the protocol."""

    schema: Schema
    call: CallMaker
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a debate.

    Attributes:
        value: None without an offered label: the item then goes to people.
        signals: measures of the certainty of the debate (see ``signals.py``).
        flags: codes of what people should look at. A project's rule (``routing.py``) turns signals
            and flags into the reasons for which people are asked.
        uncertainty: in [0, 1], orders the items for people; None if unknown.
    """

    value: Value | None
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: str = ""
    signals: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    uncertainty: float | None = None
    failed: bool = False


#: A protocol yields lists of calls (a list may run in parallel) and receives lists of replies.
Debate: TypeAlias = Generator[list[Call], list[Reply], Outcome]


Ask: TypeAlias = Callable[[Call], Awaitable[Reply]]


async def run_debate(debate: Debate, ask: Ask) -> Outcome:
    """Run ``debate`` to its end; calls yielded together are asked at the same time.

    To resume, run a new generator with an ``ask`` that answers known steps from storage.

    Raises:
        Exception: an error of ``ask``, after the other calls of that list have ended, so that no
            paid answer is lost.
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
