"""Store an answer, a skip or a postponement: checked first, then stored in one transaction."""

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
from apps.labels.selectors import no_item
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
from apps.reviews.comments.services import add_remark, validate_words
from apps.reviews.models import Decision, Purpose, Slot
from apps.reviews.queue.answers import Answer, translate_answer, validate_extras, validate_value
from apps.reviews.queue.drafts import drop_draft
from apps.reviews.queue.leases import (
    check_asked,
    fill_slot,
    give_back_slots,
    vacate_slot,
    was_handed_out,
)
from apps.reviews.queue.reviewer_status import qualify
from apps.reviews.queue.selectors import ReviewSetup, arm_of, read_setup
from labelhub.core.errors import InvalidInput
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


@dataclass(frozen=True, slots=True)
class ShownSuggestion:
    """The suggestion on the reviewer's screen. ``unknown``: the item has a suggestion, and nobody
    knows whether it was on the screen. ``arm``: whether it was shown, where that was drawn."""

    label: Label | None
    unknown: bool
    arm: Decision.Arm | None

    def action(self, value: Value | None, answer: Answer) -> Label.Action:
        """What the reviewer did with the suggestion.

        Raises:
            InvalidInput: they reject no suggestion, or give the value that they reject.
        """
        if answer.reject and self.label is None:
            raise InvalidInput.at(
                "reject", "no suggestion was shown, so there is nothing to reject."
            )
        if self.label is None or answer.abstain:
            return Label.Action.NEW
        same = value is not None and value_key(value) == value_key(self.label.value)
        if answer.reject and same:
            raise InvalidInput.at(
                "value",
                "this is the suggestion you reject; give another label, or leave it to others.",
            )
        if answer.reject:
            return Label.Action.REJECTED
        return Label.Action.ACCEPTED if same else Label.Action.FIXED


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An answer with all that decides how it counts.

    ``state`` of the item is locked. ``history`` holds all labels of the item, ``last`` is the
    reviewer's newest, perhaps a mere rejection. ``purpose``: why the item was handed out.
    ``place``: the reviewer's slot, if it is needed to find out what was shown or how long the
    answer took. ``extra``: the item had all the labels that it needs.
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
        """The reviewer's current answer; a mere rejection is none."""
        return None if self.last is None or self.last.rejected else self.last

    def find_shown(self) -> ShownSuggestion:
        """The suggestion that was shown; a run may have changed the item's suggestion meanwhile.

        An audited item shows none, and an item drawn for the withheld arm shows none. An answer
        that was not given as the draw says belongs to no arm: the item was handed out before it had
        a suggestion, or before the draw.

        Raises:
            InvalidInput: the item has no such suggestion.
        """
        state, answer, place = self.state, self.answer, self.place
        # An abstention suggests nothing.
        suggestion = self.suggestion
        proposal = suggestion if suggestion and not suggestion.abstained else None
        drawn = arm_of(self.project, self.user.pk, state)
        named = answer.shown
        if named is None and place and place.shown_id:
            named = place.shown_id
        elif drawn == Decision.Arm.WITHHELD:
            named = None
        elif named is None and answer.reject and not is_audit(state):
            named = proposal.pk if proposal else None
        shown = None
        if named:
            shown = next((label for label in self.history if label.pk == named), None)
            if shown is None or shown.abstained or shown.annotator.kind not in MACHINES:
                raise InvalidInput.at(
                    "suggestion",
                    "item %(item_id)s has no suggestion %(named)s.",
                    item_id=str(state.item_id),
                    named=named,
                )
            shown = translated_label(shown, self.history)
        noted = place is not None and place.leased_at is not None and not place.is_over
        unknown = proposal is not None and not (shown or noted or answer.shown is not None)
        as_drawn = not unknown and (drawn == Decision.Arm.SHOWN) == (shown is not None)
        return ShownSuggestion(shown, unknown=unknown, arm=drawn if as_drawn else None)

    def new_label(self, shown: ShownSuggestion, value: Value | None) -> NewLabel:
        """The label to append; ``value`` is canonical.

        Raises:
            InvalidInput: the answer does not fit the suggestion, the item or the settings.
        """
        answer, setup, item = self.answer, self.setup, self.state.item
        token, shown_id = self.lease_token, shown.label.pk if shown.label else None
        offered, order = list(setup.schema.parsed.offered(item.options)), list(answer.order)
        shuffled = order != offered and sorted(order) == sorted(offered)
        provenance = {
            "spans": [span._asdict() for span in answer.spans],
            "options_shown": order if shuffled else None,
            "comment": answer.comment,
            "guideline": setup.guideline_version,
            "arm": shown.arm,
            VIEW_UNKNOWN: shown.unknown,
        }
        return NewLabel(
            item_id=item.pk,
            annotator=self.annotator,
            schema=setup.schema,
            value=value,
            action=shown.action(value, answer),
            role=self.choose_role(),
            abstained=answer.abstain,
            rejected=answer.only_rejects,
            seconds=answer.seconds,
            shown_id=shown_id,
            proposed_from_id=None if value is None else shown_id,
            supersedes_id=self.last.pk if self.last else None,
            # By its lease's token: the database itself stores it once only.
            uid=None if any(label.uid == token for label in self.history) else token,
            provenance={key: content for key, content in provenance.items() if content},
            **validate_extras(setup, item, answer),
        )

    def choose_role(self) -> str:
        """How the answer counts; a revision counts as the answer that it revises.

        An expert settles a conflict if they have seen what the others said, and a dispute with a
        machine in any case.
        """
        state, answer, own = self.state, self.answer, self.own
        conflict = answer.adjudicates and state.stage == ItemState.Stage.CONFLICT
        settles = self.annotator.kind == Kind.EXPERT and (state.disputed or conflict)
        if settles or (own and own.settles):
            # An abstention in the queue settles nothing.
            unclear = answer.adjudicates and answer.abstain
            return Label.Role.UNCLEAR if unclear else Label.Role.ADJUDICATION
        if own:
            return own.role
        if self.purpose != Purpose.WORK:
            return Label.Role.GOLD_QUESTION
        unasked = self.extra and not was_handed_out(self.user, state.item_id)
        return Label.Role.EXTRA if unasked else Label.Role.VOTE

    def fill_place(self, label: Label) -> bool:
        """Fill the slot of the label, or free it for others after a mere rejection. Returns whether
        the lease had lapsed.

        Raises:
            NotAsked: the reviewer may not work, and was never given the item.
        """
        user, own = self.user, self.own
        if label.rejected:
            vacate_slot(user, label, own)
        elif fill_slot(user, label, own, self.lease_token) or own:
            return False
        check_asked(self.project, user, label)
        return self.lease_token is not None and not label.rejected

    def record_decision(self, shown: ShownSuggestion, label: Label, *, late: bool) -> Decision:
        answer, place, token = self.answer, self.place, self.lease_token
        # Without a measured time: the answer took no longer than since the lease.
        given = place.leased_at if place and token and token == place.lease_token else None
        timed = answer.seconds is None and given is not None
        # Of a gold question, whether the answer is right; None for an abstention.
        gold = None if self.purpose == Purpose.WORK else self.state.gold
        known = gold is not None and gold.value is not None and label.value is not None
        decision = Decision(
            project=self.project,
            item_id=label.item_id,
            reviewer=self.user,
            action=DECISIONS[Label.Action(label.action)],
            label=label,
            purpose=self.purpose,
            correct=value_key(label.value) == value_key(gold.value) if known and gold else None,
            arm=shown.arm or "",
            suggestion=self.suggestion if shown.arm else None,
            within=(timezone.now() - given).total_seconds() if timed and given else None,
            late=late,
            extra=self.extra,
            comment=answer.comment,
        )
        return insert_row(decision)


