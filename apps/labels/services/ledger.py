"""Append labels of people, debates and trained models to the ledger, and withdraw them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_rows
from apps.common.metrics import HERE, LABELS, count_stored
from apps.common.prepared import prepared
from apps.common.rows import insert_row
from apps.labels.models import ItemState, Kind, Label
from apps.labels.services.item_ledger import ItemLedger, ledger_of, read_golds, read_history
from apps.labels.services.new_rows import DebateResult, NewLabel
from apps.labels.services.states import lock_states, read_plan, refresh_state, refresh_states
from apps.projects.models import Project
from labelhub.core.errors import Conflict, NotFound
from labelhub.core.schema import value_key


@transaction.atomic
def record_label(draft: NewLabel) -> Label:
    """Append a label; state and gold follow in the same transaction.

    The item's state row is locked: two people who label one item at once wait for each other.

    Raises:
        ValueNotOffered: the value is not among what the schema or the item offers.
        Conflict: the annotator has a current label here and the draft does not supersede it.
    """
    state = _locked_state(draft.item_id)
    if draft.value is not None:
        options = state.item.options if draft.schema.task.item_options else ()
        draft = replace(draft, value=draft.schema.parsed.normalise(draft.value, options))
    return append_label(draft, state=state, history=read_history(draft.item_id))


def append_label(draft: NewLabel, *, state: ItemState, history: Sequence[Label]) -> Label:
    """The same in the caller's transaction, which has locked the ``state`` and has read its item,
    its project and all labels of the item since. The draft's value is canonical.

    Raises:
        Conflict: as :func:`record_label`.
    """
    row = draft.to_row()
    row.item = state.item
    ledger = ledger_of(history, read_golds(draft.item_id))
    _check_supersedes(draft, ledger)
    insert_row(row)
    count_stored(LABELS, {(draft.annotator.kind, HERE): 1})
    ledger.append(row)
    refresh_state(state.project, state, ledger)
    return row


@transaction.atomic
def withdraw_label(*, label: Label, provenance: Mapping[str, Any] | None = None) -> Label:
    """Withdraw a label by a new row; gold and state follow.

    Raises:
        Conflict: the label was superseded or withdrawn meanwhile.
    """
    state = _locked_state(label.item_id)
    ledger = ledger_of(read_history(label.item_id), read_golds(label.item_id))
    if label not in (*ledger.labels, *ledger.rejections):
        raise Conflict("This label was changed meanwhile; nothing was withdrawn.")
    row = insert_row(_withdrawal_row(label, provenance or {}))
    ledger.append(row)
    refresh_state(state.project, state, ledger)
    return row


def _locked_state(item_id: int) -> ItemState:
    state = _locked.first(item_id)
    if state is None:
        raise NotFound("There is no item %(item_id)s.", item_id=str(item_id))
    read_plan(state.project)
    return state


@prepared
def _locked(item: int) -> QuerySet[ItemState]:
    rows = ItemState.objects.select_for_update(of=("self",))
    return rows.select_related("item", "project").filter(item=item)


def _check_supersedes(draft: NewLabel, ledger: ItemLedger) -> None:
    current = (*ledger.labels, *ledger.rejections)
    own = [label for label in current if label.annotator_id == draft.annotator.pk]
    now = own[-1] if own else None
    if now is not None and now.pk != draft.supersedes_id:
        raise Conflict(
            "%(name)s has labelled this item already; a revision must name the label it "
            "supersedes.",
            name=draft.annotator.name,
            data={"current_label": str(now.uid)},
        )
    if now is None and draft.supersedes_id is not None:
        raise Conflict("The label to supersede is not current any more.")


@transaction.atomic
def withdraw_labels(
    project: Project,
    item_ids: Iterable[int],
    labels: QuerySet[Label],
    *,
    provenance: Mapping[str, Any],
) -> list[Label]:
    """Withdraw those of ``labels`` that belong to these items and are in force; gold follows.

    The states are locked before ``labels`` are read, so that the conditions of the query hold until
    the end. Returns the withdrawn labels; labels that were revised meanwhile are left alone.
    """
    locked = lock_states(item_ids)
    standing = labels.filter(superseded_by__isnull=True, withdrawn=False, item__in=list(locked))
    found = list(standing.order_by("pk"))
    insert_rows([_withdrawal_row(label, provenance) for label in found])
    if found:
        refresh_states(project, {label.item_id for label in found})
    return found


def _withdrawal_row(label: Label, provenance: Mapping[str, Any]) -> Label:
    return Label(
        item_id=label.item_id,
        annotator_id=label.annotator_id,
        schema_id=label.schema_id,
        withdrawn=True,
        action=Label.Action.WITHDRAWN,
        supersedes_id=label.pk,
        provenance=dict(provenance),
    )


#: (item, annotator) → the current label.
CurrentLabels = Mapping[tuple[int, int], Label]


def _current_labels(drafts: Sequence[NewLabel]) -> CurrentLabels:
    """Current labels of the annotators of ``drafts`` on their items."""
    rows = Label.objects.current().filter(
        item__in=[draft.item_id for draft in drafts],
        annotator__in={draft.annotator.pk for draft in drafts},
    )
    return {(row.item_id, row.annotator_id): row for row in rows}


def _revision_row(draft: NewLabel, earlier: CurrentLabels) -> Label:
    before = earlier.get((draft.item_id, draft.annotator.pk))
    return replace(draft, supersedes_id=before.pk if before else None).to_row()


def _is_unchanged(draft: NewLabel, earlier: CurrentLabels) -> bool:
    """Whether the annotator's current label has this value, under the same schema."""
    before = earlier.get((draft.item_id, draft.annotator.pk))
    if before is None or before.value is None or draft.value is None:
        return False
    same = value_key(before.value) == value_key(draft.value)
    return same and before.schema_id == draft.schema.pk


@transaction.atomic
def record_debate_results(project: Project, results: Sequence[DebateResult]) -> list[Label | None]:
    """Append the labels of finished debates and route their items.

    At most one result per item in a call. A later run of the same annotator supersedes its earlier
    label. Returns the labels in the order of ``results``; None where a debate reached none.
    """
    ids = [result.item_id for result in results]
    lock_states(ids)
    drafts = [result.draft for result in results]
    earlier = _current_labels([draft for draft in drafts if draft])
    rows = [_revision_row(draft, earlier) if draft else None for draft in drafts]
    insert_rows([row for row in rows if row is not None])
    count_stored(LABELS, Counter((draft.annotator.kind, HERE) for draft in drafts if draft))
    by_item = {result.item_id: (result, row) for result, row in zip(results, rows, strict=True)}
    refresh_states(project, ids, by_item)
    return rows


@transaction.atomic
def record_learned(drafts: Sequence[NewLabel]) -> tuple[set[int], int]:
    """Append a trained model's labels of undecided items, where they differ from its earlier ones.
    Returns the undecided items and how many labels were written.

    One draft per item, all by one annotator; values are canonical, their role is ``TRAINED``. The
    items' states stay: such a label decides nothing and suggests nothing.
    """
    states = lock_states(draft.item_id for draft in drafts)
    open_ids = {item_id for item_id, state in states.items() if state.gold_id is None}
    open_drafts = [draft for draft in drafts if draft.item_id in open_ids]
    earlier = _current_labels(open_drafts)
    news = [
        _revision_row(draft, earlier) for draft in open_drafts if not _is_unchanged(draft, earlier)
    ]
    insert_rows(news)
    count_stored(LABELS, {(Kind.MODEL, HERE): len(news)})
    return open_ids, len(news)
