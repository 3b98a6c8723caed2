"""Adjudication: an expert settles an item, explains it, sends it back, undoes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import ROLES_WITH, Right
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import assign_items, withdraw_label
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.adjudication.docket import check_expert, waiting_states
from apps.reviews.adjudication.opinions import Opinions, find_quotes, read_opinions
from apps.reviews.comments.services import validate_text, write_comment
from apps.reviews.models import Comment, Decision, Intervention, Purpose, Slot
from apps.reviews.queue.answers import Answer, translate_answer, validate_value
from apps.reviews.queue.leases import LEASE_SECONDS, check_may_work, free_slots, take_slot
from apps.reviews.queue.selectors import Place, open_places
from apps.reviews.queue.submission import lock_state, submit_label, undo_skips
from apps.reviews.queue.undo import undo_settling_label
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.schema import value_key, value_words

#: The key of quotes that belong to no label.
FOR_NONE = ""
LEFT = (Decision.Action.SKIP, Decision.Action.POSTPONE)


class DecidedMeanwhile(Conflict):
    """Somebody else settled the item, or the conflict has ended."""

    code = "decided_meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """An adjudicator's decision: a raw ``value``, or ``abstain`` if nobody can tell. ``evidence``:
    quotes by label. ``explain``: a comment for people who gave another label; empty for none.
    ``schema_version`` of the labels to choose from; None: the newest."""

    value: Any = None
    abstain: bool = False
    rationale: str = ""
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)
    explain: str = ""
    seconds: float | None = None
    schema_version: int | None = None


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """The result of a ruling: label, current gold, overruled people, the explanation, and whether
    it was stored now (False for a retry)."""

    label: Label
    gold: Gold | None
    overruled: Sequence[User]
    comment: Comment | None = None
    created: bool = True


def claim_to_adjudicate(*, project: Project, user: User, item_id: int) -> Slot | None:
    """A lease on an item that waits for an expert, also if ``user`` has labelled it; renewed if
    they hold it. None if somebody else holds it, or it does not wait.

    Such an item needs one more label, so it has one open place and one holder.

    Raises:
        ReviewerPaused: a manager has paused them.
    """
    check_may_work(project, user)
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    waiting = waiting_states(project).filter(item=item_id)
    held = Slot.objects.live(now).filter(item__in=waiting.values("item"), holder=user)
    slot = held.first()
    desk = {"lease_until": until, "purpose": Purpose.SETTLE}
    if slot is not None and held.filter(pk=slot.pk).update(**desk):
        slot.lease_until, slot.purpose = until, Purpose.SETTLE
        return slot
    row = open_places(waiting, user.pk, now, given=True).first()
    if row is None:
        return None
    return take_slot(
        Place(*row), project=project, user=user, until=until, now=now, purpose=Purpose.SETTLE
    )


@transaction.atomic
def adjudicate(
    *, project: Project, user: User, item_id: int, ruling: Ruling, lease_token: UUID | None = None
) -> Adjudicated:
    """Store an expert's ruling, which settles the item, and explain it to the people it overrules.

    It is a label of the expert and supersedes their earlier one. With ``abstain`` the item has no
    gold and waits for nobody. The same ruling under the same token is stored once; the expert who
    settled an item may settle it again.

    Raises:
        Forbidden: ``user`` is no expert here.
        NotFound: the project has no such item.
        DecidedMeanwhile: it waits for nobody, and was not decided by ``user``; nothing was written.
        LabelsChanged, ValueNotOffered, InvalidInput: the ruling cannot be used.
    """
    check_expert(user, project)
    explanation = validate_text("explain", ruling.explain)
    ruling = _translate_ruling(project, lock_state(project, item_id), ruling)
    case = read_opinions(project, user, item_id)
    _check_open(case, user)
    done = submit_label(
        project=project,
        user=user,
        item_id=item_id,
        answer=_answer(case, ruling),
        lease_token=lease_token,
    )
    # People who gave another label and may still review here.
    decided = value_key(done.label.value)
    others = [opinion.label for opinion in case.people if value_key(opinion.label.value) != decided]
    judge = done.decision.reviewer_id
    overruled = [person for person in reviewers_of(project, others) if person.pk != judge]
    comment = None
    if explanation and done.created:
        comment = tell_people(
            Intervention.Action.EXPLAIN,
            project=project,
            user=user,
            item_id=item_id,
            text=explanation,
            people=overruled,
        )
    gold = Gold.objects.current().filter(item=item_id).select_related("decided_by").first()
    return Adjudicated(done.label, gold, overruled, comment, done.created)


def tell_people(
    action: Intervention.Action,
    *,
    project: Project,
    user: User,
    item_id: int,
    text: str,
    people: Sequence[User],
) -> Comment:
    """Write a comment that explains a decision or a return to people, and log it.

    Raises:
        NotFound, InvalidInput: as :func:`~apps.reviews.comments.services.write_comment`.
    """
    comment = write_comment(
        project=project,
        user=user,
        item_id=item_id,
        text=text,
        explains=True,
        to=[person.pk for person in people],
    ).comment
    subjects: list[User | None] = [*people] or [None]
    Intervention.objects.bulk_create(
        Intervention(
            project=project,
            actor=user,
            action=action,
            subject=person,
            reason=comment.text,
            items=1,
            data={"item": item_id, "comment": comment.pk},
        )
        for person in subjects
    )
    return comment


def reviewers_of(project: Project, labels: Sequence[Label]) -> list[User]:
    """The users who gave these labels and may still review here."""
    ids = [label.annotator.user_id for label in labels if label.annotator.user_id is not None]
    members = project.memberships.filter(user__in=ids, role__in=ROLES_WITH[Right.REVIEW])
    return [row.user for row in members.select_related("user").order_by("user__username")]


def _check_open(case: Opinions, user: User) -> None:
    own = case.own(user)
    if case.waits or (own is not None and own.label.settles):
        return
    if case.state.stage == ItemState.Stage.UNCLEAR:
        labels = [opinion.label for opinion in reversed(case.people)]
        found = next(label for label in labels if label.role == Label.Role.UNCLEAR)
        name, words = found.annotator.name, "unsure"
    elif case.state.stage == ItemState.Stage.DECIDED and case.gold is not None:
        name = case.gold.decided_by.name if case.gold.decided_by else "the reviewers"
        words = value_words(case.gold.value)
    else:
        raise DecidedMeanwhile("Reviewers no longer disagree on this item.")
    raise DecidedMeanwhile(
        "%(name)s has decided this item meanwhile: %(words)s. Nothing changed.",
        name=name,
        words=words,
    )


def _translate_ruling(project: Project, state: ItemState, ruling: Ruling) -> Ruling:
    """The ruling under today's labels."""
    given = Answer(
        value=ruling.value, evidence=ruling.evidence, schema_version=ruling.schema_version
    )
    now = translate_answer(current_schema(project), state, given)
    return replace(ruling, value=now.value, evidence=now.evidence)


