"""JSON Lines: one item per line."""

import json
from collections.abc import Iterator

from apps.exchange.exporters.base import PROGRAMS, Chunks, ExportFormat, Source


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    dumps = json.JSONEncoder(ensure_ascii=False).encode
    for rows in chunks:
        yield "".join(f"{dumps(row)}\n" for row in rows).encode()


FORMAT = ExportFormat(
    name="jsonl",
    title="JSON Lines",
    suffix=".jsonl",
    content_type="application/x-ndjson",
    group=PROGRAMS,
    write=write,
)
