"""Saved exports: finding them, and whether they may still be given out."""

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.authors.models import Erasure
from apps.exchange.models import SavedExport
from apps.projects.models import Project
from labelhub.core.errors import Conflict, NotFound

READY = SavedExport.Status.DONE


def erasures_in(project: Project) -> int:
    """How many of the project's authors had their data deleted.

    The count, not the newest: of two erasures at once the earlier may become visible later. A site
    that is deleted takes its erasures along, and its authors: another number all the same.
    """
    return Erasure.objects.filter(site__project=project).count()


def outdated() -> "QuerySet[SavedExport]":
    """Ready files that were begun before some author of theirs was erased."""
    counted = (
        Erasure.objects.filter(site__project=OuterRef("project"))
        .order_by()
        .values("site__project")
        .annotate(n=Count("pk"))
        .values("n")
    )
    ready = SavedExport.objects.filter(status=READY)
    return ready.annotate(now=Coalesce(Subquery(counted), 0)).exclude(erasures=F("now"))


def saved_exports(project: Project) -> "QuerySet[SavedExport]":
    """The project's, newest first."""
    return project.saved_exports.select_related("created_by")


def saved_export(project: Project, export_id: int) -> SavedExport:
    """One of the project's.

    Raises:
        NotFound: there is none.
    """
    found = saved_exports(project).filter(pk=export_id).first()
    if found is None:
        raise NotFound(f"The project {project} has no saved export {export_id}.")
    return found


def ready_export(project: Project, export_id: int) -> SavedExport:
    """One whose file may be given out.

    Raises:
        NotFound: there is none.
        Conflict: it is not ready, or holds what an author had deleted since.
    """
    found = saved_export(project, export_id)
    if found.status == READY and found.erasures != erasures_in(project):
        raise Conflict(STALE)
    if found.status != READY:
        words = found.message or found.get_status_display()
        raise Conflict(f"There is no file to give out: {words[:1].lower()}{words[1:]}")
    return found


STALE = (
    "An author's data was deleted after this file was begun, so the file was deleted as well. "
    "Save the export again: it holds what is there now."
)
