"""From what came through the socket to a frame whose every field is checked."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from labelhub.core.interview.frames.errors import (
    BadField,
    BadFrame,
    NotAFrame,
    TooBig,
    UnsupportedVersion,
)
from labelhub.core.interview.frames.fields import identifier, inner, take, whole
from labelhub.core.interview.frames.kinds import KINDS, Body

VERSION = 1
MOST_BYTES = 16_384
#: Objects and lists within each other; our own frames need three.
MOST_DEEP = 8

_KIND = re.compile(r"[A-Za-z0-9_.-]{1,32}")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of kind ``t``; ``d`` is None for a kind that is not known and may be passed over.

    ``id``: the sender's id of it, by which it is known when sent twice. ``ts``: the sender's clock,
    milliseconds since 1970, 0 if not told; a claim like the rest.
    """

    t: str
    id: str
    d: Body | None
    ts: int


def read_frame(raw: str | bytes) -> Frame:
    """The frame that ``raw`` is.

    Raises:
        BadFrame: it is none, or not as it must be; see ``close`` and ``id`` of the error.
    """
    found = _object(raw)
    kind = found.get("t")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise NotAFrame("A frame needs its kind t.")
    frame_id = _readable_id(found)
    try:
        return _frame(kind, found)
    except BadFrame as fault:
        fault.id = frame_id
        raise


def _frame(kind: str, found: Mapping[str, Any]) -> Frame:
    version = found.get("v")
    if type(version) is not int or version != VERSION:
        raise UnsupportedVersion(f"Only version {VERSION} is spoken here.")
    read = KINDS.get(kind)
    if read is None:
        return Frame(kind, _readable_id(found), None, 0)
    return Frame(
        t=kind,
        id=take(found, "id", identifier),
        d=read(take(found, "d", inner, {})),
        ts=take(found, "ts", whole(), 0),
    )


def _readable_id(found: Mapping[str, Any]) -> str:
    try:
        return take(found, "id", identifier, "")
    except BadField:
        return ""


def _object(raw: str | bytes) -> Mapping[str, Any]:
    # Characters first: to encode what is far too long would be work for nothing.
    if len(raw) > MOST_BYTES or len(_bytes(raw)) > MOST_BYTES:
        raise TooBig(f"A frame has at most {MOST_BYTES} bytes.")
    try:
        text = raw if isinstance(raw, str) else raw.decode()
        found = _DECODER.decode(text)
    # Also: integers of thousands of digits, and brackets nested beyond the stack.
    except (ValueError, RecursionError):
        raise NotAFrame("A frame is one JSON object in UTF-8.") from None
    if not isinstance(found, dict) or _deeper_than(found, MOST_DEEP):
        raise NotAFrame(f"A frame is one JSON object, nested at most {MOST_DEEP} deep.")
    return found


def _bytes(raw: str | bytes) -> bytes:
    return raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; whoever says a thing twice hopes that two readers take two of them."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# Made once: ``json.loads`` would make one for each frame.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


def _deeper_than(value: object, most: int) -> bool:
    layer = [value]
    for _ in range(most):
        layer = [inner for outer in layer for inner in _parts(outer)]
        if not layer:
            return False
    return True


def _parts(value: object) -> list[Any]:
    """What stands directly within an object or a list."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
