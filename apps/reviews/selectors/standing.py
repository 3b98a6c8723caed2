"""Whether somebody may work in a project just now."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.projects.models import Project
from apps.reviews.models import Standing


def standing_of(project: Project, user: User) -> Standing | None:
    """Where ``user`` stands in ``project``; None where nothing was ever said of them. One query,
    put together once: it is asked with every item that is handed out."""
    return _standing.first(project.pk, user.pk)


@prepared
def _standing(project: int, user: int) -> QuerySet[Standing]:
    return Standing.objects.filter(project=project, user=user)
