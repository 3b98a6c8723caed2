"""Items and labels of a project as lists, with everything a row shows."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.labels.models import Label
from apps.projects.models import Item, Project


def items_of(project: Project) -> QuerySet[Item]:
    """The project's items in the order of their import, with state, suggestion and gold."""
    return _with_state(Item.objects.filter(project=project)).order_by("pk")


def visible_items(user: User | AnonymousUser) -> QuerySet[Item]:
    """The items of every project that ``user`` may know of, in the same way."""
    return _with_state(Item.objects.visible_to(user))


def _with_state(items: QuerySet[Item]) -> QuerySet[Item]:
    return items.select_related("state__suggestion__annotator", "state__gold__decided_by")


def labels_of(project: Project) -> QuerySet[Label]:
    """Every label in the project's ledger, oldest first."""
    return (
        Label.objects.filter(item__project=project)
        .select_related(
            "item", "annotator", "schema", "superseded_by", "supersedes", "proposed_from"
        )
        .order_by("pk")
    )
