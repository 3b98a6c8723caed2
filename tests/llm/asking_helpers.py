"""What the gateway's tests share: a call, models without a database, patience without waiting."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from apps.llm.call_metrics import Use
from apps.llm.capabilities import Capability
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Patience
from apps.llm.traffic import Memory
from labelhub.core.llm.types import Call, Message
from labelhub.core.schema import schema_from_names
from tests.fakes.openai_server import FakeServer

SCHEMA = schema_from_names("multi", ["Cleanliness", "Price"])
MENU = (
    "These are the aspects that can be present. None, some or all of them may be; "
    "no others exist:\n- Cleanliness\n  What it means: clean or dirty\n- Price"
)


def make_call(text: str = "The price was fair.", **params: Any) -> Call:
    """A call in the shape of our prompts."""
    messages = (
        Message("system", MENU),
        Message("user", f'<text id="0a">\n{text}\n</text id="0a">'),
    )
    return Call("annotator", "annotator", messages, "0" * 64, SCHEMA, text, params=params)


def make_json_call(**params: Any) -> Call:
    """A call whose answer may be asked for as JSON."""
    asked = Message("user", 'Answer with one JSON object: {"labels": []}')
    call = make_call(**params)
    return replace(call, fields=("label",), json_messages=(call.messages[0], asked))


def make_spec(server: FakeServer | None = None, *, pk: int = 1, **changes: Any) -> ModelSpec:
    """A model of ``server`` that is in no database."""
    provider = {"read_timeout": 5.0, "connect_timeout": 2.0} | changes.pop("provider", {})
    base_url = provider.pop("base_url", server.base_url if server else "")
    made = Provider(pk=pk, name=f"provider{pk}", base_url=base_url, **provider)
    return ModelSpec(
        pk=pk, provider=made, **({"name": f"model-{pk}", "thinking_tokens": 0} | changes)
    )


@dataclass
class Sleeper:
    """Sleeps for no time and remembers how long it should have."""

    slept: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        """Give way to others once."""
        self.slept.append(seconds)
        await asyncio.sleep(0)


@dataclass
class Learnt(Memory):
    """Keeps what would go to the database."""

    seen: list[Capability] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)
    used: tuple[int, int] = (0, 0)
    limited: Mapping[str, float] = field(default_factory=dict)

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep it, and let the object know."""
        self.seen.append(capability)
        setattr(spec, capability.field, capability.value)

    async def used_today(self, provider: Provider) -> tuple[int, int]:
        """What was added."""
        return self.used

    async def keep_limits(self, provider: Provider, learnt: Mapping[str, int]) -> None:
        """Keep them."""
        self.limits = dict(learnt)

    async def add_use(self, provider: Provider, use: Use) -> None:
        """Add it."""
        self.used = (self.used[0] + use.requests, self.used[1] + use.tokens)

    async def keep_limited(self, provider: Provider, limited: Mapping[str, float]) -> None:
        """Keep them."""
        self.limited = provider.rate_limited = dict(limited)


@asynccontextmanager
async def opened(
    *specs: ModelSpec, sleeper: Sleeper | None = None, learnt: Learnt | None = None, **patience: Any
) -> AsyncIterator[Gateway]:
    """A gateway that never waits and never touches a database."""
    quick = Patience(sleep=sleeper or Sleeper(), jitter=lambda: 1.0, **patience)
    async with Gateway.open(specs, patience=quick, memory=learnt or Learnt()) as gateway:
        yield gateway
