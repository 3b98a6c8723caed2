"""What the protocol tests share: a small schema of several labels, played by canned replies."""

from collections.abc import Mapping
from typing import Any

import pytest

from labelhub.core.debate.outcome import Debate, Outcome
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, schema_from_names
from tests.core.debate.canned import Play, Start, opened, played


@pytest.fixture
def schema() -> Schema:
    return schema_from_names("multi", ["Food", "Price", "Staff"])


@pytest.fixture
def start(schema: Schema) -> Start:
    """Starts a protocol by name on the sample text, another text, item or schema."""

    def begin(name: str, **where: Any) -> Debate:
        return opened(name, **{"asked": schema, **where})

    return begin


@pytest.fixture
def play(schema: Schema) -> Play:
    """Plays a protocol against canned replies to its end."""

    def run(name: str, replies: Mapping[str, str | Reply], **where: Any) -> Outcome:
        return played(name, replies, **{"asked": schema, **where}).outcome

    return run
