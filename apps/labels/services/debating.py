"""What debates conclude, many at a time."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from apps.common.bulk import insert_rows
from apps.labels.models import Label
from apps.labels.services.drafts import DebateResult
from apps.labels.services.states import lock_states, refresh_states
from apps.projects.models import Project


@transaction.atomic
def record_debate_results(project: Project, results: Sequence[DebateResult]) -> list[Label | None]:
    """Append the labels of finished debates and route their items.

    At most one result per item in a call. A later run of the same annotator supersedes its earlier
    label. Returns the labels in the order of ``results``; None where a debate reached none.
    """
    ids = [result.item_id for result in results]
    lock_states(ids)
    earlier = _current_ids(results)
    rows: list[Label | None] = []
    for result in results:
        draft = result.draft
        if draft is None:
            rows.append(None)
            continue
        before = earlier.get((draft.item_id, draft.annotator.pk))
        rows.append(replace(draft, supersedes_id=before).to_row())
    insert_rows([row for row in rows if row is not None])
    by_item = {result.item_id: (result, row) for result, row in zip(results, rows, strict=True)}
    refresh_states(project, ids, by_item)
    return rows


def _current_ids(results: Sequence[DebateResult]) -> dict[tuple[int, int], int]:
    """(item, annotator) → id of the current label, for the drafts among ``results``."""
    drafts = [result.draft for result in results if result.draft is not None]
    rows = Label.objects.current().filter(
        item__in=[draft.item_id for draft in drafts],
        annotator__in={draft.annotator.pk for draft in drafts},
    )
    return {
        (row["item_id"], row["annotator_id"]): row["pk"]
        for row in rows.values("pk", "item_id", "annotator_id")
    }
