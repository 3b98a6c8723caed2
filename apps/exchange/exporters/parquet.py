"""Parquet: the columns of the CSV, typed as text, compressed."""

from collections.abc import Iterator
from itertools import chain
from typing import IO, Any, cast

from apps.exchange.exporters.base import Chunks, ExportFormat, Sink, Source
from apps.exchange.exporters.table import EVERY_COLUMN, cells, columns


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """One row group per chunk; the last piece is the footer."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    following = iter(chunks)
    first = next(following, [])
    names = columns(first[0]) if first else EVERY_COLUMN
    schema = pa.schema([(name, pa.string()) for name in names])
    sink = Sink()
    with pq.ParquetWriter(cast("IO[Any]", sink), schema, compression="zstd") as writer:
        for rows in chain([first] if first else [], following):
            table = zip(*(cells(row, names) for row in rows), strict=True)
            arrays = [pa.array(column, pa.string()) for column in table]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


FORMAT = ExportFormat(
    name="parquet",
    title="Parquet",
    suffix=".parquet",
    content_type="application/vnd.apache.parquet",
    purpose="The columns of the CSV, small and fast to load: for data frames.",
    write=write,
)
