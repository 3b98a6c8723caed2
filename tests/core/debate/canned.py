"""Canned replies, and the real prompts, for the protocol tests."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from labelhub.core.debate import protocol
from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import Ask, Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Reply, Status
from labelhub.core.prompts import PromptLibrary
from labelhub.core.schema import Schema, schema_from_names

LIBRARY = PromptLibrary(Path(__file__).parents[3] / "prompts")
TEXT = "The soup was cold and the bill was high."
STANCE = schema_from_names("single", ["Dovish", "Hawkish", "Neutral"])
FAILED = Reply(status=Status.FAILED, note="no answer")
REFUSED = Reply("I'm sorry, I cannot help.", status=Status.REFUSED)
UNREAD = Reply("Hard to say.", status=Status.UNPARSED)

Start: TypeAlias = Callable[..., Debate]
Play: TypeAlias = Callable[..., Outcome]
Replies: TypeAlias = Mapping[str, str | Reply]


@dataclass(frozen=True)
class Played:
    """A debate that was played: what was asked at once, one list for each time, and the end."""

    asked: list[list[Call]]
    outcome: Outcome

    @property
    def steps(self) -> list[list[str]]:
        return [[call.step for call in calls] for calls in self.asked]

    def call(self, step: str) -> Call:
        return next(call for calls in self.asked for call in calls if call.step == step)

    def read(self, step: str) -> str:
        """All that was read at that step."""
        return "\n".join(message.content for message in self.call(step).messages)


def opened(
    name: str,
    *,
    text: str = TEXT,
    item: DebateItem | None = None,
    asked: Schema = STANCE,
    given: Mapping[str, Any] | None = None,
    guideline: str = "",
) -> Debate:
    """A debate at its beginning, with the prompts of the project; ``given`` are settings."""
    info = protocol(name)
    settings = info.read_settings(given or {})
    prompts = {part.role: LIBRARY.get(*part.prompt.split("/")) for part in info.parts(settings)}
    item = item or DebateItem("1", text)
    caller = Caller(item=item, schema=asked, prompts=prompts, salt="s", guideline=guideline)
    return info.start(item, DebateSpec(asked, caller, settings))


def played(name: str, replies: Replies, **where: Any) -> Played:
    """A debate played against canned replies: a text to be read, or a ready reply.

    They are found by step, else by role, else under ``*``.
    """
    debate = opened(name, **where)
    asked = []
    try:
        calls = next(debate)
        while True:
            asked.append(calls)
            calls = debate.send([canned(call, _line(call, replies)) for call in calls])
    except StopIteration as end:
        return Played(asked, end.value)


def canned(call: Call, answer: str | Reply) -> Reply:
    """``said`` as the protocol would hear it."""
    if isinstance(answer, Reply):
        return answer
    return read_completion(call, Completion(answer))


def answering(replies: Replies) -> Ask:
    """An ``ask`` for the driver out of canned replies."""

    async def ask(call: Call) -> Reply:
        return canned(call, _line(call, replies))

    return ask


def says(answer: str) -> str:
    """An answer with its decision alone."""
    return f"Final Decision: {answer}"


def fenced(text: str) -> list[str]:
    """What stands between delimiters in a prompt, in order."""
    found = re.findall(
        r'^<text id="(\w{8})">\n(.*?)\n</text id="\1">$', text, re.DOTALL | re.MULTILINE
    )
    return [inside for _, inside in found]


def _line(call: Call, replies: Replies) -> str | Reply:
    return next(replies[key] for key in (call.step, call.role, "*") if key in replies)
