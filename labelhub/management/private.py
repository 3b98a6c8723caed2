"""The base of commands that write into the data folder for as long as they run."""

import os
from typing import Any

from apps.common.commands import LabelhubCommand


class PrivateCommand(LabelhubCommand):
    """Whatever it writes, the database first of all, is for this account alone."""

    def handle(self, *args: Any, **options: Any) -> None:
        """As every command of ours, under a strict umask."""
        before = os.umask(0o077)
        try:
            super().handle(*args, **options)
        finally:
            os.umask(before)
