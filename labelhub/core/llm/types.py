"""What is asked of a model and what comes back: the nouns every other llm module shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from labelhub.core.schema import Schema, Value


class Status(StrEnum):
    """How one call ended. Only ``OK`` carries a value."""

    OK = "ok"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``estimated`` when the provider did not say."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP attempt: status (0 when no answer came), seconds, what was said."""

    http_status: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one role's model, as a protocol yields it.

    ``step`` names the call within its debate (``extractor``, ``judge/2``) and is its identity for
    resume. ``messages`` is all a language model sees; ``text``, ``schema``, ``options``,
    ``question`` (the item's own, if any) and ``heard`` are the same content unrendered, for models
    that are not language models.
    """

    step: str
    role: str
    messages: tuple[Message, ...]
    prompt_hash: str
    schema: Schema
    text: str
    options: tuple[str, ...] = ()
    heard: Mapping[str, "Reply"] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, before anybody has read a label out of it."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model_answered: str = ""
    reasoning: str = ""
    refusal: str = ""
    effective_params: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a protocol hears back. A failed call is data (``status``), never an exception."""

    text: str = ""
    value: Value | None = None
    status: Status = Status.OK
    rung: int = 0
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether a value that the schema offers was read."""
        return self.status is Status.OK


class ChatModel(Protocol):
    """The port to a model: one call in, one completion out."""

    async def complete(self, call: Call) -> Completion:
        """Ask the model; raises a :class:`~labelhub.core.llm.errors.ModelError`."""
        ...
