"""An answer comes in: it is checked first, stored always, and tied to what was suggested."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.common.rows import insert_row
from apps.labels.blindness import is_audit
from apps.labels.models import MACHINES, VIEW_UNKNOWN, Annotator, ItemState, Kind, Label
from apps.labels.services import (
    NewLabel,
    annotator_for_user,
    current_labels,
    read_history,
    record_label,
    translated_label,
)
from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema, guideline_version
from apps.reviews.models import Decision, Purpose, Slot
from apps.reviews.schema_changes.arriving import arrive
from apps.reviews.selectors.arms import arm_of
from apps.reviews.services.answers import (
    Answer,
    checked_extras,
    checked_value,
    checked_words,
    told,
)
from apps.reviews.services.commenting import remark
from apps.reviews.services.drafting import drop_draft
from apps.reviews.services.known import check_asked
from apps.reviews.services.leases import fill_slot, vacate_slot, was_asked
from apps.reviews.services.standing import qualify
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import Value, value_key

DECISIONS = {
    Label.Action.ACCEPTED: Decision.Action.ACCEPT,
    Label.Action.FIXED: Decision.Action.FIX,
    Label.Action.REJECTED: Decision.Action.REJECT,
    Label.Action.NEW: Decision.Action.LABEL,
}


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of an answer; ``created`` is False when it had been stored before."""

    label: Label
    decision: Decision
    created: bool = True


@dataclass(frozen=True, slots=True)
class _Case:
    """Under which circumstances somebody answers: the item, locked, what was said of it so far and
    by themselves (``last`` may be a rejection), what it was handed out for, and their place, where
    that has to tell what was shown or how long it took. ``extra``: more is said than was wanted.
    """

    project: Project
    user: User
    annotator: Annotator
    schema: LabelSchema
    state: ItemState
    history: Sequence[Label]
    last: Label | None
    purpose: Purpose
    place: Slot | None
    suggestion: Label | None
    extra: bool

    @property
    def own(self) -> Label | None:
        """What they have answered; who only rejected the suggestion has given no answer."""
        return None if self.last is None or self.last.rejected else self.last

    @property
    def proposal(self) -> Label | None:
        """What is suggested now; an abstention suggests nothing."""
        return None if self.suggestion is None or self.suggestion.abstained else self.suggestion


@dataclass(frozen=True, slots=True)
class _View:
    """The suggestion that they saw; ``unknown``: there is one, and nobody knows whether they did.
    ``arm``: whether it was shown, where that was drawn."""

    shown: Label | None
    unknown: bool
    arm: Decision.Arm | None


@transaction.atomic
def submit_label(
    *, project: Project, user: User, item_id: int, answer: Answer, lease_token: UUID | None = None
) -> Submitted:
    """Store a reviewer's answer; the lease decides its place in the queue, never its fate.

    The same under the same token is stored once; another supersedes what they said of the item.

    Raises:
        NotFound: the project has no such item.
        NotAsked: who is paused, or has yet to qualify, answers what they were never given.
        ValueNotOffered, InvalidInput: the answer cannot be used; nothing was written.
    """
    answer = replace(answer, comment=checked_words("comment", answer.comment))
    state = lock_state(project, item_id)
    schema = current_schema(project)
    answer = arrive(project, schema, state, answer)
    value = checked_value(schema, state, answer)
    annotator = annotator_for_user(project, user)
    history = read_history(item_id)
    said = {label.uid: label for label in history if label.annotator_id == annotator.pk}
    sent = _sent_before(said, lease_token, history)
    if sent and _key(sent.value) == _key(value) and sent.rejected == answer.only_rejects:
        return Submitted(sent, _decision_of(sent, project, user), created=False)
    last = next(iter(current_labels(said.values())), None)
    purpose = _purpose(user, state)
    enough = state.labels_by_people >= state.wanted
    case = _Case(
        project, user, annotator, schema, state, history, last, purpose,
        place=_place(user, item_id, answer),
        suggestion=next((each for each in history if each.pk == state.suggestion_id), None),
        extra=(last is None or last.rejected) and purpose == Purpose.WORK and enough,
    )  # fmt: skip
    view = _view(case, answer)
    draft = _draft(case, view, answer, value, lease_token)
    label = record_label(draft, state=state, history=history)
    late = _came_late(case, label, lease_token)
    drop_draft(user=user, item_id=item_id)
    within = _within(case, answer, lease_token)
    decision = _decide(case, view, label, answer.comment, late=late, within=within)
    _follow_up(case, answer.comment)
    return Submitted(label, decision)


