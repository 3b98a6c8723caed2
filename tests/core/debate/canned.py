"""Canned replies, and the real prompts, for the protocol tests."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from labelhub.core.debate.driver import Ask
from labelhub.core.debate.outcome import Debate, Outcome
from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import PromptLibrary

LIBRARY = PromptLibrary(Path(__file__).parents[3] / "prompts")

Start: TypeAlias = Callable[..., Debate]
Play: TypeAlias = Callable[..., Outcome]


def canned(call: Call, said: str | Reply) -> Reply:
    """``said`` as the protocol would hear it."""
    if isinstance(said, Reply):
        return said
    return read_answer(said, call.schema, call.options, source=call.text)


def answering(said: Mapping[str, str | Reply]) -> Ask:
    """An ``ask`` for the driver out of canned replies."""

    async def ask(call: Call) -> Reply:
        return canned(call, said[call.role])

    return ask
