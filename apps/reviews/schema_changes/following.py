"""What was saved under the names of labels is called as they are from now on."""

from typing import Any

from apps.projects.models import SchemaChange
from apps.reviews.models import SavedFilter
from labelhub.core.errors import InvalidInput
from labelhub.core.schema.carrying import Fate, SchemaPlan

#: The fields of a search that hold a label.
NAMING = ("label", "suggested", "gold")


def rename_filters(change: SchemaChange) -> None:
    """Saved searches find the same labels as before. What nothing stands for any more stays as it
    is, and the list of filters says what is wrong with it."""
    changed = []
    for saved in SavedFilter.objects.filter(project=change.project_id):
        told = {name: saved.query[name] for name in NAMING if saved.query.get(name)}
        now = {name: _now(change.plan, raw) for name, raw in told.items()}
        if now != told:
            saved.query = {**saved.query, **now}
            changed.append(saved)
    SavedFilter.objects.bulk_update(changed, ["query"])


def _now(plan: SchemaPlan, raw: Any) -> Any:
    """As a form would write it."""
    if plan.old.task.several:
        known = plan.old.label(str(raw))
        name = plan.names[known.name] if known else raw
        return raw if isinstance(name, Fate) else name
    try:
        value = plan.value(plan.old.normalise(raw))
    except InvalidInput:
        return raw
    return raw if isinstance(value, Fate) else str(value)