def _sent_before(
    said: Mapping[UUID, Label], lease_token: UUID | None, history: Sequence[Label]
) -> Label | None:
    """What came under this token earlier, as it is called now."""
    sent = said.get(lease_token) if lease_token else None
    return translated_label(sent, history) if sent else None


def _came_late(case: _Case, label: Label, lease_token: UUID | None) -> bool:
    """Fill the label's place; whether its lease had lapsed by then. A rejection leaves the place to
    others."""
    if label.rejected:
        vacate_slot(case.user, label, case.own)
        check_asked(case.project, case.user, label)
        return False
    if fill_slot(case.user, label, case.own, lease_token) or case.own:
        return False
    check_asked(case.project, case.user, label)
    return lease_token is not None


def _follow_up(case: _Case, comment: str) -> None:
    """What was remarked is a comment on the item; who tried to qualify may have done so."""
    if comment:
        remark(project=case.project, user=case.user, item_id=case.state.item_id, text=comment)
    if case.purpose == Purpose.QUALIFY:
        qualify(case.project, case.user)


def _purpose(user: User, state: ItemState) -> Purpose:
    """What the item was handed out for; asked only of items that people can be checked by."""
    if not state.known:
        return Purpose.WORK
    slot = Slot.objects.filter(item=state.item_id, holder=user, number__isnull=True).first()
    return Purpose(slot.purpose) if slot else Purpose.WORK


def _place(user: User, item_id: int, answer: Answer) -> Slot | None:
    """What they were last handed the item with; None also where the answer tells all by itself."""
    if answer.shown is not None and answer.seconds is not None:
        return None
    places = Slot.objects.filter(item=item_id, holder=user)
    return places.order_by(F("leased_at").desc(nulls_last=True)).first()


def _within(case: _Case, answer: Answer, lease_token: UUID | None) -> float | None:
    """In how many seconds at most they answered what they were handed, where they do not say."""
    place = case.place
    given = place.leased_at if place and lease_token == place.lease_token else None
    if answer.seconds is not None or lease_token is None or given is None:
        return None
    return (timezone.now() - given).total_seconds()


def _view(case: _Case, answer: Answer) -> _View:
    """What they saw. Who saw none though the draw would have shown it, or one though it would not,
    belongs to neither side: they were handed the item before it had one, or before the draw."""
    drawn = arm_of(case.project, case.user.pk, case.state)
    shown = _shown(case, answer, drawn)
    noted = case.place is not None and case.place.leased_at is not None and not case.place.is_over
    told = shown or noted or answer.shown is not None
    unknown = not told and case.proposal is not None
    as_drawn = not unknown and (drawn == Decision.Arm.SHOWN) == (shown is not None)
    return _View(shown, unknown=unknown, arm=drawn if as_drawn else None)


def _draft(
    case: _Case,
    view: _View,
    answer: Answer,
    value: Value | None,
    lease_token: UUID | None,
) -> NewLabel:
    return NewLabel(
        item_id=case.state.item_id,
        annotator=case.annotator,
        schema=case.schema,
        value=value,
        seconds=answer.seconds,
        supersedes_id=case.last.pk if case.last else None,
        # By its lease's token: the database itself stores it once only.
        uid=None if any(one.uid == lease_token for one in case.history) else lease_token,
        role=_role(case, answer),
        provenance=_provenance(case, view, answer),
        **checked_extras(case.project, case.schema, case.state.item, answer),
        **_origin(value, answer, view.shown),
    )


def _provenance(case: _Case, view: _View, answer: Answer) -> Mapping[str, Any]:
    kept = {
        **told(answer, case.schema.parsed.offered(case.state.item.options)),
        "comment": answer.comment,
        "guideline": guideline_version(case.project),
        "arm": view.arm,
        VIEW_UNKNOWN: view.unknown,
    }
    return {key: one for key, one in kept.items() if one}


