"""Hold a restored server: nothing that others would notice starts by itself.

A copy for a drill must not continue the runs of the original, send its webhooks and mails once
more, or delete what is past its retention. So ``restore`` leaves a hold in the restored database.
Until an operator releases it, no worker takes jobs that are registered as ``outward``, and no
schedule runs (labelhub/worker.py). What a person does goes on: labelling, imports, exports, a
visitor's question.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.common.audit import Action, record
from apps.common.models import Hold

_ONLY = 1


def held_since() -> datetime | None:
    """When this server was held; None if it is not."""
    return Hold.objects.values_list("since", flat=True).first()


def hold(alias: str = "default") -> None:
    """Hold all servers and workers of a database, from now on."""
    Hold.objects.using(alias).get_or_create(pk=_ONLY, defaults={"since": timezone.now()})


def release_hold() -> bool:
    """Let everything start; False if this server was not held. Recorded in the audit log."""
    with transaction.atomic():
        released = bool(Hold.objects.all().delete()[0])
        if released:
            record(Action.HOLD_RELEASED)
    return released
