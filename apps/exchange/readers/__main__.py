"""The process that :mod:`apps.exchange.readers.apart` starts: ``FORMAT PATH MEMORY SECONDS``."""

import sys
from pathlib import Path

from apps.exchange.readers import read_here
from apps.exchange.readers.apart import write_rows

_, name, path, memory, seconds = sys.argv
write_rows(read_here(Path(path), name), int(memory), float(seconds))
