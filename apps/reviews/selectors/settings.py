"""How a project's screen is set up."""

from django.db.models import QuerySet

from apps.common.prepared import prepared
from apps.projects.models import Project
from apps.reviews.models import ReviewSettings


def review_settings(project: Project) -> ReviewSettings:
    """How the project reviews; an unsaved row with the defaults where nobody has chosen."""
    return _settings.first(project.pk) or ReviewSettings(project=project)


@prepared
def _settings(project: int) -> QuerySet[ReviewSettings]:
    return ReviewSettings.objects.filter(project=project)
