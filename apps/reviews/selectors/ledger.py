"""Items and labels of a project as lists, with everything a row shows."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import (
    debate_hidden_from,
    handed_blind,
    hidden_from,
    opinions_hidden_from,
)
from apps.labels.models import Kind, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import role_in
from apps.reviews.selectors.settings import review_settings


def items_of(project: Project, user: User) -> QuerySet[Item]:
    """The project's items in the order of their import, with state, suggestion and gold.

    ``hidden`` marks those of whose debate ``user`` must not learn yet, ``debate_hidden``
    those that the review screen shows them without a suggestion.
    """
    return _with_state(Item.objects.filter(project=project), user).order_by("pk")


def visible_items(user: User | AnonymousUser) -> QuerySet[Item]:
    """The items of every project that ``user`` may know of, in the same way."""
    return _with_state(Item.objects.visible_to(user), user)


def _with_state(items: QuerySet[Item], user: User | AnonymousUser) -> QuerySet[Item]:
    reader = user.pk or 0
    items = items.annotate(
        hidden=ExpressionWrapper(hidden_from(reader), BooleanField()),
        debate_hidden=ExpressionWrapper(debate_hidden_from(reader), BooleanField()),
    )
    return items.select_related("state__suggestion__annotator", "state__gold__decided_by")


def labels_of(project: Project, user: User) -> QuerySet[Label]:
    """Every label in the project's ledger, oldest first; a reviewer reads nothing that the review
    screen withholds from them: what models say of items that they are to answer blind, and what
    others say of any before they have answered it. Managers too read nothing that models say of
    what they were handed to answer blind."""
    by_models = Q(annotator__kind__in=(Kind.LLM, Kind.MODEL))
    reviews = role_in(user, project) == Role.REVIEWER
    hidden = hidden_from if reviews else handed_blind
    labels = Label.objects.filter(item__project=project)
    labels = labels.exclude(by_models & hidden(user.pk, item="item_id"))
    if reviews:
        by_others = ~by_models & ~Q(annotator__user=user.pk)
        told = review_settings(project).show_opinions
        opinions = hidden_from if told else opinions_hidden_from
        labels = labels.exclude(by_others & opinions(user.pk, item="item_id"))
    return labels.select_related(
        "item", "annotator", "schema", "superseded_by", "supersedes", "shown", "proposed_from"
    ).order_by("pk")
