"""What happens elsewhere and concerns stored reports and promises."""

from typing import Any

from django.db import transaction

from apps.agreement.automation.guarantee import end, live_guarantee
from apps.agreement.models import Guarantee, StoredReport
from apps.authors.models import Erasure
from apps.projects.models import Project
from labelhub.core.schema.carrying import SchemaPlan


def forget_reports(instance: Erasure, **_signal: Any) -> None:
    """Whose data was deleted is in no stored number any more."""
    stored = StoredReport.objects.filter(project=instance.site.project_id)
    stored.delete()
    # Once more: who measured meanwhile saw the data until here.
    transaction.on_commit(lambda: stored.all().delete(), robust=True)


def end_promise(project: Project, plan: SchemaPlan, **_signal: Any) -> None:
    """A promise holds under other names for the same labels, not for other labels."""
    live = None if plan.one_to_one else live_guarantee(project)
    if live is not None:
        end(live, Guarantee.Ending.LABELS_CHANGED)
