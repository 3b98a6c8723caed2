"""The figures of the quality page of a large project, kept for a minute.

Counting 200,000 labels takes a second or two. The page says as of when its figures are; names,
members and their status are always those of now, and the REST addresses count anew.
"""

from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import get_language

from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.quality.anchoring import AnchoringFigures, anchoring_figures
from apps.reviews.quality.reports import PeopleFigures, people_figures
from labelhub.core.version import VERSION

#: Decisions from which on figures are kept.
MANY = 20_000
KEPT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """``as_of`` is None for figures of this moment."""

    people: PeopleFigures
    anchoring: AnchoringFigures
    as_of: datetime | None = None


def quality_figures(project: Project) -> QualityFigures:
    """The figures of all people and of the suggestion's effect; of a project with many decisions
    at most a minute old."""
    first = Decision.objects.filter(project=project).order_by().values("pk")[:MANY]
    if first.count() < MANY:
        return QualityFigures(people_figures(project), anchoring_figures(project))
    # Figures have reasons in the reader's language; another version may have other figures.
    key = f"quality.{VERSION}.{project.pk}.{get_language()}"
    kept: QualityFigures | None = cache.get(key)
    if kept is None:
        now = timezone.now()
        kept = QualityFigures(people_figures(project), anchoring_figures(project), as_of=now)
        cache.set(key, kept, KEPT_SECONDS)
    return kept
