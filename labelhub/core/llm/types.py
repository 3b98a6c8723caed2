"""Calls to models and their answers: the types that all llm modules share."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from labelhub.core.schema import Schema, Value


class Status(StrEnum):
    """How a call ended. Only ``OK`` has a value."""

    OK = "ok"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    TOO_LONG = "too_long"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one call; ``estimated`` if the provider reported none."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP attempt: status (0 without an answer), seconds, and a note."""

    http_status: int
    seconds: float
    note: str = ""


class Output(StrEnum):
    """How an answer is read; the field ``output`` in a prompt's front matter."""

    DECISION = "decision"
    RANKING = "ranking"
    ARGUMENT = "argument"
    QUESTION = "question"
    OFFER = "offer"


class AnswerField(StrEnum):
    """The parts of an answer; ``fields`` in a prompt's front matter lists them in order."""

    REASONING = "reasoning"
    EVIDENCE = "evidence"
    VERDICTS = "verdicts"
    LABEL = "label"
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class TokenChoices:
    """One token of an answer, its log-probability, and its alternatives."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the model of a role, which a protocol yields.

    Attributes:
        step: the call's name within its debate (``extractor``, ``judge/2``) and its identity for
            resume.
        messages: all that a language model sees.
        json_messages: the same with a request for JSON; empty if the answer is not JSON.
        fields: the parts of the answer.
        sample: differs between equal calls, such as the five samples of self-consistency.
        once: many debates make this call, and one answer serves all of them.
        text, schema, options, question, heard, inputs: the same content unrendered, for models that
            are no language models; ``question`` is the item's own.
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
    inputs: Mapping[str, Any] = field(default_factory=dict)
    output: str = Output.DECISION
    sample: int = 1
    once: bool = False
    fields: tuple[str, ...] = ()
    json_messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model, before a label is read from it."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model_answered: str = ""
    reasoning: str = ""
    refusal: str = ""
    effective_params: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    logprobs: tuple[TokenChoices, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer that a protocol receives. A failed call is data (``status``), not an exception.

    Attributes:
        rung: of the parsing ladder.
        ranking: the offered answers from best to worst, if a ranking was requested.
        probabilities: of the offered answers at the start of the label, or of each label to be in
            the set; empty if the endpoint reports none.
        off_menu: an answer that is not offered.
        cut_off: the answer reached its token limit.
    """

    text: str = ""
    value: Value | None = None
    status: Status = Status.OK
    rung: int = 0
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""
    ranking: tuple[Value, ...] = ()
    probabilities: Mapping[str, float] = field(default_factory=dict)
    off_menu: str = ""
    cut_off: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is an answer: a value that the schema offers, or an argument."""
        return self.status is Status.OK


class ChatModel(Protocol):
    """The interface of a model: one call in, one completion out."""

    async def complete(self, call: Call) -> Completion:
        """Ask the model; may raise :class:`~labelhub.core.llm.errors.ModelError`."""
        ...


#: Part of every key: increase it if the hashed content changes its meaning.
VERSION = 2


def call_key(call: Call, *, endpoint: str, model: str, replicate: int) -> str:
    """The key of ``call``, hexadecimal; empty if the answer depends on chance.

    Args:
        call: asked at temperature 0, or ``call.once``.
        endpoint: provider and address.
        model: the provider's name of it, with all settings that change its answers.
        replicate: of the run; replicates differ on purpose.
    """
    if not call.once and _number(call.params.get("temperature")) != 0:
        return ""
    content = [
        VERSION,
        endpoint,
        model,
        [[message.role, message.content] for message in call.json_messages or call.messages],
        _plain({name: value for name, value in call.params.items() if value is not None}),
        0 if call.once else call.sample,
        0 if call.once else replicate,
    ]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    """``value`` with all numbers in one form: 1, 1.0 and 1e0 are the same."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    number = _number(value)
    return value if number is None else repr(number)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