def _answer(case: Opinions, ruling: Ruling) -> Answer:
    evidence = _evidence(case, ruling)
    # Quotes of no label become part of the rationale.
    words = [validate_text("rationale", ruling.rationale)]
    words += [f"“{quote}”" for quote in evidence.pop(FOR_NONE, [])]
    return Answer(
        value=ruling.value,
        abstain=ruling.abstain,
        rationale="\n".join(filter(None, words)),
        evidence=evidence,
        seconds=ruling.seconds,
        shown=case.shown,
        adjudicates=True,
    )


def _evidence(case: Opinions, ruling: Ruling) -> dict[str, list[str]]:
    """Quotes by the label that they support. Of a single label, quotes of others support the chosen
    one; if no label applies or nobody can tell, each stays with its own, or :data:`FOR_NONE`.

    Raises:
        ValueNotOffered, InvalidInput: the value is not offered, or a quote is not in the text.
    """
    answer = Answer(value=ruling.value, abstain=ruling.abstain)
    value = validate_value(case.schema, case.state, answer)
    names = [choice.value for choice in case.choices]
    meant = case.schema.parsed.names_in(value)
    chosen = [name for name in names if name in meant]
    offered = names if ruling.abstain or isinstance(value, list) else chosen
    nothing = ruling.abstain or value == []
    other = FOR_NONE if nothing else next(iter(chosen or names), str(value))
    found: dict[str, list[str]] = {}
    for name, quote in find_quotes(case.item, ruling.evidence):
        found.setdefault(name if name in offered else other, []).append(quote)
    given = sum(len(phrases) for phrases in ruling.evidence.values())
    if given and not found:
        raise InvalidInput.at("evidence", "none of these quotes is in the text.")
    return found


