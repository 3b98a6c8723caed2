"""Saved filters; the items of one filter may come first in the queue."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.common.jobs import JobRun, ensure_jobs, job, start_job
from apps.common.queues import HEAVY
from apps.common.validation import check_model
from apps.labels.services import promote_items
from apps.projects.models import Item, Project
from apps.reviews.models import BulkChange, BulkJob, Intervention, ReviewSettings, SavedFilter
from apps.reviews.search.grid import MOST_COUNTED
from apps.reviews.search.matching import matching_items, newest_item
from apps.reviews.search.query import Query, field_pairs, read_query
from labelhub.core.errors import InvalidInput, NotFound

#: The page of filters counts no longer than this.
COUNTING_SECONDS = 2.0
logger = logging.getLogger(__name__)
MOST_FILTERS = 100
CHUNK = 500
KIND = "reviews.first_filter"


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A saved filter. ``count`` is capped; None if it would take too long, or if the filter cannot
    be used any more (``fault``)."""

    saved: SavedFilter
    address: str
    count: int | None = None
    capped: bool = False
    fault: str = ""


def filter_rows(project: Project, seconds: float = COUNTING_SECONDS) -> list[FilterRow]:
    """The project's filters by name, with their counts. After ``seconds`` no further count begins,
    because each may go through a million texts."""
    end = time.monotonic() + seconds
    rows = []
    for saved, address in saved_filters(project):
        row = FilterRow(saved, address)
        try:
            found = matching_items(project, read_query(saved.query))
        except InvalidInput as error:
            row = replace(row, fault=error.message)
        else:
            if time.monotonic() <= end:
                count = found[: MOST_COUNTED + 1].count()
                row = replace(row, count=min(count, MOST_COUNTED), capped=count > MOST_COUNTED)
        rows.append(row)
    return rows


def saved_filters(project: Project) -> list[tuple[SavedFilter, str]]:
    """The project's filters by name, each with its query string."""
    filters = SavedFilter.objects.filter(project=project)
    return [(saved, urlencode(field_pairs(saved.query))) for saved in filters]


def first_settings(project: Project) -> ReviewSettings | None:
    """The review settings with the first filter; ``waits`` until a worker has applied it."""
    related = ReviewSettings.objects.select_related("project", "first_filter")
    found = related.filter(project=project).first()
    if found is not None:
        found.waits = _waits(found)  # type: ignore[attr-defined]  # for the page alone
    return found


def _waits(settings: ReviewSettings) -> bool:
    """Whether the first filter has not seen the newest items, or was removed."""
    if settings.first_filter_id is None:
        return settings.first_upto > 0
    return settings.first_upto < newest_item(settings.project)


def save_filter(*, project: Project, actor: User | None, name: str, query: Query) -> SavedFilter:
    """Save a search under a name; it replaces a filter of that name.

    If it is the first filter, the queue follows.

    Raises:
        InvalidInput: no name, an empty search, a value the labels do not offer, or too many.
    """
    matching_items(project, query)
    if not query.given:
        raise InvalidInput.at("query", "A filter without a condition would hold every item.")
    found = SavedFilter.objects.filter(project=project, name=name.strip()).first()
    if found is None and SavedFilter.objects.filter(project=project).count() >= MOST_FILTERS:
        raise InvalidInput.at(
            "name",
            "A project has at most %(most_filters)s saved filters.",
            most_filters=MOST_FILTERS,
        )
    saved = found or SavedFilter(project=project, name=name.strip(), created_by=actor)
    saved.query = query.to_json()
    check_model(saved, exclude=["created_by", "query"])
    saved.save()
    ReviewSettings.objects.filter(first_filter=saved).update(first_upto=0)
    return saved


def delete_filter(*, project: Project, filter_id: int) -> None:
    """Delete a filter; items that came first by it go back among the others.

    Raises:
        NotFound: the project has no such filter.
    """
    gone = get_filter(project, filter_id)
    with transaction.atomic():
        # Some items may be first already, also before the first round has ended.
        ReviewSettings.objects.filter(first_filter=gone).update(first_filter=None, first_upto=1)
        gone.delete()


