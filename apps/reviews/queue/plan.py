"""The review plan: how many people label each item, which items, in which order, how blind."""

from collections.abc import Callable
from typing import Any, TypedDict, Unpack

from django.db import transaction

from apps.accounts.models import User
from apps.common.audit import Action, differences, record
from apps.common.validation import check_model
from apps.debates.services import reroute
from apps.labels.services import replan
from apps.projects.models import Project
from apps.reviews.models import Intervention, ReviewSettings


class ReviewPlan(TypedDict, total=False):
    """The fields to change; see ``Project``."""

    overlap: int
    review_scope: str
    queue_order: str
    dispute_above: float | None
    blind_share: float
    check_share: float
    qualify_items: int
    qualify_accuracy: float


#: The settings of the review screen.
SCREEN_FIELDS = [
    "show_opinions", "allow_abstain", "ask_confidence", "ask_rationale", "ask_evidence",
    "shuffle_options",
]  # fmt: skip
PLAN_FIELDS = list(ReviewPlan.__annotations__)
#: Fields that the states of items depend on; the others are read when an item is handed out.
DERIVED_FROM = frozenset({"overlap", "review_scope", "queue_order", "dispute_above"})


def change_review_plan(
    *, project: Project, by: User | None = None, **given: Unpack[ReviewPlan]
) -> Project:
    """Change the plan and update every item: some may be decided by it, others wait again.

    ``by`` is logged. Takes a few seconds for 20,000 items; each thousand is a transaction of its
    own, and doing it again after an interruption ends in the same place.

    Raises:
        InvalidInput: an impossible value, such as an overlap that is not 1 to 20.
    """
    values: dict[str, Any] = dict(given)
    for name, value in values.items():
        setattr(project, name, value)
    check_model(project, exclude=["created_by"])
    # Only the given fields: others may have changed since the project was read.
    before = Project.objects.filter(pk=project.pk).values(*values).get() if values else {}
    with transaction.atomic():
        _log(project, by, values)
        if changes := differences(before, values):
            record(Action.PLAN_CHANGED, project, actor=by, changes=changes)
        Project.objects.filter(pk=project.pk).update(**values)
    project.refresh_from_db(fields=PLAN_FIELDS)
    if DERIVED_FROM & values.keys():
        replan(project)
    if "review_scope" in values:
        reroute(project)  # audits are a share of the items that do not come to people
    return project


@transaction.atomic
def save_screen(project: Project, save: Callable[[], ReviewSettings]) -> ReviewSettings:
    """Save changed settings of the review screen, and record them."""
    rows = ReviewSettings.objects.filter(project=project)
    before = rows.values(*SCREEN_FIELDS).first() or {}
    saved = save()
    changes = differences(before, {name: getattr(saved, name) for name in SCREEN_FIELDS})
    if changes:
        record(Action.PLAN_CHANGED, project, changes=changes)
    return saved


def _log(project: Project, by: User | None, values: dict[str, Any]) -> None:
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
