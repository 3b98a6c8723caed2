"""Bytes of a text file, as UTF-8, in bounded pieces."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from apps.exchange.readers.base import MAX_ROW_BYTES, UnreadableFile

CHUNK = 256 * 1024
HEAD = 64 * 1024

UTF8_MARK, UTF16_MARKS = (
    codecs.BOM_UTF8,
    {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"},
)
#: Some characters, such as U+0500, have their NUL on the other side.
MUCH = 10
#: Control characters except blanks, ends of lines and the escape of terminals; a file with more
#: than one in ``ENOUGH`` bytes is not text.
NO_TEXT = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})
ENOUGH = 20
UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def encoding_of(head: bytes) -> tuple[str, int]:
    """(codec, length of its byte order mark): UTF-8 or UTF-16, by mark or by the pattern of NULs.

    One-byte encodings such as Latin-1 cannot be distinguished, so they are never guessed: their
    rows are reported.

    Raises:
        UnreadableFile: UTF-32.
    """
    if head.startswith(UTF32_MARKS):
        raise UnreadableFile("The file is UTF-32; save it as UTF-8.")
    if head.startswith(UTF8_MARK):
        return "utf-8", len(UTF8_MARK)
    for mark, codec in UTF16_MARKS.items():
        if head.startswith(mark):
            return codec, len(mark)
    return _encoding_by_nuls(head[:4096]), 0


def _encoding_by_nuls(head: bytes) -> str:
    """UTF-16 text in most scripts has a NUL in every second byte of its blanks and punctuation."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    enough = max(4, len(head) // 10)
    if odd >= enough and even * MUCH <= odd:
        return "utf-16-le"
    if even >= enough and odd * MUCH <= even:
        return "utf-16-be"
    return "utf-8"


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a picture or program.

    Text has almost no control characters, compressed data one in nine bytes. A text with some is
    still read, and their rows are reported.
    """
    codec, _ = encoding_of(head)
    others = len(head) - len(head.translate(None, NO_TEXT))
    return codec == "utf-8" and others * ENOUGH > len(head)


class Utf8Source:
    """Reads a file as UTF-8 bytes; invalid ones stay invalid, so that their row is reported."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        codec, self.position = encoding_of(file.read(HEAD))
        file.seek(self.position)
        self._decoder = (
            None if codec == "utf-8" else codecs.getincrementaldecoder(codec)("surrogatepass")
        )
        self.ended = False

    def read(self) -> bytes:
        """The next piece; empty at the end of the file only."""
        while not self.ended:
            raw = self._file.read(CHUNK)
            self.position += len(raw)
            self.ended = not raw
            if piece := self._to_utf8(raw):
                return piece
        return b""

    def _to_utf8(self, raw: bytes) -> bytes:
        if self._decoder is None:
            return raw
        try:
            return self._decoder.decode(raw, final=not raw).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self._decoder.reset()
            return b"\xff"  # a byte that UTF-8 never has: the row is reported


@contextmanager
def utf8_source(path: Path) -> Iterator[Utf8Source]:
    with path.open("rb") as file:
        yield Utf8Source(file)


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; ``data`` is empty when it was ``too_long`` to be kept."""

    data: bytes
    too_long: bool
    position: int


def lines(source: Utf8Source, newline: bytes = b"\n") -> Iterator[Line]:
    """The lines of ``source``; one that exceeds MAX_ROW_BYTES is skipped in pieces."""
    held, too_long = bytearray(), False
    while chunk := source.read():
        *ends, rest = chunk.split(newline)
        for piece in ends:
            data = bytes(held + piece) if held else piece
            too_long = too_long or len(data) > MAX_ROW_BYTES
            yield Line(b"" if too_long else data, too_long, source.position)
            held.clear()
            too_long = False
        if not too_long:
            held += rest
        if len(held) > MAX_ROW_BYTES:
            held.clear()
            too_long = True
    if held or too_long:
        yield Line(bytes(held), too_long, source.position)