def get_filter(project: Project, filter_id: int) -> SavedFilter:
    """A saved filter of the project.

    Raises:
        NotFound: there is none.
    """
    found = SavedFilter.objects.filter(project=project, pk=filter_id).first()
    if found is None:
        raise NotFound(
            "There is no saved filter %(filter_id)s in the project '%(slug)s'.",
            filter_id=str(filter_id),
            slug=project.slug,
        )
    return found


def set_first_filter(*, project: Project, chosen: SavedFilter | None) -> None:
    """Choose the filter whose items come first (None: no filter); a worker applies it.

    Choosing the same filter again applies it to items that match by now.
    """
    ReviewSettings.objects.get_or_create(project=project)
    upto = 0 if chosen else 1  # something to bring into line, though no filter has reached it
    with transaction.atomic():
        start_job(KIND, project.pk)  # locks the job before its subject, as its worker does
        ReviewSettings.objects.filter(project=project).update(first_filter=chosen, first_upto=upto)
        name = chosen.name if chosen else None
        record(Action.PLAN_CHANGED, project, changes={"first_filter": (None, name)})


def projects_to_apply() -> list[int]:
    """Projects whose first filter has not seen the newest items, or was removed. One short query
    if no project has a first filter."""
    using = ReviewSettings.objects.filter(
        Q(first_filter__isnull=False) | Q(first_upto__gt=0)
    ).select_related("project")
    return [settings.pk for settings in using if _waits(settings)]


def start_first_filters() -> None:
    """Start the jobs of first filters that have new items to look at."""
    ensure_jobs(KIND, projects_to_apply())


@job(KIND, queue=HEAVY)
def apply_first_filter(run: JobRun) -> None:
    """Promote the items of the first filter, and put others back."""
    related = ReviewSettings.objects.select_related("project", "first_filter")
    chosen = related.filter(pk=run.subject).first()
    if chosen is None:
        return
    newest, changed = newest_item(chosen.project), 0
    try:
        for ids, promoted in _misplaced_items(chosen, newest):
            with run.chunk():
                changed += promote_items(chosen.project, ids, promoted=promoted)
    except InvalidInput as error:
        # Its labels are gone: it finds nothing until it is saved again.
        logger.warning("filter %s cannot be applied: %s", chosen.first_filter_id, error.message)
    with run.last_chunk():
        # Unless another filter was chosen meanwhile.
        saved = chosen.first_filter
        same = ReviewSettings.objects.filter(
            pk=chosen.pk, first_filter=saved, first_upto=chosen.first_upto
        )
        same.update(first_upto=newest if saved else 0, first_at=timezone.now())
        if changed:
            Intervention.objects.create(
                project=chosen.project,
                action=Intervention.Action.PROMOTE,
                items=changed,
                data={"filter": saved.name if saved else ""},
            )


def _misplaced_items(chosen: ReviewSettings, newest: int) -> Iterator[tuple[list[int], bool]]:
    """Ids of items to promote, then of items to put back."""
    project, saved = chosen.project, chosen.first_filter
    found = matching_items(project, read_query(saved.query)) if saved else Item.objects.none()
    if saved is not None:
        wanting = found.filter(state__queued=True, state__promoted=False, pk__lte=newest)
        yield from ((ids, True) for ids in _chunks(wanting))
    if saved is None or chosen.first_upto == 0:
        first = Item.objects.filter(project=project, state__promoted=True, pk__lte=newest)
        # What a manager put first item by item stays there.
        put = BulkChange.objects.filter(item=OuterRef("pk"), job__action=BulkJob.Action.PROMOTE)
        undone = (BulkJob.Status.UNDOING, BulkJob.Status.UNDONE)
        kept = put.filter(job__options__promoted=True).exclude(job__status__in=undone)
        others = first.filter(~Q(Exists(kept))).exclude(pk__in=found.values("pk"))
        if project.review_scope != Project.ReviewScope.ALL:
            # Returned to the queue: these wait for nothing else, and no filter has put them first.
            others = others.exclude(
                state__reasons=[], state__labels_by_people=0, state__assignees=[]
            )
        yield from ((ids, False) for ids in _chunks(others))


def _chunks(items: QuerySet[Item]) -> Iterator[list[int]]:
    after = 0
    ordered = items.order_by("pk").values_list("pk", flat=True)
    while ids := list(ordered.filter(pk__gt=after)[:CHUNK]):
        yield ids
        after = ids[-1]
