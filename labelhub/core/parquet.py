"""Write Parquet in a process of its own: JSON lines in, the file out.

``python -m labelhub.core.parquet``. PyArrow loads pandas, and both stay in memory: 70 MB of a
server, for files that few want. Lines to it:

* ``{"columns": {..}, "metadata": {..}}``: name → type of each column, and what the file says of
  itself. A type is the name of one of Arrow's, a list of one type, or a record of types by name;
* ``[{..}, ..]``, any number of times: the records of a row group. The file ends with the input.
"""

import json
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def main() -> None:
    """Write the file to the standard output."""
    about = json.loads(sys.stdin.readline())
    fields = [(name, _arrow_type(kind)) for name, kind in about["columns"].items()]
    schema = pa.schema(fields, metadata=about["metadata"])
    with pq.ParquetWriter(sys.stdout.buffer, schema, compression="zstd") as writer:
        for line in sys.stdin:
            writer.write_batch(pa.RecordBatch.from_pylist(json.loads(line), schema=schema))
            sys.stdout.flush()


def _arrow_type(kind: Any) -> Any:
    if isinstance(kind, list):
        return pa.list_(_arrow_type(kind[0]))
    if isinstance(kind, dict):
        return pa.struct([(name, _arrow_type(inner)) for name, inner in kind.items()])
    # Times are microseconds since 1970.
    return pa.timestamp("us", tz="UTC") if kind == "time" else pa.type_for_alias(kind)


if __name__ == "__main__":
    main()
