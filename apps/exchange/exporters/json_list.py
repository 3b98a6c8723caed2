"""One JSON list."""

import json
from collections.abc import Iterator

from apps.exchange.exporters.base import PROGRAMS, Chunks, ExportFormat, Source


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    dumps = json.JSONEncoder(ensure_ascii=False).encode
    before = "[\n"
    for rows in chunks:
        if rows:
            yield (before + ",\n".join(map(dumps, rows))).encode()
            before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


FORMAT = ExportFormat(
    name="json",
    title="JSON",
    suffix=".json",
    content_type="application/json",
    group=PROGRAMS,
    write=write,
)
