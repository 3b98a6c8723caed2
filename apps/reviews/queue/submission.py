"""An answer comes in or an item is left: checked first, stored always, tied to the suggestion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
    append_label,
    current_labels,
    read_history,
    translated_label,
    unassign_items,
)
from apps.projects.models import Project
from apps.reviews.comments.services import checked_words, remark
from apps.reviews.models import Decision, Purpose, Slot
from apps.reviews.queue.answers import (
    Answer,
    checked_extras,
    checked_value,
    presentation_provenance,
    translate_answer,
)
from apps.reviews.queue.drafts import drop_draft
from apps.reviews.queue.leases import check_asked, fill_slot, leave_slots, vacate_slot, was_asked
from apps.reviews.queue.reviewer_status import qualify
from apps.reviews.queue.selectors import ReviewSetup, arm_of, read_setup
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
    """Result of a submission; ``created`` is False for a retry."""

    label: Label
    decision: Decision
    created: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An answer and the circumstances in which it is given: the item, locked; all that was said of
    it so far; what they said last, which may be a rejection; what it was handed out for, and their
    place, where that has to tell what was shown or how long it took. ``extra``: more is said than
    was wanted.
    """

    project: Project
    user: User
    answer: Answer
    lease_token: UUID | None
    annotator: Annotator
    setup: ReviewSetup
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
    setup = read_setup(project)
    schema, state.project = setup.schema, setup.schema.project
    answer = translate_answer(project, schema, state, answer)
    value = checked_value(schema, state, answer)
    annotator = annotator_for_user(project, user)
    history = read_history(item_id)
    own = {label.uid: label for label in history if label.annotator_id == annotator.pk}
    if lease_token in own:
        sent = translated_label(own[lease_token], history)
        if value_key(sent.value) == value_key(value) and sent.rejected == answer.only_rejects:
            decision = Decision.objects.filter(label=sent, project=project, reviewer=user).first()
            if decision is None:
                raise InvalidInput.at("lease", "this token belongs to a label of no reviewer.")
            return Submitted(sent, decision, created=False)
    last = next(iter(current_labels(own.values())), None)
    purpose, place = _handed_out(user, state, answer)
    submission = Submission(
        project=project,
        user=user,
        answer=answer,
        lease_token=lease_token,
        annotator=annotator,
        setup=setup,
        state=state,
        history=history,
        last=last,
        purpose=purpose,
        place=place,
        suggestion=next((label for label in history if label.pk == state.suggestion_id), None),
        extra=(last is None or last.rejected)
        and purpose == Purpose.WORK
        and state.labels_by_people >= state.required_labels,
    )
    view = _view(submission)
    label = append_label(_new_label(submission, view, value), state=state, history=history)
    # Who shows the label need not read these again.
    label.supersedes, label.shown = last, view.shown
    label.proposed_from = None if value is None else view.shown
    late = _came_late(submission, label)
    drop_draft(user=user, item_id=item_id)
    decision = _decide(submission, view, label, late=late)
    if answer.comment:
        remark(project=project, user=user, item_id=item_id, text=answer.comment)
    if purpose == Purpose.QUALIFY:
        qualify(project, user)
    return Submitted(label, decision)


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


def _handed_out(user: User, state: ItemState, answer: Answer) -> tuple[Purpose, Slot | None]:
    """What the item was handed out for, asked only of items that people can be checked by; and what
    they were last handed it with, None where the answer tells all by itself."""
    complete = answer.shown is not None and answer.seconds is not None
    if complete and not state.is_gold_question:
        return Purpose.WORK, None
    places = Slot.objects.filter(item=state.item_id, holder=user)
    held = list(places.order_by(F("leased_at").desc(nulls_last=True)))
    checking = next((place for place in held if place.number is None), None)
    purpose = Purpose(checking.purpose) if state.is_gold_question and checking else Purpose.WORK
    return purpose, None if complete else next(iter(held), None)


