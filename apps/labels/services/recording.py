"""One label at a time: what people say, and what they take back."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.common.prepared import prepared
from apps.common.rows import insert_row
from apps.labels.models import ItemState, Label
from apps.labels.services.drafts import LabelDraft
from apps.labels.services.facts import Facts, facts_of, read_history
from apps.labels.services.states import refresh_state
from labelhub.core.errors import Conflict, NotFound


@transaction.atomic
def record_label(
    draft: LabelDraft, *, state: ItemState | None = None, history: Sequence[Label] | None = None
) -> Label:
    """Append a label; state and gold follow in the same transaction.

    The item's state row is locked: two people who label one item at once wait for each other.

    Args:
        draft: what is said.
        state: that row, with item and project, if the caller has locked it already.
        history: all labels of the item, if the caller has read them since.

    Raises:
        ValueNotOffered: the value is not among what the schema or the item offers.
        Conflict: the annotator has a current label here and the draft does not supersede it.
    """
    state = state or _locked_state(draft.item_id)
    row = draft.to_row()
    row.item = state.item
    if draft.value is not None:
        options = state.item.options if draft.schema.task.item_options else ()
        row.value = draft.schema.parsed.normalise(draft.value, options)
    fact = facts_of(draft.item_id, read_history(draft.item_id) if history is None else history)
    _check_supersedes(draft, fact)
    insert_row(row)
    fact.append(row)
    refresh_state(state.project, state, fact)
    return row


@transaction.atomic
def withdraw_label(*, label: Label, provenance: Mapping[str, Any] | None = None) -> Label:
    """Take a label back: a new row says so, gold and state follow.

    Raises:
        Conflict: the label was superseded or withdrawn meanwhile.
    """
    state = _locked_state(label.item_id)
    fact = facts_of(label.item_id, read_history(label.item_id))
    if label not in (*fact.labels, *fact.rejections):
        raise Conflict("This label was changed meanwhile; nothing was taken back.")
    row = Label(
        item_id=label.item_id,
        annotator_id=label.annotator_id,
        schema_id=label.schema_id,
        withdrawn=True,
        action=Label.Action.WITHDRAWN,
        supersedes=label,
        provenance=dict(provenance or {}),
    )
    insert_row(row)
    fact.append(row)
    refresh_state(state.project, state, fact)
    return row


def _locked_state(item_id: int) -> ItemState:
    state = _locked.first(item_id)
    if state is None:
        raise NotFound(f"There is no item {item_id}.")
    return state


@prepared
def _locked(item: int) -> QuerySet[ItemState]:
    rows = ItemState.objects.select_for_update(of=("self",))
    return rows.select_related("item", "project").filter(item=item)


def _check_supersedes(draft: LabelDraft, fact: Facts) -> None:
    said = (*fact.labels, *fact.rejections)
    own = [label for label in said if label.annotator_id == draft.annotator.pk]
    now = own[-1] if own else None
    if now is not None and now.pk != draft.supersedes_id:
        raise Conflict(
            f"{draft.annotator.name} has labelled this item already; "
            "a revision must name the label it supersedes.",
            data={"current_label": str(now.uid)},
        )
    if now is None and draft.supersedes_id is not None:
        raise Conflict("The label to supersede is not current any more.")
