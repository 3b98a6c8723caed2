"""What happens elsewhere and concerns stored reports."""

from typing import Any

from django.db import transaction

from apps.agreement.models import StoredReport
from apps.authors.models import Erasure


def forget_reports(instance: Erasure, **_signal: Any) -> None:
    """Whose data was deleted is in no stored number any more."""
    stored = StoredReport.objects.filter(project=instance.site.project_id)
    stored.delete()
    # Once more: who measured meanwhile saw the data until here.
    transaction.on_commit(lambda: stored.all().delete(), robust=True)
