"""Writing the frames that the server sends."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Members of a long list that are written without a break.
AT_ONCE = 50
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def frame(t: str, d: Mapping[str, Any], *, re: str = "", seq: int | None = None) -> str:
    """One frame as compact JSON.

    Args:
        t: its kind.
        d: its fields, JSON-ready.
        re: the id of the frame (or message) it answers; left out when "".
        seq: its number in the session's stream; left out for what is not sent again.

    Half a surrogate pair, as a model may write, becomes U+FFFD: no socket would take it.
    """
    return _storable(_ENCODER.encode(_envelope(t, d, re, seq)))


def frame_in_pieces(t: str, d: Mapping[str, Any], *, re: str = "") -> Iterator[str]:
    """The same piece by piece, for what has megabytes: other threads get a turn between pieces, as
    they do not while the whole is written. A piece has :data:`AT_ONCE` members of a list at most,
    where these hold no further lists."""
    return map(_storable, _pieces(_envelope(t, d, re, None)))


def _pieces(value: Any) -> Iterator[str]:
    if value and isinstance(value, dict):
        yield from _joined("{", "}", ((_ENCODER.encode(key) + ":", value[key]) for key in value))
    elif isinstance(value, list) and not all(map(_is_flat, value)):
        yield from _joined("[", "]", (("", each) for each in value))
    elif isinstance(value, list) and len(value) > AT_ONCE:
        for at in range(0, len(value), AT_ONCE):
            yield "," if at else "["
            yield _ENCODER.encode(value[at : at + AT_ONCE])[1:-1]
        yield "]"
    else:
        yield _ENCODER.encode(value)


def _joined(begin: str, end: str, members: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for count, (name, value) in enumerate(members):
        yield ("," if count else begin) + name
        yield from _pieces(value)
    yield end


def _is_flat(value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else ()
    return not isinstance(value, list) and not any(isinstance(each, dict | list) for each in inside)


def _envelope(t: str, d: Mapping[str, Any], re: str, seq: int | None) -> dict[str, Any]:
    written: dict[str, Any] = {"v": 1, "t": t}
    if seq is not None:
        written["seq"] = seq
    if re:
        written["re"] = re
    return written | {"d": d}


def _storable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
