"""The queues of tasks. Settings read them too, so this module needs nothing."""

from typing import Final

#: What somebody waits for, runs of models, and what takes minutes. A worker serves all of them, or
#: those that it is given.
INTERACTIVE: Final = "interactive"
RUNS: Final = "runs"
HEAVY: Final = "heavy"
QUEUES: Final = (INTERACTIVE, RUNS, HEAVY)
