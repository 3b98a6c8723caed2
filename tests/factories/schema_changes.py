"""Changes of labels, as the real services make them."""

from typing import Any

from apps.labels.models import Gold, Label
from apps.projects.models import Item, Project, SchemaChange
from apps.projects.selectors import find_project
from apps.reviews.schema_changes.services import begin_change, draft_change, run_change
from labelhub.core.schema.operations import Operation


def begun(project: Project, *operations: Operation, **fields: Any) -> SchemaChange:
    """A change that has begun: no label is carried over yet."""
    draft = draft_change(find_project(project.slug), operations, **fields)
    return begin_change(draft, launch=False)


def changed(project: Project, *operations: Operation, **fields: Any) -> SchemaChange:
    """A change that is done."""
    return run_change(begun(project, *operations, **fields).pk)


def taken_back(change: SchemaChange) -> SchemaChange:
    """The change that takes it back, done."""
    return changed(change.project, reverts=SchemaChange.objects.get(pk=change.pk))


def said(item: Item) -> dict[str, Any]:
    """Annotator → what they say of the item now."""
    rows = Label.objects.current().filter(item=item).order_by("pk")
    return {row.annotator.name: row.value for row in rows.select_related("annotator")}


def decided(item: Item) -> Any:
    """The item's gold, None without."""
    row = Gold.objects.current().filter(item=item).first()
    return row.value if row else None
