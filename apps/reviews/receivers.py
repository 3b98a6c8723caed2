"""What reviews follow up of changes below them: connected when the app is ready."""

from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.services import release_all


def free_what_they_held(*, project: Project, user: User, **_: Any) -> None:
    """Others get at once what somebody held who may no longer label here."""
    release_all(project=project, user=user)
