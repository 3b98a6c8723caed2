"""Parquet: the columns of the CSV, typed as text, compressed."""

import io
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any, cast

from apps.exchange.exporters.base import Chunks, ExportFormat
from apps.exchange.exporters.table import EVERY_COLUMN, cells, columns
from labelhub.core.schema import Schema


def write(chunks: Chunks, _schema: Schema) -> Iterator[bytes]:
    """One row group per chunk; the last piece is the footer."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    following = iter(chunks)
    first = next(following, [])
    names = columns(first[0]) if first else EVERY_COLUMN
    schema = pa.schema([(name, pa.string()) for name in names])
    sink = _Sink()
    with pq.ParquetWriter(cast("IO[Any]", sink), schema, compression="zstd") as writer:
        for rows in chain([first] if first else [], following):
            table = zip(*(cells(row, names) for row in rows), strict=True)
            arrays = [pa.array(column, pa.string()) for column in table]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that only grows and forgets what was taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


FORMAT = ExportFormat(
    name="parquet",
    title="Parquet",
    suffix=".parquet",
    content_type="application/vnd.apache.parquet",
    purpose="The columns of the CSV, small and fast to load: for data frames.",
    write=write,
)
