"""JSON Lines: one object per line."""

from collections.abc import Iterator
from pathlib import Path

from apps.exchange.readers.base import TOO_LONG, Format, RawRow, parse_object
from apps.exchange.readers.text import lines, utf8_source


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered by line; blank lines count but are no rows."""
    with utf8_source(path) as source:
        for number, line in enumerate(lines(source), 1):
            if line.too_long:
                yield RawRow(number, error=TOO_LONG, position=line.position)
            elif text := line.data.decode("utf-8", "surrogateescape").strip():
                yield parse_object(text, number, line.position)


FORMAT = Format(
    name="jsonl",
    title="JSON Lines",
    suffixes=(".jsonl", ".ndjson"),
    content_types=("application/x-ndjson", "application/jsonl", "application/x-jsonlines"),
    read=read,
    sample='{"id": "r1", "text": "The room was spotless.", "gold": "clean"}',
)