@transaction.atomic
def submit_label(
    *, project: Project, user: User, item_id: int, answer: Answer, lease_token: UUID | None = None
) -> Submitted:
    """Store a reviewer's answer, also when its lease has lapsed.

    The same answer under the same token is stored once; any other supersedes the reviewer's earlier
    label of the item.

    Raises:
        NotFound: the project has no such item.
        NotAsked: the reviewer may not work, and was never given the item.
        ValueNotOffered, InvalidInput: the answer cannot be used; nothing was written.
    """
    answer = replace(answer, comment=validate_words("comment", answer.comment))
    state = lock_state(project, item_id)
    setup = read_setup(project)
    schema, state.project = setup.schema, setup.schema.project
    answer = translate_answer(schema, state, answer)
    value = validate_value(schema, state, answer)
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
    purpose, place = _read_purpose(user, state, answer)
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
    shown = submission.find_shown()
    label = append_label(submission.new_label(shown, value), state=state, history=history)
    # Serializers need not read these again.
    label.supersedes, label.shown = last, shown.label
    label.proposed_from = None if value is None else shown.label
    late = submission.fill_place(label)
    drop_draft(user=user, item_id=item_id)
    decision = submission.record_decision(shown, label, late=late)
    if answer.comment:
        add_remark(project=project, user=user, item_id=item_id, text=answer.comment)
    if purpose == Purpose.QUALIFY:
        qualify(project, user)
    return Submitted(label, decision)


