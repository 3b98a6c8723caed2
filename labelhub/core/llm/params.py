"""The parameters of a role's calls and their allowed values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labelhub.core.errors import InvalidInput

#: A higher token limit is a mistake: no model writes as much.
MOST_TOKENS = 1_000_000
MOST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """The allowed values of a parameter: in words, and whether they hold a value."""

    words: str
    hold: Callable[[Any], bool]


def _numbers(low: float, high: float, *, whole: bool = False) -> AllowedValues:
    """Numbers from ``low`` to ``high``, both included; a boolean is none."""

    def hold(value: Any) -> bool:
        kinds = int if whole else (int, float)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        return right and low <= value <= high

    kind = "a whole number" if whole else "a number"
    return AllowedValues(f"{kind} from {low:,} to {high:,}", hold)


def _one_of(values: tuple[Any, ...]) -> AllowedValues:
    """One of ``values``, of the same type."""

    def hold(value: Any) -> bool:
        return any(type(value) is type(allowed) and value == allowed for allowed in values)

    return AllowedValues(f"one of {', '.join(str(value).lower() for value in values)}", hold)


def _stop_texts(most: int) -> AllowedValues:
    """A list of one to ``most`` texts that are not empty, or one such text."""

    def hold(value: Any) -> bool:
        texts = [value] if isinstance(value, str) else value
        right = isinstance(texts, list) and 1 <= len(texts) <= most
        return right and all(isinstance(text, str) and text for text in texts)

    return AllowedValues(f"a text or a list of up to {most}", hold)


#: The parameters of chat completions that change answers, but not their form.
PARAMS: Mapping[str, AllowedValues] = {
    "temperature": _numbers(0, 2),
    "top_p": _numbers(0, 1),
    "max_tokens": _numbers(1, MOST_TOKENS, whole=True),
    "seed": _numbers(-MOST_SEED - 1, MOST_SEED, whole=True),
    "stop": _stop_texts(4),
    "presence_penalty": _numbers(-2, 2),
    "frequency_penalty": _numbers(-2, 2),
    "logprobs": _one_of((True, False)),
    "top_logprobs": _numbers(0, 20, whole=True),
    "reasoning_effort": _one_of(("none", "minimal", "low", "medium", "high", "xhigh")),
}


def check_params(role: str, asked: Any) -> None:
    """Refuse parameters of a role's model that no endpoint understands; None means unset.

    Raises:
        InvalidInput: ``asked`` is no object, a parameter is unknown, or a value is not allowed.
    """
    if not isinstance(asked, Mapping):
        raise InvalidInput(f'params: {role} must be an object, such as {{"temperature": 0}}.')
    for name, value in asked.items():
        known = PARAMS.get(name)
        if known is None:
            raise InvalidInput(
                f"params: {role}.{name} cannot be set; it must be one of {', '.join(PARAMS)}."
            )
        if value is not None and not known.hold(value):
            raise InvalidInput(f"params: {role}.{name} must be {known.words}.")
