"""JSON that every reader understands in the same way."""

import json
from typing import Any, NoReturn


def _refuse_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


#: Raises ``ValueError`` for a key given twice and for NaN and Infinity.
DECODER = json.JSONDecoder(object_pairs_hook=_refuse_double_keys, parse_constant=_refuse_constant)
