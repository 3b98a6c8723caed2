"""Requests and answers as plain data: no client, no database."""

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

#: Parameters of a call that a chat-completions endpoint knows; others are not sent.
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
#: Parameters that a model with a fixed temperature refuses.
SAMPLING = ("temperature", "top_p")

#: Maximum room for thinking that is added to a cap, about as much as providers recommend, and the
#: maximum cap that includes such room; in tokens.
MOST_ROOM = 32_768
MOST_ANSWER = 65_536
#: The share of a known context that an answer with its thinking may take.
PART_OF_CONTEXT = 0.75

#: A key that every answer of a model has, unlike pages of proxies.
_WRITTEN = re.compile(rb'"(?:choices|usage|data)"')
#: Finish reasons of answers that reached their cap, in lower case; ours is ``length``.
_CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_length")
#: Larger counts are errors of the endpoint, and too large for a turn.
MOST_TOKENS = 10**8
#: Requested alternatives at each token; every endpoint with alternatives returns so many.
TOP_LOGPROBS = 5
#: Maximum tokens to read, and maximum choices of each.
MOST_READ_TOKENS, MOST_CHOICES = 20_000, 20
#: Means "never": some endpoints send it instead of minus infinity, which is not JSON.
NEVER = -9999.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is an answer, and neither an error nor a redirection."""
        return 200 <= self.status < 300


class Malformed(ValueError):
    """An answer with status 200 that is not a chat completion."""


class ErrorAnswer(Malformed):
    """An answer with status 200 and an ``error``, after ``length`` characters of text."""

    def __init__(self, error: Any, length: int = 0) -> None:
        super().__init__("the answer contains an error")
        self.error, self.length = error, length


def build_request(
    spec: ModelSpec,
    call: Call,
    *,
    max_tokens: int | None = None,
    plain: bool = False,
    structured: str | None = None,
) -> dict[str, Any]:
    """The JSON body for ``call``, without the parameters that ``spec`` does not accept.

    ``max_tokens`` overrides the cap of the call, which overrides the cap of the model. ``plain``
    asks for free text instead of the call's form, ``structured`` for another form than the usual
    one. The messages fit the form.
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
    # The model's row overrides the call.
    if spec.fixed_temperature is not None:
        asked |= {"temperature": spec.fixed_temperature, "top_p": None}
    if spec.reasoning_effort:
        asked["reasoning_effort"] = spec.reasoning_effort
    # Log-probabilities are useless without the alternatives, which need them.
    # Source: API reference of chat completions, ``top_logprobs``.
    logprobs = asked.get("logprobs")
    asked["top_logprobs"] = asked.get("top_logprobs", TOP_LOGPROBS) if logprobs else None
    left_out = _unsupported_params(spec)
    kept = {key: sent for key, sent in asked.items() if sent is not None and key not in left_out}
    kept[spec.max_tokens_param] = max_tokens or longest_output(spec, params)
    return {
        "model": spec.name,
        "messages": _messages(spec, messages),
        **kept,
        **check_extra_body(spec.extra_body),
    }


def _unsupported_params(spec: ModelSpec) -> set[str]:
    """The parameters that this model does not accept."""
    taken = {
        SAMPLING: spec.takes_temperature,
        ("seed",): spec.takes_seed,
        ("stop",): spec.takes_stop,
        ("logprobs", "top_logprobs"): spec.logprobs,
        ("reasoning_effort",): spec.reasoning_effort != ModelSpec.Effort.OMIT,
    }
    return {name for names, takes in taken.items() if not takes for name in names}


def output_cap(spec: ModelSpec, call: Call, *, thinking: bool = True) -> int:
    """The maximum tokens of an answer to this call; without ``thinking``, of its words only."""
    if thinking:
        return longest_output(spec, call.params)
    return int(call.params.get("max_tokens") or spec.max_output_tokens)


def longest_output(spec: ModelSpec, params: Mapping[str, Any]) -> int:
    """The maximum tokens of an answer to a call with ``params``, with the model's known room for
    thinking."""
    words = int(params.get("max_tokens") or spec.max_output_tokens)
    return max(words, min(words + (spec.thinking_tokens or 0), _most_written(spec)))


def doubled_cap(spec: ModelSpec, call: Call) -> int | None:
    """Twice the room for words, within the model's limits; None if that is not larger."""
    words = output_cap(spec, call, thinking=False)
    more = min(2 * words, _most_written(spec))
    larger = longest_output(spec, {"max_tokens": more}) > output_cap(spec, call)
    return more if more > words and larger else None


