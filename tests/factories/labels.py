"""Items that stand in the queue, and drafts of labels."""

from typing import Any

from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import Annotator
from apps.labels.services import NewLabel, annotator_for, annotator_for_user, open_items
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.projects import ItemFactory, member


def open_item(project: Project, **fields: Any) -> Item:
    """A freshly imported item."""
    return queued_items(project, 1, **fields)[0]


def queued_items(project: Project, count: int, **fields: Any) -> list[Item]:
    """Freshly imported items, in the queue."""
    items = ItemFactory.create_batch(count, project=project, **fields)
    open_items(items, project)
    return items


def person(project: Project, kind: ReviewerKind = ReviewerKind.CROWD) -> Annotator:
    """The annotator of a new reviewer."""
    return annotator_for_user(project, member(project, Role.REVIEWER, kind))


def machine(project: Project, name: str = "ecj offline") -> Annotator:
    """An LLM annotator."""
    return annotator_for(project, kind="llm", name=name)


def draft(item: Item, annotator: Annotator, value: Any, **fields: Any) -> NewLabel:
    """A draft under the project's current schema."""
    return NewLabel(
        item_id=item.pk,
        annotator=annotator,
        schema=current_schema(item.project),
        value=value,
        **fields,
    )
