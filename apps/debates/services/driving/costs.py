"""What calls cost, and the most that one can cost."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.llm.models import ModelSpec
from apps.llm.structured import answer_schema
from apps.llm.wire import output_cap
from labelhub.core.llm.prices import cost_nanousd
from labelhub.core.llm.types import Call, Usage

#: What chat formats and the form asked for add to the messages, tokens at most.
AROUND_A_MESSAGE = 16
AROUND_A_CALL = 64


def call_cost(model: ModelSpec, usage: Usage) -> int | None:
    """What a call to ``model`` cost, in nano-USD; None when its price is unknown."""
    return cost_nanousd(usage, **model.prices)


def worst_cost(model: ModelSpec, call: Call, cap: int | None = None) -> int:
    """The most one answer to ``call`` can cost, in nano-USD.

    No tokenizer makes more tokens of a text than it has bytes. 0 when the price is unknown: a run
    with a budget does not start then.

    Args:
        model: who answers.
        call: what is asked.
        cap: the most tokens of the answer; None: as the call and the model have it.
    """
    if not model.prices_known or model.free:
        return 0
    # What is added to the body may be text to the model, such as tools.
    tokens_in = most_tokens_in(call) + _spelled(model.extra_body)
    tokens_out = cap or output_cap(model, call)
    plain = Usage(tokens_in, tokens_out)
    # Whichever part of them is the dearer one.
    special = Usage(tokens_in, tokens_out, tokens_cached=tokens_in, tokens_reasoning=tokens_out)
    return sum(max(part) for part in zip(_parts(model, plain), _parts(model, special), strict=True))


def _parts(model: ModelSpec, usage: Usage) -> tuple[int, int]:
    """What input and output cost, each rounded up."""
    asked = replace(usage, tokens_out=0, tokens_reasoning=0)
    told = replace(usage, tokens_in=0, tokens_cached=0)
    return (call_cost(model, asked) or 0) + 1, (call_cost(model, told) or 0) + 1


def most_tokens_in(call: Call) -> int:
    """A bound on the tokens of what ``call`` sends, in whichever form it does."""
    said = max(
        sum(len(each.content.encode("utf-8", "replace")) + AROUND_A_MESSAGE for each in messages)
        for messages in (call.messages, call.json_messages)
    )
    form = call.params.get("response_format")
    if call.json_messages:
        form = answer_schema(call)
    return said + AROUND_A_CALL + (_spelled(form) if isinstance(form, Mapping) else 0)


def _spelled(given: Mapping[str, Any]) -> int:
    """A bound on the tokens of an object that is sent as it is."""
    return len(json.dumps(given)) if given else 0
