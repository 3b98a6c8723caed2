"""A folder for the Hugging Face Hub, zipped: Parquet that ``datasets`` reads, and its card.

``data/train.parquet`` carries the types of its columns as ``datasets`` has them (class labels by
name) in the key ``huggingface`` of the Arrow schema. People's names are replaced by numbers.
"""

from collections.abc import Iterator
from typing import IO, Any, cast
from zipfile import ZipFile, ZipInfo

from apps.exchange.exporters.base import Chunks, ExportFormat, Source
from apps.exchange.exporters.huggingface.card import card_of
from apps.exchange.exporters.huggingface.columns import Columns
from apps.exchange.exporters.huggingface.counting import Counts
from apps.exchange.exporters.sink import Sink

DATA, CARD = "data/train.parquet", "README.md"


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """The archive in pieces; one row group per chunk. The card comes last: it counts the rows."""
    sink, counts = Sink(), Counts(source.schema)
    with ZipFile(sink, "w") as archive:
        # The entries have a fixed time, so that the same ledger makes the same bytes.
        with archive.open(ZipInfo(DATA), "w", force_zip64=True) as entry:
            for piece in _parquet(chunks, source, counts):
                entry.write(piece)
                yield sink.taken()
        archive.writestr(ZipInfo(CARD), card_of(source, counts))
    yield sink.taken()


def _parquet(chunks: Chunks, source: Source, counts: Counts) -> Iterator[bytes]:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    columns, sink = Columns(source.schema, annotated=not source.only), Sink()
    schema = columns.arrow()
    with pq.ParquetWriter(cast("IO[Any]", sink), schema, compression="zstd") as writer:
        for rows in chunks:
            for row in rows:
                counts.add(row)
            made = [columns.record(row) for row in rows]
            writer.write_batch(pa.RecordBatch.from_pylist(made, schema=schema))
            yield sink.taken()
    yield sink.taken()


FORMAT = ExportFormat(
    name="huggingface",
    title="Hugging Face dataset",
    suffix=".zip",
    content_type="application/zip",
    purpose="Typed Parquet and a dataset card, ready for the Hub; people's names are left out.",
    write=write,
    lossless=False,
)
