"""What every protocol takes in and gives back, and how its calls meet whoever answers them."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Value

#: Where an outcome whose uncertainty is not known stands among the others: after those that are
#: known to be in doubt, before those that are known to be sure.
UNKNOWN_UNCERTAINTY = 0.5


@dataclass(frozen=True, slots=True)
class Precedent:
    """An item with a label, shown beside the text under debate.

    ``key`` names the item within its project; ``label`` is the name of its label, also on a scale;
    ``similarity`` is in [0, 1]; ``question`` is the item's own, where that is shown.
    """

    key: str
    label: str
    text: str
    similarity: float = 0.0
    question: str = ""


@dataclass(frozen=True, slots=True)
class DebateItem:
    """The text under debate, with what belongs to it. ``key`` is stable across runs.

    ``precedents`` are verified items, ordered by label as the schema lists them, the most similar
    first; for the protocol ``predict`` other answers of the item's author.
    """

    key: str
    text: str
    context: tuple[tuple[str, str], ...] = ()
    question: str = ""
    options: tuple[str, ...] = ()
    precedents: tuple[Precedent, ...] = ()


class Untrusted(str):
    """Words of strangers or of other models: a prompt shows them between delimiters only."""

    __slots__ = ()


class CallMaker(Protocol):
    """Renders a role's prompt into a call; the only thing a protocol may ask for."""

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
            role: who is asked.
            step: the call's name within its debate; the role's name where it speaks once.
            heard: earlier replies; the text of each fills the prompt's input of that name.
            inputs: other inputs of the prompt, whatever is :class:`Untrusted` in them delimited.
            params: what the protocol asks of the model, such as ``{"temperature": 0.7}``.
            sample: tells apart calls that are meant to be alike.
            once: other debates make the same call; its answer may be theirs.
        """
        ...


@dataclass(frozen=True, slots=True)
class DebateSpec:
    """What stays the same for every item of a run; ``settings`` are the protocol's, complete."""

    schema: Schema
    call: CallMaker
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a debate ended.

    ``value`` is None when no offered label was reached: the item then goes to people.
    ``signals`` say how sure the debate was (see ``signals.py``), ``flags`` are the codes of what is
    to be looked at; a project's rule (``routing.py``) makes of both the reasons for which people
    are asked. ``uncertainty`` in [0, 1] orders what they are asked; None where nothing told it.
    """

    value: Value | None
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: str = ""
    signals: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    uncertainty: float | None = None
    failed: bool = False


#: A protocol yields lists of calls (a list may run in parallel) and hears lists of replies.
Debate: TypeAlias = Generator[list[Call], list[Reply], Outcome]


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
