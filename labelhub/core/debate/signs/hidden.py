"""What a text says in code: base64, hexadecimal digits, letters turned round."""

import base64
import binascii
import re
from collections.abc import Iterator

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{12,}+")
# A digit or a capital within tells code from a long word.
_CODED = re.compile(r"\d|[a-z][A-Z]")
_HEX = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}[ :]?){8,2000}(?!\w)")
#: As much of a run as is decoded; four letters are three bytes.
_LONGEST_RUN = 4000
#: More runs than this are a table or a key file, not a message.
_MOST_RUNS = 20
# Beginnings of orders, turned round; no language has them as words.
_TURNED = (
    "erongi", "drager", "tegrof", "rewsna", "dnopser", "tuptuo", "snoitcurtsni", "tpmorp", "lebal",
    "yfissalc", "esoohc", "etirw",
)  # fmt: skip


def decoded(text: str) -> Iterator[str]:
    """The readable texts that ``text`` has in code."""
    for run in _first(_BASE64, text):
        said = _readable(_from_base64(run)) if _CODED.search(run) else ""
        if said:
            yield said
    for run in _first(_HEX, text):
        said = _readable(_from_hex(run))
        if said:
            yield said
    small = text.casefold()
    if any(word in small for word in _TURNED):
        yield text[::-1]


def _first(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for at, found in enumerate(pattern.finditer(text)):
        if at == _MOST_RUNS:
            return
        yield found[0]


def _from_base64(run: str) -> bytes:
    bare = run[:_LONGEST_RUN]
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return b""


def _from_hex(run: str) -> bytes:
    try:
        return bytes.fromhex(re.sub("[ :]", "", run))
    except ValueError:
        return b""


def _readable(raw: bytes) -> str:
    try:
        said = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return said if said.isprintable() or "\n" in said else ""