def _view(submission: Submission) -> _View:
    """What they saw; a run may have changed the suggestion meanwhile. Of an audited item none is
    shown, nor of one drawn to be labelled without.

    Who saw none though the draw would have shown it, or one though it would not, belongs to neither
    side: they were handed the item before it had one, or before the draw.
    """
    state, answer, place = submission.state, submission.answer, submission.place
    # An abstention suggests nothing.
    suggestion = submission.suggestion
    proposal = suggestion if suggestion and not suggestion.abstained else None
    drawn = arm_of(submission.project, submission.user.pk, state)
    named = answer.shown
    if named is None and place and place.shown_id:
        named = place.shown_id
    elif drawn == Decision.Arm.WITHHELD:
        named = None
    elif named is None and answer.reject and not is_audit(state):
        named = proposal.pk if proposal else None
    shown = None
    if named:
        shown = next((label for label in submission.history if label.pk == named), None)
        if shown is None or shown.abstained or shown.annotator.kind not in MACHINES:
            raise InvalidInput.at("suggestion", f"item {state.item_id} has no suggestion {named}.")
        shown = translated_label(shown, submission.history)
    noted = place is not None and place.leased_at is not None and not place.is_over
    unknown = proposal is not None and not (shown or noted or answer.shown is not None)
    as_drawn = not unknown and (drawn == Decision.Arm.SHOWN) == (shown is not None)
    return _View(shown, unknown=unknown, arm=drawn if as_drawn else None)


def _new_label(submission: Submission, view: _View, value: Value | None) -> NewLabel:
    answer, setup, item = submission.answer, submission.setup, submission.state.item
    token, shown = submission.lease_token, view.shown.pk if view.shown else None
    provenance = {
        **presentation_provenance(answer, setup.schema.parsed.offered(item.options)),
        "comment": answer.comment,
        "guideline": setup.guideline_version,
        "arm": view.arm,
        VIEW_UNKNOWN: view.unknown,
    }
    return NewLabel(
        item_id=item.pk,
        annotator=submission.annotator,
        schema=setup.schema,
        value=value,
        action=_action(value, view.shown, answer),
        role=_role(submission),
        abstained=answer.abstain,
        rejected=answer.only_rejects,
        seconds=answer.seconds,
        shown_id=shown,
        proposed_from_id=None if value is None else shown,
        supersedes_id=submission.last.pk if submission.last else None,
        # By its lease's token: the database itself stores it once only.
        uid=None if any(label.uid == token for label in submission.history) else token,
        provenance={key: content for key, content in provenance.items() if content},
        **checked_extras(setup, item, answer),
    )


def _action(value: Value | None, suggestion: Label | None, answer: Answer) -> Label.Action:
    """What was done with the suggestion that was shown."""
    if answer.reject and suggestion is None:
        raise InvalidInput.at("reject", "no suggestion was shown, so there is nothing to reject.")
    if suggestion is None or answer.abstain:
        return Label.Action.NEW
    same = value is not None and value_key(value) == value_key(suggestion.value)
    if answer.reject and same:
        raise InvalidInput.at(
            "value", "this is the suggestion you reject; give another label, or leave it to others."
        )
    if answer.reject:
        return Label.Action.REJECTED
    return Label.Action.ACCEPTED if same else Label.Action.FIXED


def _role(submission: Submission) -> str:
    """How the answer counts; a revision counts as the answer that it revises.

    An expert has the last word on what others disagree on where they have seen what those said, or
    where a machine that is sure contradicts what was decided.
    """
    state, answer, own = submission.state, submission.answer, submission.own
    conflict = answer.adjudicates and state.stage == ItemState.Stage.CONFLICT
    settles = submission.annotator.kind == Kind.EXPERT and (state.disputed or conflict)
    if settles or (own and own.settles):
        # An abstention in the queue settles nothing.
        unclear = answer.adjudicates and answer.abstain
        return Label.Role.UNCLEAR if unclear else Label.Role.ADJUDICATION
    if own:
        return own.role
    if submission.purpose != Purpose.WORK:
        return Label.Role.GOLD_QUESTION
    unasked = submission.extra and not was_asked(submission.user, state.item_id)
    return Label.Role.EXTRA if unasked else Label.Role.VOTE


