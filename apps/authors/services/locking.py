"""Who writes several rows of an author has the author's row first.

So an answer, a message and a manager's ruling come one after the other, and a deletion comes before
or after each of them, never between. Rows are locked so that others may still refer to them; only a
deletion keeps that from happening as well. Runs and imports lock an author's items without knowing
of the author: where the two meet, one of them is begun again.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import IntegrityError, OperationalError, connection
from django.db.models import QuerySet

from apps.authors.models import Author, Site
from apps.common.prepared import prepared

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: What PostgreSQL calls a deadlock, and how often what it ended is begun again.
DEADLOCK, REFERRED_TO, TIMES = "40P01", "23503", 3


def retry_on_deadlock(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Begin ``work``, a transaction of its own, again when the database has ended it to free
    another one: what runs and imports lock of an author's items has an order of its own. And when
    what it deletes was referred to meanwhile, as by the delivery of a label to a webhook."""

    @functools.wraps(work)
    def retried(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for _ in range(TIMES - 1):
            try:
                return work(*args, **kwargs)
            except (OperationalError, IntegrityError) as error:
                ended = getattr(error.__cause__, "sqlstate", "") in (DEADLOCK, REFERRED_TO)
                if not ended or connection.in_atomic_block:
                    raise
        return work(*args, **kwargs)

    return retried


def lock_author(pk: int) -> Author | None:
    """The author as they are now, with their annotator; None where they are no more."""
    return _locked_author.first(pk)


def lock_author_to_delete(pk: int) -> Author | None:
    """The same, and nobody may refer to them until the transaction ends."""
    return Author.objects.select_for_update().filter(pk=pk).first()


def lock_or_create_author(site: Site, subject: str) -> tuple[Author, bool]:
    """The author whom the host knows by ``subject``, and whether they are new."""
    authors = Author.objects.select_for_update(no_key=True)
    try:
        return authors.get_or_create(site=site, subject=subject)
    except IntegrityError:
        # Another request created them, and they were erased before this one could read them.
        return authors.get_or_create(site=site, subject=subject)


def lock_site(site: Site) -> None:
    """What is written of a site as a whole is written by one at a time; its authors' traffic,
    which refers to the site, goes on."""
    Site.objects.select_for_update(no_key=True).get(pk=site.pk)


@prepared
def _locked_author(pk: int) -> QuerySet[Author]:
    rows = Author.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("annotator").filter(pk=pk)
