"""The cost of a call, and the length of a text in tokens.

Money is integer nano-USD: a sum over a million calls stays exact. A price of one USD per million
tokens is 1,000 nano-USD per token.
"""

import math
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from labelhub.core.llm.types import Message, Usage

NANO_PER_TOKEN = 1000

#: Tokens per character, rather too many: an estimate that is too low overruns a budget. Tokenizers
#: split rare scripts into pieces and emoji into bytes.
TOKENS_PER_CHARACTER = 0.30
TOKENS_PER_WIDE_CHARACTER = 1.0
TOKENS_PER_RARE_CHARACTER = 2.0
TOKENS_PER_ASTRAL_CHARACTER = 3.0
#: What chat formats add around each message.
TOKENS_PER_MESSAGE = 4

#: The scripts of India, South-East Asia, Georgia, Ethiopia, the Americas.
_RARE = re.compile("[\u0900-\u10ff\u1200-\u1cff\ua4d0-\uabff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_WIDE = re.compile("[^\u0000-\u024f]+")


def cost_nanousd(
    usage: Usage,
    *,
    price_in: Decimal | None,
    price_out: Decimal | None,
    price_cached_in: Decimal | None = None,
    price_reasoning: Decimal | None = None,
) -> int | None:
    """The cost of a call in nano-USD; None if a price is unknown, which is not the same as free.

    Args:
        usage: the tokens; ``tokens_out`` includes hidden reasoning, ``tokens_in`` cached input.
        price_in: USD per million input tokens.
        price_out: USD per million output tokens.
        price_cached_in: USD per million cached input tokens; None: as other input.
        price_reasoning: USD per million tokens of hidden reasoning; None: as other output.
    """
    if price_in is None or price_out is None:
        return None
    # A part that a provider counts higher than the whole must not lead to a refund.
    cached = min(usage.tokens_cached, usage.tokens_in)
    hidden = min(usage.tokens_reasoning, usage.tokens_out)
    exact = (usage.tokens_in - cached) * price_in + (usage.tokens_out - hidden) * price_out
    exact += cached * (price_in if price_cached_in is None else price_cached_in)
    exact += hidden * (price_out if price_reasoning is None else price_reasoning)
    return int((NANO_PER_TOKEN * exact).to_integral_value(rounding=ROUND_HALF_UP))


def estimate_tokens(text: str) -> int:
    """An estimate of the tokens of ``text`` from its characters; 0 for an empty text."""
    wide = "" if text.isascii() else "".join(_WIDE.findall(text))
    narrow = len(text) - len(wide)
    tokens = narrow * TOKENS_PER_CHARACTER + len(wide) * TOKENS_PER_WIDE_CHARACTER
    if wide:
        tokens += len(_RARE.findall(wide)) * (TOKENS_PER_RARE_CHARACTER - TOKENS_PER_WIDE_CHARACTER)
        tokens += len(_ASTRAL.findall(wide)) * (
            TOKENS_PER_ASTRAL_CHARACTER - TOKENS_PER_WIDE_CHARACTER
        )
    return math.ceil(tokens)


def estimate_usage(messages: Iterable[Message], answer: str) -> Usage:
    """The estimated usage of a call whose provider reported none."""
    asked = sum(TOKENS_PER_MESSAGE + estimate_tokens(message.content) for message in messages)
    return Usage(tokens_in=asked, tokens_out=estimate_tokens(answer), estimated=True)
