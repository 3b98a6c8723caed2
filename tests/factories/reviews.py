"""Items that wait for people, as the real services put them there."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import Kind, Label
from apps.labels.services import (
    DebateResult,
    NewLabel,
    annotator_for,
    record_debate_results,
)
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Slot
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.item_context import item_state
from apps.reviews.queue.leases import claim_next_item, note_shown
from apps.reviews.queue.submission import Submitted, submit_label
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory, member


def new_project(**fields: Any) -> Project:
    """A project of good or bad texts, unless told otherwise."""
    return cast(Project, ProjectFactory(**fields))


def suggest(
    item: Item,
    value: Any,
    *,
    reasons: Sequence[str] = (),
    evidence: Mapping[str, Sequence[str]] | None = None,
) -> Label:
    """What a debate proposes for ``item``; with ``reasons`` it is in doubt."""
    draft = NewLabel(
        item_id=item.pk,
        annotator=annotator_for(item.project, kind=Kind.LLM, name="ecj", offline=True),
        schema=current_schema(item.project),
        value=value,
        action=Label.Action.PROPOSED,
        evidence=evidence or {},
        rationale="Because the text says so.",
    )
    result = DebateResult(item_id=item.pk, draft=draft, reasons=reasons, uncertainty=0.5)
    (label,) = record_debate_results(item.project, [result])
    assert label is not None
    return label


def suggested_items(project: Project, count: int) -> list[Item]:
    """Items in the queue with the suggestion ``good``."""
    items = queued_items(project, count)
    for item in items:
        suggest(item, "good")
    return items


def reviewer(project: Project) -> User:
    """A crowd worker who may review."""
    return member(project, Role.REVIEWER)


def expert(project: Project) -> User:
    """An expert who may review."""
    return member(project, Role.REVIEWER, ReviewerKind.EXPERT)


def claim(project: Project, user: User, **options: Any) -> Slot:
    """The next item for ``user``, who looks at it; there must be one."""
    slot = claim_next_item(project=project, user=user, **options)
    assert slot is not None
    note_shown(slot, item_state(project, slot.item_id, user.pk).suggestion)
    return slot


def token(slot: Slot) -> UUID:
    """The token of a slot that is held."""
    assert slot.lease_token is not None
    return slot.lease_token


def answer(slot: Slot, user: User, value: Any, **fields: Any) -> Submitted:
    """Submit ``value`` for a claimed slot."""
    return submit_label(
        project=slot.project,
        user=user,
        item_id=slot.item_id,
        answer=Answer(value=value, **fields),
        lease_token=slot.lease_token,
    )
