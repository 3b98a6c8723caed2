"""Base class of commands that write into the data folder."""

import os
from typing import Any

from apps.common.commands import LabelhubCommand


class PrivateCommand(LabelhubCommand):
    """A command whose files, such as the database, only this account can read."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command under a strict umask."""
        before = os.umask(0o077)
        try:
            super().handle(*args, **options)
        finally:
            os.umask(before)
