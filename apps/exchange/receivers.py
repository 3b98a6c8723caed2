"""What happens elsewhere and concerns files that were written."""

from typing import Any

from django.db import transaction

from apps.exchange.saved.running import drop_outdated


def drop_files(**_signal: Any) -> None:
    """Whose data was deleted is in no saved file any more. Should this fail, a worker does it."""
    transaction.on_commit(drop_outdated, robust=True)
