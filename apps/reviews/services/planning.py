"""How many people label each item, and which items come to people at all."""

from apps.common.validation import check_model
from apps.debates.services import reroute
from apps.labels.services import replan
from apps.projects.models import Project


def change_review_plan(
    *, project: Project, overlap: int | None = None, review_scope: str | None = None
) -> Project:
    """Change the plan and bring every item into line: some may be decided by it, others wait again.

    Takes a few seconds for 20,000 items; each thousand is a transaction of its own, and doing it
    again after an interruption ends in the same place.

    Raises:
        InvalidInput: an overlap that is not 1 to 20, or an unknown scope.
    """
    wanted = {"overlap": overlap, "review_scope": review_scope}
    given = {name: value for name, value in wanted.items() if value is not None}
    for name, value in given.items():
        setattr(project, name, value)
    check_model(project, exclude=["created_by"])
    # What was not given may have been changed by somebody else since the project was read.
    Project.objects.filter(pk=project.pk).update(**given)
    project.refresh_from_db(fields=list(wanted))
    replan(project)
    if review_scope is not None:
        reroute(project)  # a share of what no longer comes to people is audited, and only of that
    return project
