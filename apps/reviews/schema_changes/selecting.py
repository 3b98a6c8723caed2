"""Looking up changes of labels."""

from django.db.models import QuerySet

from apps.projects.models import Project, SchemaChange
from labelhub.core.errors import NotFound

_WITH = ("from_schema", "to_schema", "created_by", "reverts__from_schema", "project")


def changes_of(project: Project) -> QuerySet[SchemaChange]:
    """The changes that have begun, the newest first."""
    rows = SchemaChange.objects.filter(project=project, to_schema__isnull=False)
    return rows.select_related(*_WITH).order_by("-pk")


def recent_changes(project: Project) -> list[SchemaChange]:
    """The last ones."""
    return list(changes_of(project)[:20])


def get_change(project: Project, change_id: int) -> SchemaChange:
    """One change, begun or not.

    Raises:
        NotFound: the project has none of that number.
    """
    rows = SchemaChange.objects.filter(project=project).select_related(*_WITH)
    found = rows.filter(pk=change_id).first()
    if found is None:
        raise NotFound(f"There is no change {change_id} of the labels of this project.")
    return found


def is_newest(change: SchemaChange) -> bool:
    """Whether it is done and no version has been made since, so that it can be taken back."""
    if change.status != SchemaChange.Status.DONE or change.to_schema is None:
        return False
    newer = change.project.schemas.filter(version__gt=change.to_schema.version)
    return not newer.exists()
