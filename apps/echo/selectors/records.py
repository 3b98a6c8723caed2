"""What a site's managers and servers look up of its Echo; lists are querysets, a page one query."""

from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from apps.authors.models import Author, Message, Site
from apps.echo.models import CatalogueItem, Decision, Experiment, Selection
from labelhub.core.errors import Conflict, NotFound

Row = TypeVar("Row", bound=Model)

#: A message whose author is not named is looked for among those so new.
LATELY = timedelta(days=1)


def selections_of(site: Site) -> QuerySet[Selection]:
    """What was selected on the site, newest first."""
    return Selection.objects.filter(echo=site.pk).select_related("author", "message")


def decisions_of(site: Site) -> QuerySet[Decision]:
    """What was decided about offers on the site, newest first."""
    related = ("author", "message", "selection", "experiment")
    return Decision.objects.filter(echo=site.pk).select_related(*related)


def selection_called(site: Site, uid: UUID) -> Selection:
    """The selection of that id, with its Echo.

    Raises:
        NotFound: the site has none of it.
    """
    rows = Selection.objects.filter(echo=site.pk, uid=uid).select_related("echo", "message")
    return _found(rows, "There is no such selection.")


def offer_called(site: Site, uid: UUID) -> Decision:
    """The offer of that id.

    Raises:
        NotFound: the site has none of that id.
    """
    rows = Decision.objects.filter(echo=site.pk, uid=uid).exclude(item_ref="")
    return _found(rows, "There is no such offer.")


def message_called(site: Site, ref: str, author: Author | None, now: datetime) -> Message:
    """The message of the sender's id: of an author, or the one message that lately had it.

    Raises:
        NotFound: there is none.
        Conflict: several authors have one.
    """
    rows = Message.objects.filter(ref=ref).select_related("author", "conversation")
    if author is not None:
        rows = rows.filter(author=author)
    else:
        rows = rows.filter(site=site, received_at__gt=now - LATELY)
    found = list(rows[:2])
    if not found:
        raise NotFound("No message has this id.")
    if len(found) > 1:
        raise Conflict("Several authors have a message of this id; name the author.")
    found[0].author.site = site
    return found[0]


def items_of(site: Site, words: str = "", *, active: bool | None = None) -> QuerySet[CatalogueItem]:
    """The site's catalogue in its order; each of ``words`` is somewhere in an item's own."""
    rows = CatalogueItem.objects.filter(echo=site.pk)
    for word in words.split():
        told = Q(definition__title__icontains=word) | Q(definition__text__icontains=word)
        rows = rows.filter(told | Q(definition__vertical__icontains=word) | Q(ref__icontains=word))
    return rows if active is None else rows.filter(active=active)


def item_called(site: Site, ref: str) -> CatalogueItem:
    """The item of that id.

    Raises:
        NotFound: the catalogue has none.
    """
    return _found(CatalogueItem.objects.filter(echo=site.pk, ref=ref), "There is no such item.")


def experiments_of(site: Site) -> QuerySet[Experiment]:
    """The site's experiments, newest first."""
    return Experiment.objects.filter(echo=site.pk).select_related("echo")


def experiment_called(site: Site, number: int) -> Experiment:
    """The experiment of that id.

    Raises:
        NotFound: the site has none of it.
    """
    return _found(experiments_of(site).filter(pk=number), "There is no such experiment.")


def _found(rows: QuerySet[Row], words: str) -> Row:
    row = rows.first()
    if row is None:
        raise NotFound(words)
    return row
