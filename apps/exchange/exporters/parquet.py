"""Parquet: the columns of the CSV, typed as text, compressed."""

from collections.abc import Iterator

from apps.exchange.exporters.base import Chunks, ExportFormat, Source, parquet_pieces
from apps.exchange.exporters.table import cells, find_columns


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """One row group per chunk."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    names, filled = find_columns(chunks)
    schema = pa.schema([(name, pa.string()) for name in names])
    tables = (zip(*(cells(row, names) for row in rows), strict=True) for rows in filled)
    batches = (
        pa.record_batch([pa.array(column, pa.string()) for column in table], schema=schema)
        for table in tables
    )
    yield from parquet_pieces(schema, batches)


FORMAT = ExportFormat(
    name="parquet",
    title="Parquet",
    suffix=".parquet",
    content_type="application/vnd.apache.parquet",
    purpose="The columns of the CSV, small and fast to load: for data frames.",
    write=write,
)
