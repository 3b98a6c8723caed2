"""An answer comes in: it is checked first, stored always, and tied to what was suggested."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.labels.blindness import is_audit
from apps.labels.models import Annotator, ItemState, Label
from apps.labels.services import (
    UNASKED,
    LabelDraft,
    annotator_for_user,
    read_history,
    record_label,
    standing,
)
from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema, guideline_version
from apps.reviews.models import Decision, Slot
from apps.reviews.services.leases import free_slots
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import Value, unstorable, value_key

NOTHING_SHOWN = 0

DECISIONS = {
    Label.Action.ACCEPTED: Decision.Action.ACCEPT,
    Label.Action.FIXED: Decision.Action.FIX,
    Label.Action.REJECTED: Decision.Action.REJECT,
    Label.Action.NEW: Decision.Action.LABEL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reviewer sent.

    ``value`` is raw; None together with ``reject`` says "the suggestion is wrong", with
    ``abstain`` "cannot be told". ``shown`` is the id of the suggestion the reviewer saw,
    ``NOTHING_SHOWN`` for none, and None when the sender does not say (what stands now counts).
    """

    value: Any = None
    reject: bool = False
    abstain: bool = False
    seconds: float | None = None
    comment: str = ""
    shown: int | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of an answer; ``created`` is False when it had been stored before."""

    label: Label
    decision: Decision
    created: bool = True


@transaction.atomic
def submit_label(
    *, project: Project, user: User, item_id: int, answer: Answer, lease_token: UUID | None = None
) -> Submitted:
    """Store a reviewer's answer; the lease decides its place in the queue, never its fate.

    The same answer under the same token is stored once. A different one by the same person, or
    one for an item they have labelled, supersedes their earlier label.

    Raises:
        NotFound: the project has no such item.
        ValueNotOffered, InvalidInput: the answer cannot be used; nothing was written.
    """
    comment = _checked_remark("comment", answer.comment)
    state = lock_state(project, item_id)
    schema = current_schema(project)
    value = _checked_value(schema, state, answer)
    annotator = annotator_for_user(project, user)
    history = read_history(item_id)
    said = _said_by(annotator, history)
    sent = said.get(lease_token) if lease_token else None
    if sent and _key(sent.value) == _key(value):
        return Submitted(sent, _decision_of(sent, project, user), created=False)
    own = next(iter(standing(said.values())), None)
    extra = own is None and state.labels_by_people >= state.wanted
    unasked = own.provenance.get(UNASKED) if own else extra and not _asked(user, item_id)
    draft = LabelDraft(
        item_id=item_id,
        annotator=annotator,
        schema=schema,
        value=value,
        seconds=answer.seconds,
        supersedes_id=own.pk if own else None,
        uid=_uid(lease_token, history),
        provenance=_provenance(comment, guideline_version(project), unasked=unasked),
        **_origin(value, answer, _suggestion(state, answer, history)),
    )
    label = record_label(draft, state=state, history=history)
    in_time = _fill_slot(user, label, own, lease_token)
    late = lease_token is not None and own is None and not in_time
    return Submitted(label, _decide(project, user, label, comment, late=late, extra=extra))


@transaction.atomic
def skip_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Leave an item to others: it is not offered to ``user`` again until they undo. Idempotent.

    Raises:
        NotFound: the project has no such item.
    """
    lock_state(project, item_id)
    mine = Slot.objects.filter(item=item_id, holder=user)
    free_slots(mine.filter(lease_token=lease_token) if lease_token else mine)
    skipped = Decision.objects.standing(project, user).skips().filter(item=item_id).first()
    return skipped or Decision.objects.create(
        project=project,
        item_id=item_id,
        reviewer=user,
        action=Decision.Action.SKIP,
        comment=_checked_remark("reason", reason),
    )


def lock_state(project: Project, item_id: int) -> ItemState:
    """The item's state, locked: whoever writes about one item does it one after the other.

    Raises:
        NotFound: the project has no such item.
    """
    state = _locked.first(project.pk, item_id)
    if state is None:
        raise NotFound(f"There is no item {item_id} in the project '{project.slug}'.")
    state.project = project
    return state


@prepared
def _locked(project: int, item: int) -> QuerySet[ItemState]:
    rows = ItemState.objects.select_for_update(of=("self",)).select_related("item")
    return rows.filter(project=project, item=item)


