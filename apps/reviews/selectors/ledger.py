"""Items and labels of a project as lists, with everything a row shows."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import hidden_from
from apps.labels.models import Kind, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import role_in


def items_of(project: Project, user: User) -> QuerySet[Item]:
    """The project's items in the order of their import, with state, suggestion and gold.

    ``hidden`` marks those of whose debate ``user`` must not learn yet.
    """
    return _with_state(Item.objects.filter(project=project), user).order_by("pk")


def visible_items(user: User | AnonymousUser) -> QuerySet[Item]:
    """The items of every project that ``user`` may know of, in the same way."""
    return _with_state(Item.objects.visible_to(user), user)


def _with_state(items: QuerySet[Item], user: User | AnonymousUser) -> QuerySet[Item]:
    items = items.annotate(hidden=ExpressionWrapper(hidden_from(user.pk or 0), BooleanField()))
    return items.select_related("state__suggestion__annotator", "state__gold__decided_by")


def labels_of(project: Project, user: User) -> QuerySet[Label]:
    """Every label in the project's ledger, oldest first; not what models say of items that ``user``
    is to audit."""
    labels = Label.objects.filter(item__project=project)
    if role_in(user, project) == Role.REVIEWER:
        by_models = Q(annotator__kind__in=(Kind.LLM, Kind.MODEL))
        labels = labels.exclude(by_models & hidden_from(user.pk, item="item_id"))
    return labels.select_related(
        "item", "annotator", "schema", "superseded_by", "supersedes", "proposed_from"
    ).order_by("pk")