def _most_written(spec: ModelSpec) -> int:
    most = spec.output_limit or MOST_ANSWER
    return min(most, int(PART_OF_CONTEXT * spec.context_tokens)) if spec.context_tokens else most


def effective_params(request: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that were sent, without the model's name and the messages."""
    return {key: sent for key, sent in request.items() if key not in ("model", "messages")}


def read_completion(body: bytes, request: Mapping[str, Any]) -> Completion:
    """Read the answer to ``request``.

    Raises:
        ErrorAnswer: it contains an error.
        Malformed: it is not JSON, or has no choice.
    """
    data = read_json(body)
    choice = _first_choice(data)
    message = choice["message"]
    text, reasoning = _text_and_reasoning(message)
    usage = read_usage(data.get("usage"), request, reasoning + text)
    reason = _finish_reason(choice) or "stop"
    # Some endpoints report "stop" for an answer that has used all of its tokens.
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
    """The content of one event of a streamed answer; ``raw_usage`` as the endpoint sent it."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    raw_usage: Any = None


def read_json(body: bytes) -> Any:
    """The JSON of an answer with status 200.

    Raises:
        ErrorAnswer: it contains an error.
        Malformed: it is not JSON.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("the answer is not JSON") from None
    _check_error(found)
    return found


def _check_error(found: Any) -> None:
    """Raises: ErrorAnswer."""
    if error := error_in(found):
        holder = found if isinstance(found, Mapping) else {}
        raise ErrorAnswer(
            error, len("".join(_text_and_reasoning(_message_of(_first_choice_or_empty(holder)))))
        )


def written_in(body: bytes) -> int:
    """The length of an unreadable answer that a model may have written; 0 for a page of a proxy,
    which costs nothing."""
    return len(body) if _WRITTEN.search(body) else 0


def read_delta(event: Any) -> Delta:
    """Read one event of a streamed answer; an empty one adds nothing.

    Raises:
        ErrorAnswer: it contains an error.
        Malformed: it is not a JSON object.
    """
    if not isinstance(event, Mapping):
        raise Malformed("a part of the answer is not a JSON object")
    _check_error(event)
    choice = _first_choice_or_empty(event)
    text, reasoning = _text_and_reasoning(_message_of(choice))
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
    """The sum of the tokens of two requests for one call."""
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
    """Put the system messages before the first user message."""
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


def _first_choice_or_empty(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice; empty if there is none."""
    choices = holder.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}


def _message_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some endpoints that cannot stream send the whole message as their only event."""
    message = choice["delta"] if "delta" in choice else choice.get("message")
    return message if isinstance(message, Mapping) else {}


def _finish_reason(choice: Mapping[str, Any]) -> str:
    reason = clean(str(choice.get("finish_reason") or "")).lower()
    return "length" if reason in _CUT_OFF else reason


def _text_and_reasoning(message: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a message and its visible thoughts."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return _text_of(message.get("content")), _text_of(reasoning)


def _text_of(content: Any) -> str:
    """Text as a string; some gateways send a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    return clean(content) if isinstance(content, str) else ""


def read_usage(raw: Any, request: Mapping[str, Any], answer: str) -> Usage:
    """The tokens that an endpoint counted for ``request`` and its answer; an estimate if it did
    not."""
    counts = raw if isinstance(raw, Mapping) else {}
    tokens_in, tokens_out = (
        token_count(counts, "prompt_tokens"),
        token_count(counts, "completion_tokens"),
    )
    # Each request and each text has tokens, so ignore a count of 0.
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
    """The cap of the answer in the request: nobody pays for more tokens."""
    return int(request.get("max_tokens") or request.get("max_completion_tokens") or MOST_TOKENS)


def token_count(holder: Any, key: str) -> int | None:
    """The count under ``key``; None if it is not valid."""
    counted = holder.get(key) if isinstance(holder, Mapping) else None
    if isinstance(counted, bool) or not isinstance(counted, int):
        return None
    return counted if 0 <= counted <= MOST_TOKENS else None


def read_logprobs(raw: Any) -> tuple[TokenChoices, ...]:
    """The tokens in order, from ``choices[0].logprobs``; empty if any of them cannot be read, as a
    missing one would shift those after it."""
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
    # An integer may be too large for ``isnan``.
    if not isinstance(logprob, int | float) or (isinstance(logprob, float) and isnan(logprob)):
        return None
    # Rounding makes some probabilities slightly larger than 1.
    return clean(token), float(max(NEVER, min(0, logprob)))


def clean(text: str) -> str:
    """``text`` without NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
