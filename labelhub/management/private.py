"""Base class of commands that write into the data folder."""

import ctypes
import os
from contextlib import suppress
from typing import Any

from apps.common.commands import LabelhubCommand

#: glibc's number of the setting, and its value. Each thread would get memory of its own, which it
#: gives back to no other.
M_ARENA_MAX, ARENAS = -8, 2


class PrivateCommand(LabelhubCommand):
    """A command whose files, such as the database, only this account can read."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command under a strict umask, with few arenas of memory."""
        with suppress(AttributeError):  # other C libraries have no mallopt
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
        # PyArrow's other pools keep what they had.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        before = os.umask(0o077)
        try:
            super().handle(*args, **options)
        finally:
            os.umask(before)
