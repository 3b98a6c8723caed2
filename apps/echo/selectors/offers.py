"""Queries of offers, the catalogue, selections and experiments, for pages and REST."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_filters import CharFilter, ChoiceFilter

from apps.authors.models import Author, Message, Site
from apps.common.lists import SearchFilter
from apps.echo.models import CatalogueItem, Decision, Echo, Experiment, OfferEvent, Selection
from apps.echo.offer_words import arm_words, why_words
from apps.echo.selectors.predictions import value_words
from labelhub.core.echo.recommending.items import LONGEST
from labelhub.core.errors import Conflict, NotFound
from labelhub.core.interview.features import Feature as Definition

#: Offers that the page lists.
SHOWN = 20
_KIND = OfferEvent.Kind


@dataclass(frozen=True, slots=True)
class OfferRow:
    """An offer, the names and values of the features that favoured it, and its results."""

    decision: Decision
    reasons: Sequence[tuple[str, str]]
    clicks: int
    helpful: bool | None
    closed: bool

    @property
    def words(self) -> str:
        """The reason for the offer."""
        return why_words(self.decision.why)

    @property
    def arm(self) -> str:
        """The arm of the experiment that made it; "" without an experiment."""
        return arm_words(self.decision.arm)

    @property
    def clicked(self) -> str:
        """The number of clicks in words."""
        return ngettext("Clicked", "Clicked %(clicks)s times", self.clicks) % {
            "clicks": self.clicks
        }


def last_offers(echo: Echo) -> list[OfferRow]:
    """The newest offers, newest first, in three queries."""
    rows = echo.decisions.exclude(item_ref="").select_related("author", "message")
    offers = list(rows.prefetch_related("events").order_by("-pk")[:SHOWN])
    keys = {reason["key"] for offer in offers for reason in offer.reasons}
    known = {row.key: row.parsed for row in echo.site.features.filter(key__in=keys).order_by()}
    return [_row(offer, known) for offer in offers]


def _row(decision: Decision, known: Mapping[str, Definition]) -> OfferRow:
    kinds = [event.kind for event in decision.events.all()]
    rating = next((k for k in kinds if k in (_KIND.HELPFUL, _KIND.NOT_HELPFUL)), None)
    return OfferRow(
        decision=decision,
        reasons=[
            _reason(known.get(reason["key"]), reason)
            for reason in decision.reasons
            if reason["part"] > 0
        ],
        clicks=kinds.count(_KIND.CLICKED),
        helpful=None if rating is None else rating == _KIND.HELPFUL,
        closed=_KIND.DISMISSED in kinds,
    )


def _reason(feature: Definition | None, reason: Mapping[str, Any]) -> tuple[str, str]:
    name = feature.name if feature else reason["key"]
    return name, value_words(feature, reason["value"])


def running_experiment(echo: Echo) -> Experiment | None:
    """The running experiment, if any; there is at most one."""
    return echo.experiments.filter(started_at__isnull=False, ended_at__isnull=True).first()


Row = TypeVar("Row", bound=Model)

#: How far back a message is looked up without its author.
LATELY = timedelta(days=1)


def selections_of(site: Site) -> QuerySet[Selection]:
    """The site's selections, newest first."""
    return Selection.objects.filter(echo=site.pk).select_related("author", "message")


def decisions_of(site: Site) -> QuerySet[Decision]:
    """The site's decisions about offers, newest first."""
    related = ("author", "message", "selection", "experiment")
    return Decision.objects.filter(echo=site.pk).select_related(*related)


def get_selection(site: Site, uid: UUID) -> Selection:
    """The selection with this id, and its Echo.

    Raises:
        NotFound: the site has no such selection.
    """
    rows = Selection.objects.filter(echo=site.pk, uid=uid).select_related("echo", "message")
    return _found(rows, "There is no such selection.")


def get_offer(site: Site, uid: UUID) -> Decision:
    """The offer with this id.

    Raises:
        NotFound: the site has no such offer.
    """
    rows = Decision.objects.filter(echo=site.pk, uid=uid).exclude(item_ref="")
    return _found(rows, "There is no such offer.")


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
    active = ChoiceFilter(
        choices=[("true", _("Offered")), ("false", _("Not offered"))],
        method="narrow_to",
        label=_("Show"),
        empty_label=_("All"),
    )

    def find(
        self, rows: QuerySet[CatalogueItem], _name: str, words: str
    ) -> QuerySet[CatalogueItem]:
        """Items with all of these words in their id, title, text or vertical."""
        for word in words.split():
            matching = Q(definition__title__icontains=word) | Q(definition__text__icontains=word)
            rows = rows.filter(
                matching | Q(definition__vertical__icontains=word) | Q(ref__icontains=word)
            )
        return rows

    def narrow_to(
        self, rows: QuerySet[CatalogueItem], _name: str, active: str
    ) -> QuerySet[CatalogueItem]:
        """Items that are offered, or those that are not."""
        return rows.filter(active=active == "true")


def get_item(site: Site, **keys: Any) -> CatalogueItem:
    """The item with this ``pk`` or ``ref``.

    Raises:
        NotFound: the catalogue has no such item.
    """
    return _found(CatalogueItem.objects.filter(echo=site.pk, **keys), "There is no such item.")


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
    return _found(rows, "There is no such experiment.")


def _found(rows: QuerySet[Row], words: str) -> Row:
    row = rows.first()
    if row is None:
        raise NotFound(words)
    return row
