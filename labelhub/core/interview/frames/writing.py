"""Writing the frames that the server sends."""

import json
import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def frame(t: str, d: Mapping[str, Any], *, re: str = "", seq: int | None = None) -> str:
    """One frame as compact JSON.

    Args:
        t: its kind.
        d: its fields, JSON-ready.
        re: the id of the frame (or message) it answers; left out when "".
        seq: its number in the session's stream; left out for what is not sent again.

    Half a surrogate pair, as a model may write, becomes U+FFFD: no socket would take it.
    """
    written: dict[str, Any] = {"v": 1, "t": t}
    if seq is not None:
        written["seq"] = seq
    if re:
        written["re"] = re
    written["d"] = d
    text = json.dumps(written, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub("\ufffd", text)