def lock_state(project: Project, item_id: int) -> ItemState:
    """The item's state, locked, with its item: writers of one item wait for each other.

    Raises:
        NotFound: the project has no such item.
    """
    state = _locked.first(project.pk, item_id)
    if state is None:
        raise no_item(project, item_id)
    state.project = project
    return state


@prepared
def _locked(project: int, item: int) -> QuerySet[ItemState]:
    rows = ItemState.objects.select_for_update(of=("self",)).select_related("item")
    return rows.filter(project=project, item=item)


def _read_purpose(user: User, state: ItemState, answer: Answer) -> tuple[Purpose, Slot | None]:
    """Why the item was handed out, and the reviewer's newest slot. Reads no slot where the answer
    is complete and the item is no gold question; the slot of a complete answer is None."""
    complete = answer.shown is not None and answer.seconds is not None
    if complete and not state.is_gold_question:
        return Purpose.WORK, None
    places = Slot.objects.filter(item=state.item_id, holder=user)
    held = list(places.order_by(F("leased_at").desc(nulls_last=True)))
    checking = next((place for place in held if place.number is None), None)
    purpose = Purpose(checking.purpose) if state.is_gold_question and checking else Purpose.WORK
    return purpose, None if complete else next(iter(held), None)


@transaction.atomic
def skip_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Leave an item to others: ``user`` does not get it again until they undo. Idempotent.

    An assignment of the item to ``user`` ends.

    Raises:
        NotFound: the project has no such item.
    """
    state = lock_state(project, item_id)
    if user.pk in state.assignees:
        unassign_items(project, [item_id], [user])
    _free_own_slots(user, item_id, lease_token)
    skipped = _record_leaving(project, user, item_id, Decision.Action.SKIP, reason)
    add_remark(project=project, user=user, item_id=item_id, text=skipped.comment)
    return skipped


@transaction.atomic
def postpone_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Put an item off: it comes back to ``user`` once nothing else is left for them. Idempotent.

    Others may get it meanwhile, unless it is assigned to ``user``.

    Raises:
        NotFound: the project has no such item.
    """
    lock_state(project, item_id)
    _free_own_slots(user, item_id, lease_token)
    return _record_leaving(project, user, item_id, Decision.Action.POSTPONE, reason)


def undo_skips(*, project: Project, item_ids: Iterable[int], users: Iterable[User]) -> None:
    """Undo the skips and postponements of these items by these people, whom they are assigned to
    now."""
    left = Decision.objects.leaving().filter(
        project=project, item__in=list(item_ids), reviewer__in=list(users)
    )
    left.order_by().update(undone_at=timezone.now())


def _free_own_slots(user: User, item_id: int, lease_token: UUID | None) -> None:
    mine = Slot.objects.filter(item=item_id, holder=user)
    give_back_slots(mine.filter(lease_token=lease_token) if lease_token else mine)


def _record_leaving(
    project: Project, user: User, item_id: int, action: Decision.Action, reason: str
) -> Decision:
    earlier = Decision.objects.standing(project, user).filter(item=item_id, action=action).first()
    return earlier or Decision.objects.create(
        project=project,
        item_id=item_id,
        reviewer=user,
        action=action,
        comment=validate_words("reason", reason),
    )
