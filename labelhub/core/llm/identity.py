"""Which calls are equal: what an endpoint is sent decides its answer, and nothing else does.

The key leaves out nothing that may change the answer (an endpoint or a model forgotten here would
hand one model's answers to another) and nothing that may not: the order of parameters and the
spelling of numbers.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from labelhub.core.llm.types import Call

#: Part of every key: raised when what is hashed changes its meaning.
VERSION = 2


def call_key(call: Call, *, endpoint: str, model: str, replicate: int) -> str:
    """The key of ``call``, hexadecimal; empty where chance has a part in the answer.

    Args:
        call: asked at temperature 0, or ``call.once``.
        endpoint: who answers: provider and address.
        model: as the provider spells it, with whatever is set about it that changes its answers.
        replicate: of the run; replicates are meant to differ.
    """
    if not call.once and _number(call.params.get("temperature")) != 0:
        return ""
    content = [
        VERSION,
        endpoint,
        model,
        [[message.role, message.content] for message in call.json_messages or call.messages],
        _plain({name: value for name, value in call.params.items() if value is not None}),
        0 if call.once else call.sample,
        0 if call.once else replicate,
    ]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    """``value`` with every number spelled in one way: 1, 1.0 and 1e0 are the same."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    number = _number(value)
    return value if number is None else repr(number)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
