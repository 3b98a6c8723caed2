"""A JSON list of objects (or an object with such a list in it), taken apart without loading it."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.exchange.readers.base import (
    DECODER,
    MAX_ROW_BYTES,
    TOO_LONG,
    Format,
    RawRow,
    UnreadableFile,
    object_row,
    parse_object,
)
from apps.exchange.readers.text import Utf8Source, utf8_source
from labelhub.core.phrases import Phrase

LIST_KEYS = ("items", "rows", "tasks", "data", "results")
NOT_A_LIST = Phrase('The file must hold a list of objects: [{"text": "…"}, …] or {"items": [ … ]}.')

_SPACE = re.compile(r"\s*")
_OUTSIDE = re.compile(r'["{}\[\],:]')
_INSIDE = re.compile(r'["\\]')


class _Scanner:
    """A window over the text that holds one value at a time."""

    def __init__(self, source: Utf8Source) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.text, self.offset = "", 0

    @property
    def position(self) -> int:
        return self._source.position

    def fill(self) -> bool:
        """Drop the text before the offset and read more; False at the end of the file."""
        raw = self._source.read()
        self.text = self.text[self.offset :] + self._decoder.decode(raw, final=not raw)
        self.offset = 0
        return bool(raw)

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            self.offset = _SPACE.match(self.text, self.offset).end()  # type: ignore[union-attr]  # always matches
            if self.offset < len(self.text) or not self.fill():
                return self.text[self.offset : self.offset + 1]

    def take_row(self, number: int) -> RawRow:
        """The next value as a row; too long or broken ones are reported and passed over."""
        try:
            value, end = DECODER.raw_decode(self.text, self.offset)
        except (ValueError, RecursionError):
            value, end = None, len(self.text)
        if end < len(self.text):
            self.offset = end
            return object_row(value, number, self.position)
        taken = self._take_text()
        if taken is None:
            return RawRow(number, error=TOO_LONG, position=self.position)
        return parse_object(taken, number, self.position)

    def take_plain(self) -> Any:
        """The next value decoded; None when it is too long or broken."""
        try:
            return DECODER.decode(self._take_text() or "null")
        except (ValueError, RecursionError):
            return None

    def _take_text(self) -> str | None:
        """The text of the next value, found by its brackets; None when it exceeds the limit."""
        depth, inside, pos, too_long = 0, False, self.offset, False
        while True:
            found = (_INSIDE if inside else _OUTSIDE).search(self.text, pos)
            if found is None:
                behind = max(0, pos - len(self.text))  # an escape may reach past the window
                too_long = too_long or len(self.text) - self.offset > MAX_ROW_BYTES
                self.offset = len(self.text) if too_long else self.offset
                pos = len(self.text) - self.offset + behind
                if not self.fill():
                    return self._cut(len(self.text), too_long)
                continue
            mark, pos = found.group(), found.end()
            if inside or mark == '"':
                pos, inside = (pos + 1, True) if mark == "\\" else (pos, not inside)
                continue
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark, 0)
            if depth < 0 or (depth == 0 and mark in ",:"):
                return self._cut(found.start(), too_long)
            if depth == 0:
                return self._cut(pos, too_long)

    def _cut(self, end: int, too_long: bool) -> str | None:  # noqa: FBT001 - private
        text, self.offset = self.text[self.offset : end], end
        return None if too_long else text


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered by their place in the list, from 1."""
    with utf8_source(path) as source:
        scanner = _Scanner(source)
        if not scanner.peek():
            return
        alone = _enter_list(scanner)
        yield from _elements(scanner, alone=alone)


def _enter_list(scanner: _Scanner) -> bool:
    """Go to the first element; whether the file is the list itself, not an object around it."""
    opening = scanner.peek()
    scanner.offset += 1
    if opening == "[":
        return True
    while opening == "{" and scanner.peek() == '"':
        key = scanner.take_plain()
        if scanner.peek() != ":":
            break
        scanner.offset += 1
        if scanner.peek() == "[" and key in LIST_KEYS:
            scanner.offset += 1
            return False
        scanner.take_plain()
        if scanner.peek() != ",":
            break
        scanner.offset += 1
    raise UnreadableFile(NOT_A_LIST)


def _elements(scanner: _Scanner, *, alone: bool) -> Iterator[RawRow]:
    number = 0
    while (mark := scanner.peek()) != "]":
        number += 1
        if not mark:
            yield RawRow(
                number,
                error=Phrase("The file ends in the middle of the list."),
                position=scanner.position,
            )
            return
        yield scanner.take_row(number)
        if scanner.peek() == ",":
            scanner.offset += 1
        elif scanner.peek() not in ("]", ""):
            yield RawRow(
                number + 1,
                error=Phrase("Expected a comma or the end of the list; the rest was not read."),
                position=scanner.position,
            )
            return
    scanner.offset += 1
    if alone and scanner.peek():
        error = Phrase("There is more after the end of the list; it was not read.")
        yield RawRow(number + 1, error=error, position=scanner.position)


FORMAT = Format(
    name="json",
    title="JSON",
    suffixes=(".json",),
    content_types=("application/json", "text/json"),
    read=read,
    sample='[{"id": "r1", "text": "The room was spotless.", "gold": "clean"}]',
)
