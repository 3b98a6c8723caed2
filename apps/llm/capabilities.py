"""Learn from refusals which parameters a model does not accept."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from apps.common.figures import count_words
from apps.llm.failures import TOO_LONG, Failure
from apps.llm.models import ModelSpec
from apps.llm.wire import TOP_LOGPROBS

_NOT_TAKEN = re.compile(
    r"unsupported|not (?:yet )?support|n't support|unrecogni[sz]ed|unknown|not allowed|deprecated"
    r"|unexpected|extra (inputs|fields)|only the default|instead|not permitted|must alternate"
    r"|not available|not enabled|invalid (?:parameter|value|type)|does not (?:take|accept)",
    re.IGNORECASE,
)
#: The parameter is accepted, its value is not: this is an error for the user.
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
#: Stored characters of the endpoint's message.
REASON_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Capability:
    """Something learnt about a model: a field of :class:`ModelSpec`, its new value, and the reason
    in the words of the endpoint."""

    field: str
    value: Any
    reason: str = ""
    #: The old value, if many answers have shown that less is enough. It protects a value that
    #: another process has learnt meanwhile.
    down_from: int | None = None


def other_max_tokens_param(request: Mapping[str, Any]) -> str:
    """The other parameter for the longest answer."""
    if "max_tokens" in request:
        return str(ModelSpec.MaxTokensParam.MAX_COMPLETION_TOKENS)
    return str(ModelSpec.MaxTokensParam.MAX_TOKENS)


def less_structured(request: Mapping[str, Any]) -> str:
    """The next less demanding form of structured output."""
    if request["response_format"].get("type") == "json_schema":
        return str(ModelSpec.Structured.JSON_OBJECT)
    return str(ModelSpec.Structured.NONE)


#: Patterns of the names that endpoints have for the form of an answer.
_FORM = ("response_format", "json_schema", "json_object", "json schema", "grammar", "guided_json")
#: (names in a refusal, the field that they are about, its new value).
_LESSONS: tuple[tuple[tuple[str, ...], str, Callable[[Mapping[str, Any]], Any]], ...] = (
    (("max_tokens", "max_completion_tokens"), "max_tokens_param", other_max_tokens_param),
    (("temperature", "top_p"), "takes_temperature", lambda _: False),
    (("top_logprobs", "logprobs"), "logprobs", lambda _: False),
    (_FORM, "structured", less_structured),
    (("seed",), "takes_seed", lambda _: False),
    (("reasoning_effort",), "reasoning_effort", lambda _: str(ModelSpec.Effort.OMIT)),
    (("stop",), "takes_stop", lambda _: False),
)
_SENT_AS = dict.fromkeys(_FORM, "response_format")


def learn_from(failure: Failure, request: Mapping[str, Any]) -> Capability | None:
    """The capability that a refusal is about, or None when the request itself is wrong.

    A 403 counts beside 400 and 422: some endpoints forbid log-probabilities that way.
    """
    refusal = f"{failure.param} {failure.message}"
    if failure.status not in (400, 403, 422) or TOO_LONG.search(refusal):
        return None
    out_of_range = _OUT_OF_RANGE.search(f"{failure.code} {refusal}")
    unsupported = failure.code.startswith("unsupported_") or bool(
        _NOT_TAKEN.search(refusal) and (_NEVER_TAKEN.search(refusal) or not out_of_range)
    )
    about = failure.param or failure.message
    reason = failure.message[:REASON_LENGTH]
    for names, field, value in _LESSONS:
        # Any refusal counts if only LabelHub chose the value: the form of the answer (no text makes
        # an endpoint refuse it) or the usual number of alternatives.
        usual = field == "logprobs" and request.get("top_logprobs") == TOP_LOGPROBS
        ours = usual or field == "structured"
        if (unsupported or ours) and _names_parameter(request, names, about):
            return Capability(field, value(request), reason)
    system = any(message["role"] in ("system", "developer") for message in request["messages"])
    if unsupported and system and failure.status != 403 and _SYSTEM_ROLE.search(refusal):
        return Capability("system_role", str(ModelSpec.SystemRole.MERGE), reason)
    return None


def names_form(failure: Failure) -> bool:
    """Whether a refusal names the requested form of the answer."""
    return any(re.search(rf"\b{name}\b", failure.message, re.IGNORECASE) for name in _FORM)


def refuses_all_forms(failure: Failure) -> bool:
    """Whether a refusal is about the form itself, and not about a schema in it."""
    message = failure.message
    return bool(_NOT_TAKEN.search(message)) and not _ABOUT_A_SCHEMA.search(message)


def capability_words(field: str, value: Any) -> str:
    """A description for people, such as ``does not accept a temperature``."""
    fixed = {
        "takes_temperature": gettext("does not accept a temperature"),
        "takes_seed": gettext("does not accept a seed"),
        "takes_stop": gettext("does not accept stop sequences"),
        "logprobs": gettext("does not return log-probabilities"),
        "system_role": gettext("does not accept a system message"),
        "reasoning_effort": gettext("does not accept a reasoning effort"),
    }
    if field == "max_tokens_param":
        return gettext("expects the maximum length of an answer as %(name)s") % {"name": value}
    if field == "structured" and value == ModelSpec.Structured.JSON_OBJECT:
        return gettext("does not accept a JSON schema")
    if field == "structured":
        return gettext("does not accept JSON as a response format")
    if field == "thinking_tokens":
        words = gettext("thinks before it answers, with up to %(n)s more tokens")
        return words % {"n": count_words(value)}
    if field == "context_tokens":
        words = gettext("accepts at most %(n)s tokens of input and answer together")
        return words % {"n": count_words(value)}
    if field == "output_limit":
        return gettext("writes at most %(n)s tokens") % {"n": count_words(value)}
    return fixed.get(field, f"{field} = {value}")


def _names_parameter(request: Mapping[str, Any], names: tuple[str, ...], refusal: str) -> bool:
    return any(
        _SENT_AS.get(name, name) in request and re.search(rf"\b{name}\b", refusal, re.IGNORECASE)
        for name in names
    )