def _role(case: _Case, answer: Answer) -> str:
    """How the answer counts; a revision counts as the answer that it revises."""
    if (case.own and case.own.settles) or _settles(case, answer):
        # An abstention in the queue settles nothing.
        unclear = answer.adjudicates and answer.abstain
        return Label.Role.UNCLEAR if unclear else Label.Role.ADJUDICATION
    if case.own:
        return case.own.role
    if case.purpose != Purpose.WORK:
        return Label.Role.GOLD_QUESTION
    unasked = case.extra and not was_asked(case.user, case.state.item_id)
    return Label.Role.EXTRA if unasked else Label.Role.VOTE


def _settles(case: _Case, answer: Answer) -> bool:
    """Whether this is an expert's last word on what others disagree on: they have seen what those
    said, or a machine that is sure contradicts what was decided."""
    if case.annotator.kind != Kind.EXPERT:
        return False
    conflict = case.state.stage == ItemState.Stage.CONFLICT
    return case.state.disputed or (answer.adjudicates and conflict)


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


def _shown(case: _Case, answer: Answer, drawn: Decision.Arm | None) -> Label | None:
    """The suggestion that the reviewer saw; a run may have changed it meanwhile."""
    named = _named(case, answer, drawn)
    if not named:
        return None
    seen = next((label for label in case.history if label.pk == named), None)
    if seen is None or seen.abstained or seen.annotator.kind not in MACHINES:
        raise InvalidInput.at("suggestion", f"item {case.state.item_id} has no suggestion {named}.")
    return translated_label(seen, case.history)


def _named(case: _Case, answer: Answer, drawn: Decision.Arm | None) -> int | None:
    """Its id. Of an audited item none is shown, nor of one drawn to be labelled without."""
    if answer.shown is None and case.place and case.place.shown_id:
        return case.place.shown_id
    if drawn == Decision.Arm.WITHHELD:
        return None
    if answer.shown is None and answer.reject and not is_audit(case.state):
        return case.proposal.pk if case.proposal else None
    return answer.shown


def _action(value: Value | None, suggestion: Label | None, answer: Answer) -> Label.Action:
    if answer.reject and suggestion is None:
        raise InvalidInput.at("reject", "no suggestion was shown, so there is nothing to reject.")
    if suggestion is None or answer.abstain:
        return Label.Action.NEW
    same = value is not None and _key(value) == _key(suggestion.value)
    if answer.reject and same:
        raise InvalidInput.at(
            "value", "this is the suggestion you reject; give another label, or leave it to others."
        )
    if answer.reject:
        return Label.Action.REJECTED
    return Label.Action.ACCEPTED if same else Label.Action.FIXED


def _key(value: Value | None) -> str | None:
    return None if value is None else value_key(value)


def _origin(value: Value | None, answer: Answer, suggestion: Label | None) -> dict[str, Any]:
    """The suggestion that was shown, whether the label came from it, and what was done with it."""
    shown = suggestion.pk if suggestion else None
    return {
        "abstained": answer.abstain,
        "rejected": answer.only_rejects,
        "action": _action(value, suggestion, answer),
        "shown_id": shown,
        "proposed_from_id": None if value is None else shown,
    }


def _decide(
    case: _Case, view: _View, label: Label, comment: str, *, late: bool, within: float | None
) -> Decision:
    decision = Decision(
        project=case.project,
        item_id=label.item_id,
        reviewer=case.user,
        action=DECISIONS[Label.Action(label.action)],
        label=label,
        purpose=case.purpose,
        correct=_correct(case, label),
        arm=view.arm or "",
        suggestion=case.suggestion if view.arm else None,
        within=within,
        late=late,
        extra=case.extra,
        comment=comment,
    )
    return insert_row(decision)


def _correct(case: _Case, label: Label) -> bool | None:
    """Of an item whose answer was known, whether this is it; None where they could not tell."""
    gold = case.state.gold
    if case.purpose == Purpose.WORK or gold is None or gold.value is None or label.value is None:
        return None
    return value_key(label.value) == value_key(gold.value)


def _decision_of(label: Label, project: Project, user: User) -> Decision:
    found = Decision.objects.filter(label=label, project=project, reviewer=user).first()
    if found is None:
        raise InvalidInput.at("lease", "this token belongs to a label that no reviewer gave.")
    return found
