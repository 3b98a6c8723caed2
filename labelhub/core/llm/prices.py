"""What a call costs and how long a text is, in tokens.

Money is integer nano-USD: a sum over a million calls stays exact. A price of one USD per million
tokens is 1,000 nano-USD per token.
"""

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from labelhub.core.llm.types import Message, Usage

NANO_PER_TOKEN = 1000

#: Tokens per character, on the high side: an estimate that is too low overruns a budget.
TOKENS_PER_CHARACTER = 0.30
TOKENS_PER_WIDE_CHARACTER = 1.0
#: What chat formats add around each message.
TOKENS_PER_MESSAGE = 4

_WIDE = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00010000-\U0010ffff]"
)


def cost_nanousd(
    usage: Usage,
    *,
    price_in: Decimal | None,
    price_out: Decimal | None,
    price_cached_in: Decimal | None = None,
    price_reasoning: Decimal | None = None,
) -> int | None:
    """The cost of a call in nano-USD; None when a price is unknown, which is not the same as free.

    Args:
        usage: its tokens; ``tokens_out`` includes hidden reasoning, ``tokens_in`` cached input.
        price_in: USD per million input tokens.
        price_out: USD per million output tokens.
        price_cached_in: USD per million input tokens that the provider had kept; None: as others.
        price_reasoning: USD per million tokens of hidden reasoning; None: as other output.
    """
    if price_in is None or price_out is None:
        return None
    # A provider that counts more of a part than of the whole must not lead to a refund.
    cached = min(usage.tokens_cached, usage.tokens_in)
    hidden = min(usage.tokens_reasoning, usage.tokens_out)
    exact = (usage.tokens_in - cached) * price_in + (usage.tokens_out - hidden) * price_out
    exact += cached * (price_in if price_cached_in is None else price_cached_in)
    exact += hidden * (price_out if price_reasoning is None else price_reasoning)
    return int((NANO_PER_TOKEN * exact).to_integral_value(rounding=ROUND_HALF_UP))


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` has, by its characters; 0 for an empty text."""
    wide = len(_WIDE.findall(text))
    narrow = len(text) - wide
    return -int(-(narrow * TOKENS_PER_CHARACTER + wide * TOKENS_PER_WIDE_CHARACTER) // 1)


def estimate_usage(messages: Iterable[Message], answer: str) -> Usage:
    """The usage of a call whose provider did not say, marked as estimated."""
    asked = sum(TOKENS_PER_MESSAGE + estimate_tokens(message.content) for message in messages)
    return Usage(tokens_in=asked, tokens_out=estimate_tokens(answer), estimated=True)
