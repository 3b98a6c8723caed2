"""What a model says that the project's own gold has taught, many items at a time."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from apps.common.bulk import insert_rows
from apps.labels.models import Label
from apps.labels.services.drafts import LabelDraft
from apps.labels.services.states import lock_states
from labelhub.core.schema import value_key


@transaction.atomic
def record_learned(drafts: Sequence[LabelDraft]) -> tuple[set[int], int]:
    """Append the labels that are news: of undecided items of which the model said something else,
    or nothing, before. Which of the items are undecided, and how many labels were written.

    One draft per item, all by one annotator, of items that have a state; values are canonical, and
    their role is ``TRAINED``. No item's state follows: such a label decides nothing and is
    nobody's suggestion.
    """
    states = lock_states(draft.item_id for draft in drafts)
    open_ids = {item_id for item_id, state in states.items() if state.gold_id is None}
    before = _current(drafts, open_ids)
    news = []
    for draft in drafts:
        said = before.get(draft.item_id)
        if draft.item_id in open_ids and not _same(said, draft):
            news.append(replace(draft, supersedes_id=said.pk if said else None).to_row())
    insert_rows(news)
    return open_ids, len(news)


def _current(drafts: Sequence[LabelDraft], open_ids: set[int]) -> dict[int, Label]:
    """Item → what the model says of it now."""
    annotators = {draft.annotator.pk for draft in drafts}
    rows = Label.objects.current().filter(item__in=open_ids, annotator__in=annotators)
    return {row.item_id: row for row in rows}


def _same(said: Label | None, draft: LabelDraft) -> bool:
    if said is None or said.value is None or draft.value is None:
        return False
    return said.schema_id == draft.schema.pk and value_key(said.value) == value_key(draft.value)
