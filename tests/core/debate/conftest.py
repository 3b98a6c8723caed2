"""What the protocol tests share: a small schema, the real prompts, canned replies."""

from collections.abc import Mapping
from typing import Any

import pytest

from labelhub.core.debate import protocol
from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, schema_from_names
from tests.core.debate.canned import LIBRARY, Play, Start, canned

TEXT = "The soup was cold and the bill was high."


@pytest.fixture
def schema() -> Schema:
    return schema_from_names("multi", ["Food", "Price", "Staff"])


@pytest.fixture
def start(schema: Schema) -> Start:
    """Starts a protocol by name on the sample text, another text, item or schema."""

    def begin(
        name: str, *, text: str = TEXT, item: DebateItem | None = None, asked: Schema = schema
    ) -> Debate:
        info = protocol(name)
        item = item or DebateItem("1", text)
        prompts = {role: LIBRARY.get(name, role) for role in info.roles}
        caller = Caller(item=item, schema=asked, prompts=prompts, salt="s")
        return info.start(item, DebateSpec(asked, caller))

    return begin


@pytest.fixture
def play(start: Start) -> Play:
    """Plays a protocol against canned replies, by role: a text to be read, or a ready reply."""

    def run(name: str, said: Mapping[str, str | Reply], **where: Any) -> Outcome:
        debate = start(name, **where)
        try:
            calls = next(debate)
            while True:
                calls = debate.send([canned(call, said[call.role]) for call in calls])
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome

    return run
