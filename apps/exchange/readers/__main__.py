"""The process that :mod:`apps.exchange.readers.isolation` starts, for a format, a path and the
limits: of memory, of seconds for a row, of seconds in all.
"""

import sys
from pathlib import Path

from apps.exchange.readers import read_here
from apps.exchange.readers.isolation import write_rows

_, name, path, memory, seconds, in_all = sys.argv
write_rows(read_here(Path(path), name), int(memory), float(seconds), int(in_all))
