"""One JSON object as a row, shared by the JSON and JSONL readers."""

import json
from collections import Counter
from typing import Any, NoReturn

from apps.exchange.readers.base import RawRow


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class KeyTwice(ValueError):
    """An object names a key twice; which of the values is meant nobody can tell."""

    def __init__(self, key: str) -> None:
        super().__init__("the key is there twice")
        self.key = key


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    once = dict(pairs)
    if len(once) < len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise KeyTwice(keys.most_common(1)[0][0])
    return once


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


#: No file needs longer numbers, and Python refuses them from 4,300 on.
MAX_DIGITS = 1000
DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_whole, object_pairs_hook=_each_once)


def parse_object(text: str, number: int, position: int) -> RawRow:
    """The row that ``text`` spells, or a row that says why it is none."""
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        return RawRow(
            number,
            error=f"Not valid JSON: {error.msg}, at character {error.pos + 1}.",
            position=position,
        )
    except KeyTwice as error:
        return RawRow(
            number,
            error="The key is there twice in one object; give it once.",
            field=error.key,
            position=position,
        )
    except ValueError as error:
        return RawRow(number, error=f"Not valid JSON: {error}.", position=position)
    except RecursionError:
        return RawRow(number, error="Nested too deep to be read.", position=position)
    return object_row(value, number, position)


def object_row(value: Any, number: int, position: int) -> RawRow:
    """A row of an already decoded value; anything but an object is an error."""
    if isinstance(value, dict):
        return RawRow(number, value, position=position)
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    found = kinds.get(type(value), "a number")
    return RawRow(
        number,
        error=f'Expected an object such as {{"text": "…"}}, found {found}.',
        position=position,
    )
