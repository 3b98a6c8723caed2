"""What reviews follow up of changes below them: connected when the app is ready."""

from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.models import Intervention
from apps.reviews.services.standing import give_back


def free_what_they_held(*, project: Project, user: User, **_: Any) -> None:
    """Others get at once what somebody held, or was given by name, who may no longer label here."""
    given = give_back(project=project, user=user)
    if given:
        Intervention.objects.create(
            project=project,
            action=Intervention.Action.UNASSIGN,
            subject=user,
            items=given,
            reason="They may no longer label here.",
        )
