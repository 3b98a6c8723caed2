"""What goes over the wire and what comes back, as plain data: no client, no database."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan
from typing import Any

from apps.llm.extras import check_extra_body
from apps.llm.failures import error_in
from apps.llm.models import ModelSpec
from apps.llm.structured import response_format
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Call, Completion, Message, TokenChoices, Usage

#: Parameters of a call that a chat-completions endpoint knows; others are ours and stay here.
SENDABLE = (
    "temperature",
    "top_p",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "response_format",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
)
#: What a model with a fixed temperature refuses together with it.
SAMPLING = ("temperature", "top_p")


#: The most room for thinking that is ever added to a cap; providers of models that think recommend
#: about as much. And the longest answer that is asked for because of it, tokens.
MOST_ROOM = 32_768
MOST_ANSWER = 65_536
#: The part of a known context that an answer with its thinking may take.
PART_OF_CONTEXT = 0.75

#: What every answer has that a model has written, and what tells its price.
_WRITTEN = re.compile(rb'"(?:choices|usage|data)"')
#: How endpoints say that an answer ended for want of room, in lower case; we say ``length``.
_CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_length")
#: A count above this is a fault of whoever counted, and more than a turn can hold.
MOST_TOKENS = 10**8
#: Alternatives to ask for at each token: as many as every endpoint gives that gives any.
TOP_LOGPROBS = 5
#: No answer of ours has more tokens, none of them more choices.
MOST_READ_TOKENS, MOST_CHOICES = 20_000, 20
#: Stands for "never": some endpoints send it in place of minus infinity, which is not JSON.
NEVER = -9999.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is an answer, and neither an error nor a redirection."""
        return 200 <= self.status < 300


class Malformed(ValueError):
    """An answer with status 200 that is not a chat completion."""


class ErrorTold(Malformed):
    """An answer with status 200 that tells an ``error``, after ``length`` characters of text."""

    def __init__(self, error: Any, length: int = 0) -> None:
        super().__init__("the answer tells an error")
        self.error, self.length = error, length


def build_request(
    spec: ModelSpec,
    call: Call,
    *,
    max_tokens: int | None = None,
    plain: bool = False,
    structured: str | None = None,
) -> dict[str, Any]:
    """The JSON body for ``call``, with what ``spec`` is known not to take left out or renamed.

    ``max_tokens`` overrides the cap of the call, which overrides the cap of the model. ``plain``
    asks for free text whatever form the call wants, ``structured`` for another form than the usual
    one. The messages are those that ask for the form sent.
    """
    form = None if plain else response_format(spec, call, structured)
    params = {**call.params, "response_format": form}
    messages = call.json_messages if form and call.json_messages else call.messages
    return build_chat(spec, messages, params, max_tokens=max_tokens)


def build_chat(
    spec: ModelSpec,
    messages: Sequence[Message],
    params: Mapping[str, Any],
    *,
    max_tokens: int | None = None,
) -> dict[str, Any]:
    """The JSON body for ``messages``; see :func:`build_request`."""
    asked = {key: params[key] for key in SENDABLE if params.get(key) is not None}
    asked |= _decided(spec) | _alternatives(asked)
    left_out = _not_taken(spec)
    kept = {key: sent for key, sent in asked.items() if sent is not None and key not in left_out}
    kept[spec.max_tokens_param] = max_tokens or longest_output(spec, params)
    return {
        "model": spec.name,
        "messages": _messages(spec, messages),
        **kept,
        **check_extra_body(spec.extra_body),
    }


def _decided(spec: ModelSpec) -> dict[str, Any]:
    """What the model's row says in place of the call."""
    decided: dict[str, Any] = {}
    if spec.fixed_temperature is not None:
        decided |= {"temperature": spec.fixed_temperature, "top_p": None}
    if spec.reasoning_effort:
        decided["reasoning_effort"] = spec.reasoning_effort
    return decided


