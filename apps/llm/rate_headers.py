"""What an answer's ``x-ratelimit-*`` headers say, in the spellings that endpoints use."""

import re
from collections.abc import Mapping

from labelhub.core.llm.buckets import Told

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
#: A limit that no arithmetic should be done with: some endpoints write "none" as a huge number.
LARGEST = 10**12


def read_rate_headers(headers: Mapping[str, str]) -> dict[str, Told]:
    """The limits told, under ``requests`` and ``tokens``; what cannot be read is not told."""
    found = {what: _told(headers, what) for what in ("requests", "tokens")}
    return {what: told for what, told in found.items() if told is not None}


def read_duration(text: str) -> float | None:
    """Seconds in ``12ms``, ``1s``, ``6m0s``, ``2h3m`` or a bare number; None in anything else."""
    text = text.strip().lower()
    number = _whole_number(text, float)
    if number is not None:
        return number
    if not text or _PART.sub("", text):
        return None
    return sum(float(count) * _SECONDS[unit] for count, unit in _PART.findall(text))


def _told(headers: Mapping[str, str], what: str) -> Told | None:
    limit = _whole_number(headers.get(f"x-ratelimit-limit-{what}", ""), int)
    if not limit:
        return None
    return Told(
        int(limit),
        remaining=_remaining(headers.get(f"x-ratelimit-remaining-{what}", "")),
        reset=read_duration(headers.get(f"x-ratelimit-reset-{what}", "")),
    )


def _remaining(text: str) -> int | None:
    number = _whole_number(text, int)
    return None if number is None else int(number)


def _whole_number(text: str, kind: type[int] | type[float]) -> float | None:
    try:
        number = kind(text)
    except ValueError:
        return None
    return number if 0 <= number < LARGEST else None
