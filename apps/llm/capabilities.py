"""What a refusal teaches about a model: which parameters it does not take."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.llm.failures import TOO_LONG, Failure
from apps.llm.models import ModelSpec
from apps.llm.wire import TOP_LOGPROBS

_NOT_TAKEN = re.compile(
    r"unsupported|not (?:yet )?support|n't support|unrecogni[sz]ed|unknown|not allowed|deprecated"
    r"|unexpected|extra (inputs|fields)|only the default|instead|not permitted|must alternate"
    r"|not available|not enabled|invalid (?:parameter|value|type)|does not (?:take|accept)",
    re.IGNORECASE,
)
#: The parameter is taken, what it was set to is not: whoever set it is to hear of it.
_OUT_OF_RANGE = re.compile(
    r"above_max|below_min|invalid_type|out of range|\brange\b|\bbetween\b|(?:less|greater) than"
    r"|(?:max|min)imum value|at (?:most|least)|invalid type|expected an?\b|must be an?\b"
    r"|not a valid (?:number|float|integer)",
    re.IGNORECASE,
)
_NEVER_TAKEN = re.compile(
    r"unsupported|not (?:yet )?support|n't support|only the default", re.IGNORECASE
)
_SYSTEM_ROLE = re.compile(
    r"\bsystem\b|\bdeveloper\b|messages\[0\]\.role|roles? must alternate", re.IGNORECASE
)
_ABOUT_A_SCHEMA = re.compile(r"(?<!json[_ ])schema|enum|propert|grammar", re.IGNORECASE)
SAID_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Capability:
    """Something learnt about a model: a field of :class:`ModelSpec`, its new value, and the words
    of the endpoint that it was learnt from."""

    field: str
    value: Any
    said: str = ""
    #: Where many answers have shown that less is enough: what they had. What another process has
    #: learnt meanwhile stands.
    down_from: int | None = None


def _other_cap(request: Mapping[str, Any]) -> str:
    if "max_tokens" in request:
        return str(ModelSpec.MaxTokensParam.MAX_COMPLETION_TOKENS)
    return str(ModelSpec.MaxTokensParam.MAX_TOKENS)


def less_structured(request: Mapping[str, Any]) -> str:
    """The next less demanding form of structured output."""
    if request["response_format"].get("type") == "json_schema":
        return str(ModelSpec.Structured.JSON_OBJECT)
    return str(ModelSpec.Structured.NONE)


#: Patterns of what endpoints call the form of an answer.
_FORM = ("response_format", "json_schema", "json_object", "json schema", "grammar", "guided_json")
#: Names as a refusal spells them, by the field that they teach about and its value from then on.
_LESSONS: tuple[tuple[tuple[str, ...], str, Callable[[Mapping[str, Any]], Any]], ...] = (
    (("max_tokens", "max_completion_tokens"), "max_tokens_param", _other_cap),
    (("temperature", "top_p"), "takes_temperature", lambda _: False),
    (("top_logprobs", "logprobs"), "logprobs", lambda _: False),
    (_FORM, "structured", less_structured),
    (("seed",), "takes_seed", lambda _: False),
    (("reasoning_effort",), "reasoning_effort", lambda _: str(ModelSpec.Effort.OMIT)),
    (("stop",), "takes_stop", lambda _: False),
)
_SENT_AS = dict.fromkeys(_FORM, "response_format")


def learnt_from(failure: Failure, request: Mapping[str, Any]) -> Capability | None:
    """What a refusal teaches about the model, or None when the request itself is at fault.

    Beside 400 and 422 a 403 may teach: some endpoints forbid log-probabilities that way.
    """
    words_of_refusal = f"{failure.param} {failure.message}"
    if failure.status not in (400, 403, 422) or TOO_LONG.search(words_of_refusal):
        return None
    not_taken = failure.code.startswith("unsupported_") or _says_not_taken(
        words_of_refusal, failure.code
    )
    about = failure.param or failure.message
    words = failure.message[:SAID_LENGTH]
    for names, field, value in _LESSONS:
        if (not_taken or _ours(field, request)) and _any_named(request, names, about):
            return Capability(field, value(request), words)
    if not_taken and _about_the_system_role(failure.status, words_of_refusal, request):
        return Capability("system_role", str(ModelSpec.SystemRole.MERGE), words)
    return None


def speaks_of_form(failure: Failure) -> bool:
    """Whether a refusal names the form that the answer was to have."""
    return any(re.search(rf"\b{name}\b", failure.message, re.IGNORECASE) for name in _FORM)


def refuses_all_forms(failure: Failure) -> bool:
    """Whether a refusal is about a form as such, and about no schema that was asked for in it."""
    message = failure.message
    return bool(_NOT_TAKEN.search(message)) and not _ABOUT_A_SCHEMA.search(message)


def _ours(field: str, request: Mapping[str, Any]) -> bool:
    """Whether nobody but us asked for what is refused, so that any word against it counts: a form,
    which no text makes an endpoint refuse, or the usual number of alternatives."""
    usual = field == "logprobs" and request.get("top_logprobs") == TOP_LOGPROBS
    return usual or field == "structured"


def _says_not_taken(refusal: str, code: str) -> bool:
    if _OUT_OF_RANGE.search(f"{code} {refusal}") and not _NEVER_TAKEN.search(refusal):
        return False
    return bool(_NOT_TAKEN.search(refusal))


def capability_words(field: str, value: Any) -> str:
    """What was learnt, in words for people, such as ``does not take a temperature``."""
    fixed = {
        "takes_temperature": "does not take a temperature",
        "takes_seed": "does not take a seed",
        "takes_stop": "does not take stop texts",
        "logprobs": "does not give log-probabilities",
        "system_role": "takes no message of the system",
        "reasoning_effort": "does not take a reasoning effort",
    }
    if field == "max_tokens_param":
        return f"takes the longest answer as {value}"
    if field == "structured" and value == ModelSpec.Structured.JSON_OBJECT:
        return "does not take a JSON schema"
    if field == "structured":
        return "does not take a form of JSON"
    if field == "thinking_tokens":
        return f"thinks before it answers, and may write {value:,} tokens more for it"
    if field == "context_tokens":
        return f"takes at most {value:,} tokens of text and answer together"
    if field == "output_limit":
        return f"writes at most {value:,} tokens"
    return fixed.get(field, f"{field} = {value}")


def _any_named(request: Mapping[str, Any], names: tuple[str, ...], refusal: str) -> bool:
    return any(
        _SENT_AS.get(name, name) in request and re.search(rf"\b{name}\b", refusal, re.IGNORECASE)
        for name in names
    )


def _about_the_system_role(status: int, refusal: str, request: Mapping[str, Any]) -> bool:
    sent = any(message["role"] in ("system", "developer") for message in request["messages"])
    return status != 403 and sent and bool(_SYSTEM_ROLE.search(refusal))