def _checked_value(schema: LabelSchema, state: ItemState, answer: Answer) -> Value | None:
    if answer.value is None:
        if answer.abstain or answer.reject:
            return None
        raise _refused("value", "give a label, or skip the item.")
    try:
        return schema.parsed.normalise(answer.value, state.item.options)
    except InvalidInput as error:
        error.data["errors"] = [{"field": "value", "message": error.message}]
        raise


def _checked_remark(field: str, words: str) -> str:
    if bad := unstorable(words):
        raise _refused(field, f"must not contain {bad}.")
    return words.strip()


def _suggestion(state: ItemState, answer: Answer, history: Sequence[Label]) -> Label | None:
    """What the reviewer saw: a run may have changed the suggestion meanwhile, and of an audited
    item nothing is shown."""
    if answer.shown == NOTHING_SHOWN or (answer.shown is None and is_audit(state)):
        return None
    wanted = state.suggestion_id if answer.shown is None else answer.shown
    seen = next((label for label in history if label.pk == wanted), None)
    if seen is None and answer.shown is not None:
        raise _refused("suggestion", f"item {state.item_id} has no label {answer.shown}.")
    return seen


def _action(value: Value | None, suggestion: Label | None, answer: Answer) -> Label.Action:
    if suggestion is None or answer.abstain:
        return Label.Action.NEW
    same = value is not None and _key(value) == _key(suggestion.value)
    if answer.reject and same:
        raise _refused("value", "this is the suggestion you reject; give another label or none.")
    if answer.reject:
        return Label.Action.REJECTED
    return Label.Action.ACCEPTED if same else Label.Action.FIXED


def _said_by(annotator: Annotator, history: Sequence[Label]) -> dict[UUID, Label]:
    """What this annotator has said of the item, by uid."""
    return {label.uid: label for label in history if label.annotator_id == annotator.pk}


def _key(value: Value | None) -> str | None:
    return None if value is None else value_key(value)


def _origin(value: Value | None, answer: Answer, suggestion: Label | None) -> dict[str, Any]:
    """The suggestion that the label came from, and what was done with it."""
    return {
        "abstained": value is None,
        "action": _action(value, suggestion, answer),
        "proposed_from_id": suggestion.pk if suggestion and not answer.abstain else None,
    }


def _provenance(comment: str, guideline: int | None, *, unasked: bool) -> dict[str, Any]:
    told = {"comment": comment, "guideline": guideline, UNASKED: unasked}
    return {key: kept for key, kept in told.items() if kept}


def _uid(lease_token: UUID | None, history: Sequence[Label]) -> UUID | None:
    """A label goes by its lease's token: the database itself stores it once only."""
    return None if any(label.uid == lease_token for label in history) else lease_token


def _asked(user: User, item_id: int) -> bool:
    """Whether the queue has handed the item to ``user``, however long ago."""
    return Slot.objects.filter(item=item_id, holder=user, label__isnull=True).exists()


def _fill_slot(user: User, label: Label, own: Label | None, lease_token: UUID | None) -> bool:
    """Mark the slot the label fills; False where the lease had lapsed or gone to somebody else.

    Any slot of theirs on the item will do: another tab may hold it under a newer token.
    """
    filled = {"label": label, "lease_token": None, "lease_until": None}
    mine = Slot.objects.filter(item=label.item_id, holder=user, label__isnull=True)
    live = mine.filter(lease_until__gt=timezone.now())
    if own is not None and Slot.objects.filter(label=own).update(label=label):
        free_slots(mine)  # one label of theirs fills one place
        return True
    if lease_token is not None and live.filter(lease_token=lease_token).update(**filled):
        return True  # as nearly always
    slot = live.first() or mine.first()
    if slot is None:
        return False
    Slot.objects.filter(pk=slot.pk).update(**filled)
    return slot.lease_until is not None and slot.lease_until > timezone.now()


def _decide(
    project: Project, user: User, label: Label, comment: str, *, late: bool, extra: bool
) -> Decision:
    return Decision.objects.create(
        project=project,
        item_id=label.item_id,
        reviewer=user,
        action=DECISIONS[Label.Action(label.action)],
        label=label,
        late=late,
        extra=extra,
        comment=comment,
    )


def _decision_of(label: Label, project: Project, user: User) -> Decision:
    found = Decision.objects.filter(label=label, project=project, reviewer=user).first()
    if found is None:
        raise _refused("lease", "this token belongs to a label that no reviewer gave.")
    return found


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(
        f"{field}: {message}", data={"errors": [{"field": field, "message": message}]}
    )
