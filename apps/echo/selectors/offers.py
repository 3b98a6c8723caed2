"""Queries of the catalogue, messages and experiments, for pages and REST."""

from datetime import datetime, timedelta
from typing import TypeAlias

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter
from drf_spectacular.utils import extend_schema_field

from apps.authors.models import Author, Message, Site
from apps.common.lists import SearchFilter
from apps.echo.models import CatalogueItem, Echo, Experiment
from labelhub.core.echo.recommending.catalogue import LONGEST
from labelhub.core.errors import Conflict, NotFound


def running_experiment(echo: Echo) -> Experiment | None:
    """The running experiment, if any; there is at most one."""
    return echo.experiments.filter(started_at__isnull=False, ended_at__isnull=True).first()


Items: TypeAlias = QuerySet[CatalogueItem]

#: How far back a message is looked up without its author.
LATELY = timedelta(days=1)


def get_message(site: Site, ref: str, author: Author | None, now: datetime) -> Message:
    """The author's message with the sender's id; without author, the recent one with that id.

    Raises:
        NotFound: there is none.
        Conflict: several authors have such a message.
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
        raise Conflict("Several authors have a message with this id; name the author.")
    found[0].author.site = site
    return found[0]


class CatalogueFilter(SearchFilter):
    """``?q=`` words that an item has all of; ``?active=`` whether it is offered."""

    q = CharFilter(method="find", label=_("Title, text or category"), max_length=LONGEST["title"])
    active = extend_schema_field({"type": "string", "enum": ["true", "false"]})(
        ChoiceFilter(
            choices=[("true", _("Offered")), ("false", _("Not offered"))],
            method="narrow_to",
            label=_("Show"),
            empty_label=_("All"),
        )
    )

    def find(self, rows: Items, _name: str, words: str) -> Items:
        """Items with all of these words in their id, title, text or vertical."""
        for word in words.split():
            matching = Q(definition__title__icontains=word) | Q(definition__text__icontains=word)
            rows = rows.filter(
                matching | Q(definition__vertical__icontains=word) | Q(ref__icontains=word)
            )
        return rows

    def narrow_to(self, rows: Items, _name: str, active: str) -> Items:
        """Items that are offered, or those that are not."""
        return rows.filter(active=active == "true")


def experiments_of(site: Site) -> QuerySet[Experiment]:
    """The site's experiments, newest first, each with its number of decisions as ``decided``."""
    rows = Experiment.objects.filter(echo=site.pk).select_related("echo")
    return rows.annotate(decided=Count("decisions")).order_by("-pk")


def get_experiment(site: Site, number: int) -> Experiment:
    """The experiment with this id.

    Raises:
        NotFound: the site has no such experiment.
    """
    rows = Experiment.objects.filter(echo=site.pk, pk=number).select_related("echo")
    if (found := rows.first()) is None:
        raise NotFound("There is no such experiment.")
    return found
