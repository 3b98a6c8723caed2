"""The saved filters of a project as its managers see them."""

import time
from dataclasses import dataclass
from urllib.parse import urlencode

from apps.projects.models import Project
from apps.reviews.models import ReviewSettings, SavedFilter
from apps.reviews.selectors.bulk import newest_item
from apps.reviews.selectors.searching import matching, read_query
from apps.reviews.selectors.searching.grid import MOST_COUNTED
from labelhub.core.errors import InvalidInput

#: So long the page of filters counts.
COUNTING_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A saved filter. ``count`` is capped, and None where it would have taken too long, or where
    the filter cannot be used any more: ``fault`` says why."""

    saved: SavedFilter
    address: str
    count: int | None
    capped: bool = False
    fault: str = ""


def filter_rows(project: Project, seconds: float = COUNTING_SECONDS) -> list[FilterRow]:
    """The project's filters by name, each with how many items it holds now; counting begins for as
    long as ``seconds`` have not passed: each may go through a million texts."""
    end = time.monotonic() + seconds
    return [_row(project, *each, end=end) for each in saved_filters(project)]


def saved_filters(project: Project) -> list[tuple[SavedFilter, str]]:
    """The project's filters by name, each with its search as it stands in an address."""
    return [(saved, address_of(saved)) for saved in SavedFilter.objects.filter(project=project)]


def address_of(saved: SavedFilter) -> str:
    """The search as it stands in an address, whether or not it can be made."""
    told = {
        name: ",".join(map(str, value)) if isinstance(value, list) else value
        for name, value in saved.query.items()
    }
    return urlencode(told)


def _row(project: Project, saved: SavedFilter, address: str, *, end: float) -> FilterRow:
    try:
        found = matching(project, read_query(saved.query))
    except InvalidInput as error:
        return FilterRow(saved, address, None, fault=error.message)
    if time.monotonic() > end:
        return FilterRow(saved, address, None)
    count = found[: MOST_COUNTED + 1].count()
    return FilterRow(saved, address, min(count, MOST_COUNTED), capped=count > MOST_COUNTED)


def first_settings(project: Project) -> ReviewSettings | None:
    """Which filter comes first and when it was applied; ``waits`` while a worker has yet to."""
    found = ReviewSettings.objects.select_related("first_filter").filter(project=project).first()
    if found is not None:
        left = found.first_filter_id is None and found.first_upto > 0
        late = found.first_filter_id is not None and found.first_upto < newest_item(project)
        found.waits = left or late  # type: ignore[attr-defined]  # for the page alone
    return found
