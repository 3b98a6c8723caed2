"""LabelHub's composition root and pure core."""

import os

# The tables of our statistics are thin: two threads for them cost more than they save, and a server
# has other requests to serve. Before numpy is first imported, which reads it once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
