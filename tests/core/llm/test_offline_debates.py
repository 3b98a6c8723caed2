"""Whole debates played by the offline model, with the real prompts: help for its other tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelhub.core.debate.calls import Caller
from labelhub.core.debate.driver import run_debate
from labelhub.core.debate.outcome import DebateItem, DebateSpec, Outcome
from labelhub.core.debate.protocols import protocol
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import PromptLibrary
from labelhub.core.schema import Schema

LIBRARY = PromptLibrary(Path(__file__).parents[3] / "prompts")


async def played(
    name: str,
    schema: Schema,
    item: DebateItem,
    chosen: Mapping[str, Any] | None = None,
    said: dict[str, Reply] | None = None,
) -> Outcome:
    """How a debate of the offline model with itself ends; ``said`` takes what each step said."""
    info = protocol(name)
    settings = info.read_settings(chosen or {})
    prompts = {p.role: LIBRARY.get(*p.prompt.split("/")) for p in info.parts(settings)}
    caller = Caller(item=item, schema=schema, prompts=prompts, salt="s")

    async def ask(call: Call) -> Reply:
        reply = read_completion(call, await OfflineModel().complete(call))
        if said is not None:
            said[call.step] = reply
        return reply

    return await run_debate(info.start(item, DebateSpec(schema, caller, settings)), ask)
