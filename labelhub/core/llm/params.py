"""The parameters of a role's calls and their allowed values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labelhub.core.errors import InvalidInput

#: A higher token limit is a mistake: no model writes as much.
MOST_TOKENS = 1_000_000
MOST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Numbers from ``low`` to ``high``, both included."""

    low: float
    high: float
    whole: bool = False

    @property
    def words(self) -> str:
        """The range in words: ``a number from 0 to 2``."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:,} to {self.high:,}"

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is such a number; a boolean is not."""
        kinds = int if self.whole else (int, float)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        return right and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values."""

    values: tuple[Any, ...]

    @property
    def words(self) -> str:
        """The values in words: ``one of low, high``."""
        return f"one of {', '.join(str(value).lower() for value in self.values)}"

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is one of them, of the same type."""
        return any(
            value is allowed or (value == allowed and type(value) is type(allowed))
            for allowed in self.values
        )


@dataclass(frozen=True, slots=True)
class StopTexts:
    """A list of one to ``most`` texts that are not empty, or one such text."""

    most: int

    @property
    def words(self) -> str:
        """The form in words."""
        return f"a text or a list of up to {self.most}"

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is such a text or list."""
        texts = [value] if isinstance(value, str) else value
        return (
            isinstance(texts, list)
            and 1 <= len(texts) <= self.most
            and all(isinstance(text, str) and text for text in texts)
        )


#: The parameters of chat completions that change answers, but not their form.
PARAMS: Mapping[str, NumberRange | OneOf | StopTexts] = {
    "temperature": NumberRange(0, 2),
    "top_p": NumberRange(0, 1),
    "max_tokens": NumberRange(1, MOST_TOKENS, whole=True),
    "seed": NumberRange(-MOST_SEED - 1, MOST_SEED, whole=True),
    "stop": StopTexts(4),
    "presence_penalty": NumberRange(-2, 2),
    "frequency_penalty": NumberRange(-2, 2),
    "logprobs": OneOf((True, False)),
    "top_logprobs": NumberRange(0, 20, whole=True),
    "reasoning_effort": OneOf(("none", "minimal", "low", "medium", "high", "xhigh")),
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
        if value is not None and not known.holds(value):
            raise InvalidInput(f"params: {role}.{name} must be {known.words}.")
