"""The review plan: how many people label each item, which items, in which order, how blind."""

from typing import Any, TypedDict, Unpack

from django.db import transaction

from apps.accounts.models import User
from apps.common.validation import check_model
from apps.debates.services import reroute
from apps.labels.services import replan
from apps.projects.models import Project
from apps.reviews.models import Intervention


class ReviewPlan(TypedDict, total=False):
    """What of the plan is to change; see the fields of ``Project``."""

    overlap: int
    review_scope: str
    queue_order: str
    dispute_above: float | None
    blind_share: float
    check_share: float
    qualify_items: int
    qualify_accuracy: float


#: What the states of items depend on; the rest is asked when an item is handed out.
DERIVED_FROM = frozenset({"overlap", "review_scope", "queue_order", "dispute_above"})


def change_review_plan(
    *, project: Project, by: User | None = None, **given: Unpack[ReviewPlan]
) -> Project:
    """Change the plan and bring every item into line: some may be decided by it, others wait again.

    With ``by`` the log tells who changed what. Takes a few seconds for 20,000 items; each thousand
    is a transaction of its own, and doing it again after an interruption ends in the same place.

    Raises:
        InvalidInput: a value that cannot be, such as an overlap that is not 1 to 20.
    """
    values: dict[str, Any] = dict(given)
    for name, value in values.items():
        setattr(project, name, value)
    check_model(project, exclude=["created_by"])
    # What was not given may have been changed by somebody else since the project was read.
    with transaction.atomic():
        _log(project, by, values)
        Project.objects.filter(pk=project.pk).update(**values)
    project.refresh_from_db(fields=list(ReviewPlan.__annotations__))
    if DERIVED_FROM & values.keys():
        replan(project)
    if "review_scope" in values:
        reroute(project)  # a share of what no longer comes to people is audited, and only of that
    return project


def _log(project: Project, by: User | None, values: dict[str, Any]) -> None:
    """What changes, as it was and as it is to be."""
    if by is None or not values:
        return
    before = Project.objects.filter(pk=project.pk).values(*values).get()
    changed = {name: value for name, value in values.items() if value != before[name]}
    if changed:
        Intervention.objects.create(
            project=project,
            actor=by,
            action=Intervention.Action.PLAN,
            reason="; ".join(f"{name}: {before[name]} → {now}" for name, now in changed.items()),
            data=changed,
        )