@dataclass(frozen=True, slots=True)
class SentBack:
    """The people who are asked again, and the comment they read."""

    people: Sequence[User]
    comment: Comment


@transaction.atomic
def send_back(*, project: Project, user: User, item_id: int, reason: str) -> SentBack:
    """Withdraw people's labels of a waiting item and assign it to the same people again.

    Labels of ``user``, imported labels and labels of people who do not review here any more stay.
    The people see the comment first when they get the item.

    Raises:
        Forbidden: ``user`` is no expert here.
        InvalidInput: no reason is given.
        NotFound: the project has no such item.
        DecidedMeanwhile: it waits for nobody.
        Conflict: none of the people who labelled it can be asked again.
    """
    check_expert(user, project)
    why = validate_text("reason", reason)
    if not why:
        raise InvalidInput.at("reason", "say what the reviewers should check again.")
    lock_state(project, item_id)
    case = read_opinions(project, user, item_id)
    if not case.waits:
        raise DecidedMeanwhile("This item no longer waits for a decision.")
    theirs = [
        opinion.label
        for opinion in case.people
        if opinion.label.annotator.user_id not in (None, user.pk)
    ]
    people = reviewers_of(project, theirs)
    if not people:
        raise Conflict(
            "The people who labelled this item no longer review here: decide it, or skip it."
        )
    asked = {person.pk for person in people}
    labels = [label for label in theirs if label.annotator.user_id in asked]
    for label in labels:
        withdraw_label(label=label, provenance={"sent_back_by": user.pk, "reason": why})
    Slot.objects.filter(label__in=labels).update(label=None, holder=None)
    free_slots(Slot.objects.filter(item=item_id))
    assign_items(project, [item_id], people)
    undo_skips(project=project, item_ids=[item_id], users=people)
    comment = tell_people(
        Intervention.Action.SEND_BACK,
        project=project,
        user=user,
        item_id=item_id,
        text=why,
        people=people,
    )
    return SentBack(people, comment)


def last_settled_decision(project: Project, user: User) -> Decision | None:
    """The last decision of ``user`` in the project, if it settled or skipped an item and is in
    force. Two queries at most."""
    decision = Decision.objects.standing(project, user).select_related("label", "item").first()
    if decision is None or decision.action in LEFT:
        return decision
    label = decision.label
    if label is None or not label.settles:
        return None
    return decision if Label.objects.current().filter(pk=label.pk).exists() else None


@transaction.atomic
def undo_adjudication(*, project: Project, user: User) -> Decision | None:
    """Undo the decision of :func:`last_settled_decision`, and return it.

    The expert's earlier answer is active again. Unread explanations are removed, read ones are
    marked as resolved.

    Raises:
        ReviewerPaused: a manager has paused them.
    """
    check_may_work(project, user)
    found = last_settled_decision(project, user)
    if found is None:
        return None
    lock_state(project, found.item_id)
    decision = last_settled_decision(project, user)
    if decision is None or decision.pk != found.pk:
        return None  # undone in another tab, or superseded
    decision.undone_at = timezone.now()
    decision.save(update_fields=["undone_at"])
    if decision.label is not None:
        undo_settling_label(decision, decision.label, user)
    return decision