def _came_late(submission: Submission, label: Label) -> bool:
    """Fill the label's place; whether its lease had lapsed by then. A rejection leaves the place to
    others."""
    user, own = submission.user, submission.own
    if label.rejected:
        vacate_slot(user, label, own)
    elif fill_slot(user, label, own, submission.lease_token) or own:
        return False
    check_asked(submission.project, user, label)
    return submission.lease_token is not None and not label.rejected


def _decide(submission: Submission, view: _View, label: Label, *, late: bool) -> Decision:
    answer, place, token = submission.answer, submission.place, submission.lease_token
    # In how many seconds at most they answered what they were handed, where they do not say.
    given = place.leased_at if place and token and token == place.lease_token else None
    timed = answer.seconds is None and given is not None
    # Of an item whose answer was known, whether this is it; None where they could not tell.
    gold = None if submission.purpose == Purpose.WORK else submission.state.gold
    known = gold is not None and gold.value is not None and label.value is not None
    decision = Decision(
        project=submission.project,
        item_id=label.item_id,
        reviewer=submission.user,
        action=DECISIONS[Label.Action(label.action)],
        label=label,
        purpose=submission.purpose,
        correct=value_key(label.value) == value_key(gold.value) if known and gold else None,
        arm=view.arm or "",
        suggestion=submission.suggestion if view.arm else None,
        within=(timezone.now() - given).total_seconds() if timed and given else None,
        late=late,
        extra=submission.extra,
        comment=answer.comment,
    )
    return insert_row(decision)


@transaction.atomic
def skip_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Leave an item to others: it is not offered to ``user`` again until they undo. Idempotent.

    Who was given it by name gives it back with that.

    Raises:
        NotFound: the project has no such item.
    """
    state = lock_state(project, item_id)
    if user.pk in state.assignees:
        unassign_items(project, [item_id], [user])
    _let_go(user, item_id, lease_token)
    skipped = _leave(project, user, item_id, Decision.Action.SKIP, reason)
    remark(project=project, user=user, item_id=item_id, text=skipped.comment)
    return skipped


@transaction.atomic
def postpone_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Put an item off: it comes back to ``user`` once nothing else is left for them. Idempotent.

    Others may get it meanwhile, unless ``user`` was given it by name.

    Raises:
        NotFound: the project has no such item.
    """
    lock_state(project, item_id)
    _let_go(user, item_id, lease_token)
    return _leave(project, user, item_id, Decision.Action.POSTPONE, reason)


def ask_again(*, project: Project, item_ids: Iterable[int], users: Iterable[User]) -> None:
    """Forget that these people left these items to others or put them off: they are given them by
    name now, and nobody else would get them."""
    left = Decision.objects.filter(
        project=project,
        item__in=list(item_ids),
        reviewer__in=list(users),
        label__isnull=True,
        undone_at__isnull=True,
    )
    left.order_by().update(undone_at=timezone.now())


def _let_go(user: User, item_id: int, lease_token: UUID | None) -> None:
    mine = Slot.objects.filter(item=item_id, holder=user)
    leave_slots(mine.filter(lease_token=lease_token) if lease_token else mine)


def _leave(
    project: Project, user: User, item_id: int, action: Decision.Action, reason: str
) -> Decision:
    earlier = Decision.objects.standing(project, user).filter(item=item_id, action=action).first()
    return earlier or Decision.objects.create(
        project=project,
        item_id=item_id,
        reviewer=user,
        action=action,
        comment=checked_words("reason", reason),
    )
