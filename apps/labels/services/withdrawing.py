"""Many labels taken back at once."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_rows
from apps.labels.models import Label
from apps.labels.services.states import lock_states, refresh_states
from apps.projects.models import Project


@transaction.atomic
def withdraw_labels(
    project: Project,
    item_ids: Iterable[int],
    labels: QuerySet[Label],
    *,
    provenance: Mapping[str, Any],
) -> list[Label]:
    """Take back those of ``labels`` that are of these items and still stand; gold follows.

    The states are locked before ``labels`` are read: what the query asks of these items (who
    decided them, what others say) stays true until they are taken back. Returns those that were;
    what somebody revised or took back meanwhile is left alone.
    """
    locked = lock_states(item_ids)
    standing = labels.filter(superseded_by__isnull=True, withdrawn=False, item__in=list(locked))
    found = list(standing.order_by("pk"))
    insert_rows([_withdrawal(label, provenance) for label in found])
    if found:
        refresh_states(project, {label.item_id for label in found})
    return found


def _withdrawal(label: Label, provenance: Mapping[str, Any]) -> Label:
    return Label(
        item_id=label.item_id,
        annotator_id=label.annotator_id,
        schema_id=label.schema_id,
        withdrawn=True,
        action=Label.Action.WITHDRAWN,
        supersedes_id=label.pk,
        provenance=dict(provenance),
    )