def _alternatives(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Log-probabilities are of no use without the alternatives, which may not be asked for alone.

    Source: API reference of chat completions, ``top_logprobs``.
    """
    if not asked.get("logprobs"):
        return {"top_logprobs": None}
    return {"top_logprobs": asked.get("top_logprobs", TOP_LOGPROBS)}


def _not_taken(spec: ModelSpec) -> set[str]:
    """The parameters that this model does not take."""
    taken = {
        SAMPLING: spec.takes_temperature,
        ("seed",): spec.takes_seed,
        ("stop",): spec.takes_stop,
        ("logprobs", "top_logprobs"): spec.logprobs,
        ("reasoning_effort",): spec.reasoning_effort != ModelSpec.Effort.OMIT,
    }
    return {name for names, takes in taken.items() if not takes for name in names}


def output_cap(spec: ModelSpec, call: Call, *, thinking: bool = True) -> int:
    """The most tokens this call may be answered with; without ``thinking``, in words alone."""
    if thinking:
        return longest_output(spec, call.params)
    return int(call.params.get("max_tokens") or spec.max_output_tokens)


def longest_output(spec: ModelSpec, params: Mapping[str, Any]) -> int:
    """The most tokens of an answer that is asked for with ``params``, with the room that the model
    is known to need for thinking."""
    words = int(params.get("max_tokens") or spec.max_output_tokens)
    return max(words, min(words + (spec.thinking_tokens or 0), _most_written(spec)))


def doubled_cap(spec: ModelSpec, call: Call) -> int | None:
    """Twice the room for words, or as much of it as the model can have; None where that is no more
    than ``call`` had."""
    words = output_cap(spec, call, thinking=False)
    more = min(2 * words, _most_written(spec))
    larger = longest_output(spec, {"max_tokens": more}) > output_cap(spec, call)
    return more if more > words and larger else None


def _most_written(spec: ModelSpec) -> int:
    most = spec.output_limit or MOST_ANSWER
    return min(most, int(PART_OF_CONTEXT * spec.context_tokens)) if spec.context_tokens else most


def effective_params(request: Mapping[str, Any]) -> dict[str, Any]:
    """What was really sent beside the model's name and the messages."""
    return {key: sent for key, sent in request.items() if key not in ("model", "messages")}


def read_completion(body: bytes, request: Mapping[str, Any]) -> Completion:
    """Read the answer to ``request``.

    Raises:
        ErrorTold: it says that something went wrong.
        Malformed: it is not JSON, or holds no choice.
    """
    data = read_json(body)
    choice = _first_choice(data)
    message = choice["message"]
    text, reasoning = _written(message)
    usage = read_usage(data.get("usage"), request, reasoning + text)
    reason = _finish_reason(choice) or "stop"
    # Some endpoints say "stop" of an answer that has used up all of its tokens.
    cut_off = reason == "stop" and not usage.estimated and usage.tokens_out == _cap_of(request)
    return Completion(
        text=text,
        finish_reason="length" if cut_off else reason,
        usage=usage,
        model_answered=clean(str(data.get("model") or "")),
        reasoning=reasoning,
        refusal=_text_of(message.get("refusal")),
        effective_params=effective_params(request),
        logprobs=read_logprobs(choice.get("logprobs")),
    )


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event of a streamed answer adds; ``raw_usage`` as the endpoint told it."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    raw_usage: Any = None


def read_json(body: bytes) -> Any:
    """What an answer with status 200 holds.

    Raises:
        ErrorTold: it says that something went wrong.
        Malformed: it is not JSON.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("the answer is not JSON") from None
    _check_error(found)
    return found


def _check_error(found: Any) -> None:
    """Raises: ErrorTold."""
    if error := error_in(found):
        holder = found if isinstance(found, Mapping) else {}
        raise ErrorTold(error, len("".join(_written(_said_in(_choice_of(holder))))))


def written_in(body: bytes) -> int:
    """How long an answer is that cannot be read, where a model may have written it: what a proxy
    says in its place costs nothing."""
    return len(body) if _WRITTEN.search(body) else 0


def read_delta(event: Any) -> Delta:
    """Read one event of a streamed answer; one without anything of use adds nothing.

    Raises:
        ErrorTold: it says that something went wrong.
        Malformed: it is no JSON object.
    """
    if not isinstance(event, Mapping):
        raise Malformed("a part of the answer is not a JSON object")
    _check_error(event)
    choice = _choice_of(event)
    text, reasoning = _written(_said_in(choice))
    return Delta(
        text=text,
        reasoning=reasoning,
        finish_reason=_finish_reason(choice),
        raw_usage=event.get("usage"),
    )


def read_model_names(body: bytes) -> list[str]:
    """The model names in the answer to ``GET /models``, sorted.

    Raises:
        Malformed: it is not such a list.
    """
    data = read_json(body)
    try:
        return sorted(clean(str(row["id"])) for row in data["data"])
    except (TypeError, KeyError):
        raise Malformed("the answer is not a list of models") from None


def add_usage(first: Usage, second: Usage) -> Usage:
    """Tokens of two requests that together answer one call."""
    return replace(
        second,
        tokens_in=first.tokens_in + second.tokens_in,
        tokens_out=first.tokens_out + second.tokens_out,
        tokens_cached=first.tokens_cached + second.tokens_cached,
        tokens_reasoning=first.tokens_reasoning + second.tokens_reasoning,
        estimated=first.estimated or second.estimated,
    )


def _messages(spec: ModelSpec, messages: Sequence[Message]) -> list[dict[str, str]]:
    if spec.system_role == ModelSpec.SystemRole.MERGE:
        messages = _merged(messages)
    return [
        {
            "role": str(spec.system_role) if message.role == "system" else message.role,
            "content": clean(message.content),
        }
        for message in messages
    ]


def _merged(messages: Sequence[Message]) -> list[Message]:
    """Put what the system said in front of the first thing the user says."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not system:
        return rest
    if not rest or rest[0].role != "user":
        return [Message("user", system), *rest]
    return [Message("user", f"{system}\n\n{rest[0].content}"), *rest[1:]]


def _first_choice(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise Malformed("the answer is not a JSON object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Malformed("the answer has no choices")
    choice = choices[0]
    if not isinstance(choice, Mapping) or not isinstance(choice.get("message"), Mapping):
        raise Malformed("the answer has no message")
    return choice


def _choice_of(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice, as far as there is one."""
    choices = holder.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}


def _said_in(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some endpoints that cannot stream send the whole message as their only event."""
    message = choice["delta"] if "delta" in choice else choice.get("message")
    return message if isinstance(message, Mapping) else {}


def _finish_reason(choice: Mapping[str, Any]) -> str:
    reason = clean(str(choice.get("finish_reason") or "")).lower()
    return "length" if reason in _CUT_OFF else reason


def _written(message: Mapping[str, Any]) -> tuple[str, str]:
    """Its text, and the thoughts that are shown beside it."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return _text_of(message.get("content")), _text_of(reasoning)


def _text_of(content: Any) -> str:
    """Text as a string; some gateways send a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    return clean(content) if isinstance(content, str) else ""


def read_usage(raw: Any, request: Mapping[str, Any], answer: str) -> Usage:
    """The tokens that an endpoint counted for ``request`` and what was written; an estimate where
    it told none."""
    counts = raw if isinstance(raw, Mapping) else {}
    tokens_in, tokens_out = (
        token_count(counts, "prompt_tokens"),
        token_count(counts, "completion_tokens"),
    )
    # No request is without tokens, nor any text: a zero is no count.
    if not tokens_in or tokens_out is None or (answer and not tokens_out):
        guessed = estimate_usage((Message(**message) for message in request["messages"]), answer)
        return replace(guessed, tokens_out=min(guessed.tokens_out, _cap_of(request)))
    return Usage(
        tokens_in,
        tokens_out,
        tokens_cached=token_count(counts.get("prompt_tokens_details"), "cached_tokens") or 0,
        tokens_reasoning=token_count(counts.get("completion_tokens_details"), "reasoning_tokens")
        or 0,
    )


def _cap_of(request: Mapping[str, Any]) -> int:
    """The most tokens of the answer, as sent: nobody is paid for more."""
    return int(request.get("max_tokens") or request.get("max_completion_tokens") or MOST_TOKENS)


def token_count(holder: Any, key: str) -> int | None:
    """The count that ``holder`` has under ``key``; None where it has none that can be used."""
    counted = holder.get(key) if isinstance(holder, Mapping) else None
    if isinstance(counted, bool) or not isinstance(counted, int):
        return None
    return counted if 0 <= counted <= MOST_TOKENS else None


def read_logprobs(raw: Any) -> tuple[TokenChoices, ...]:
    """The tokens in order, from ``choices[0].logprobs``; empty where any of them cannot be read.

    Never raises: a token that is missing would shift all that follow, so then none is told.
    """
    content = raw.get("content") if isinstance(raw, Mapping) else None
    if not isinstance(content, list):
        return ()
    read = [_token(token) for token in content[:MOST_READ_TOKENS]]
    return tuple(token for token in read if token is not None) if None not in read else ()


def _token(raw: Any) -> TokenChoices | None:
    found = _choice(raw)
    if found is None:
        return None
    top = raw.get("top_logprobs")
    choices: Iterable[Any] = top if isinstance(top, list) else ()
    alternatives = (_choice(choice) for choice in islice(choices, MOST_CHOICES))
    return TokenChoices(*found, top=tuple(choice for choice in alternatives if choice is not None))


def _choice(raw: Any) -> tuple[str, float] | None:
    if not isinstance(raw, Mapping):
        return None
    token, logprob = raw.get("token"), raw.get("logprob")
    if not isinstance(token, str) or isinstance(logprob, bool):
        return None
    # Whole numbers may be too large for a float, and are none that is no number.
    if not isinstance(logprob, int | float) or (isinstance(logprob, float) and isnan(logprob)):
        return None
    # Rounding makes some certain tokens a hair more than certain.
    return clean(token), float(max(NEVER, min(0, logprob)))


def clean(text: str) -> str:
    """``text`` without NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
