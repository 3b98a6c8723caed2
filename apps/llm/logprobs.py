"""Log-probabilities of an answer's tokens, read from whatever an endpoint sends."""

from collections.abc import Iterable, Mapping
from itertools import islice
from math import isnan
from typing import Any

from apps.llm.texts import clean
from labelhub.core.llm.types import TokenChoices

#: Alternatives to ask for at each token: as many as every endpoint gives that gives any.
TOP_LOGPROBS = 5
#: No answer of ours has more tokens, none of them more choices.
MOST_TOKENS, MOST_CHOICES = 20_000, 20
#: Stands for "never": some endpoints send it in place of minus infinity, which is not JSON.
NEVER = -9999.0


def read_logprobs(raw: Any) -> tuple[TokenChoices, ...]:
    """The tokens in order, from ``choices[0].logprobs``; empty where any of them cannot be read.

    Never raises: a token that is missing would shift all that follow, so then none is told.
    """
    content = raw.get("content") if isinstance(raw, Mapping) else None
    if not isinstance(content, list):
        return ()
    read = [_token(each) for each in content[:MOST_TOKENS]]
    return tuple(each for each in read if each is not None) if None not in read else ()


def _token(raw: Any) -> TokenChoices | None:
    found = _choice(raw)
    if found is None:
        return None
    top = raw.get("top_logprobs")
    choices: Iterable[Any] = top if isinstance(top, list) else ()
    told = (_choice(each) for each in islice(choices, MOST_CHOICES))
    return TokenChoices(*found, top=tuple(each for each in told if each is not None))


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
