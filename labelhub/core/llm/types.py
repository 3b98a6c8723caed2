"""What is asked of a model and what comes back: the nouns every other llm module shares."""

import hashlib
import json
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
    TOO_LONG = "too_long"
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


class Output(StrEnum):
    """What an answer is read as; a prompt's front matter says so in ``output``."""

    DECISION = "decision"
    RANKING = "ranking"
    ARGUMENT = "argument"
    QUESTION = "question"
    OFFER = "offer"
    INSTRUCTIONS = "instructions"


class AnswerField(StrEnum):
    """What an answer consists of; a prompt's front matter lists them in order, in ``fields``."""

    REASONING = "reasoning"
    EVIDENCE = "evidence"
    VERDICTS = "verdicts"
    LABEL = "label"
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class TokenChoices:
    """One token of an answer, its log-probability, and what else could have stood there."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one role's model, as a protocol yields it.

    ``step`` names the call within its debate (``extractor``, ``judge/2``) and is its identity for
    resume; ``sample`` tells calls apart that are meant to be alike, such as the five samples of
    self-consistency; ``once`` marks a call that many debates make alike and that is answered once
    for all of them. ``messages`` is all a language model sees; or ``json_messages``, where the
    answer is asked for as JSON: empty where it is not to be. ``fields`` are those of the answer.
    ``text``, ``schema``, ``options``, ``question`` (the item's own, if any), ``heard`` and
    ``inputs`` are the same content unrendered, for models that are not language models.
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
    logprobs: tuple[TokenChoices, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a protocol hears back. A failed call is data (``status``), never an exception.

    ``rung`` is that of the parsing ladder; ``ranking`` the offered answers from best to worst where
    a ranking was asked for; ``probabilities`` those of the offered answers where the label begins,
    or of each label's being in a set, as far as the endpoint tells; ``off_menu`` an answer that is
    not offered; ``cut_off`` tells that the answer ended at the cap on its tokens.
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
        """Whether the answer could be read: a value that the schema offers, or an argument."""
        return self.status is Status.OK


class ChatModel(Protocol):
    """The port to a model: one call in, one completion out."""

    async def complete(self, call: Call) -> Completion:
        """Ask the model; raises a :class:`~labelhub.core.llm.errors.ModelError`."""
        ...


#: Part of every key: raised when what is hashed changes its meaning.
VERSION = 2


def call_key(call: Call, *, endpoint: str, model: str, replicate: int) -> str:
    """The key of ``call``, hexadecimal; empty where chance has a part in the answer.

    Args:
        call: asked at temperature 0, or ``call.once``.
        endpoint: who answers: provider and address.
        model: as the provider spells it, with whatever is set about it that changes its answers.
        replicate: of the run; replicates are meant to differ.
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
    """``value`` with every number spelled in one way: 1, 1.0 and 1e0 are the same."""
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
