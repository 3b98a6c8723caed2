"""A site's offers, its catalogue and its experiments, as its pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.echo.models import CatalogueItem, Decision, Echo, Experiment, OfferEvent
from apps.echo.offer_words import arm_words, why_words
from apps.echo.values import value_words
from labelhub.core.errors import NotFound
from labelhub.core.interview.features import Feature as Definition

#: Offers that the page lists.
SHOWN = 20
_KIND = OfferEvent.Kind


@dataclass(frozen=True, slots=True)
class OfferRow:
    """An offer, the names and values of the features that spoke for it, and what became of it."""

    decision: Decision
    reasons: Sequence[tuple[str, str]]
    clicks: int
    helpful: bool | None
    closed: bool

    @property
    def words(self) -> str:
        """Why it was made."""
        return why_words(self.decision.why)

    @property
    def arm(self) -> str:
        """The arm of the experiment in which it was made; "" outside of any."""
        return arm_words(self.decision.arm)

    @property
    def clicked(self) -> str:
        """How often it was clicked."""
        return "Clicked" if self.clicks == 1 else f"Clicked {self.clicks:,} times"


def last_offers(echo: Echo) -> list[OfferRow]:
    """The newest offers, the newest first, in three queries."""
    rows = echo.decisions.exclude(item_ref="").select_related("author", "message")
    offers = list(rows.prefetch_related("events").order_by("-pk")[:SHOWN])
    keys = {reason["key"] for each in offers for reason in each.reasons}
    known = {row.key: row.parsed for row in echo.site.features.filter(key__in=keys).order_by()}
    return [_row(each, known) for each in offers]


def _row(decision: Decision, known: Mapping[str, Definition]) -> OfferRow:
    kinds = [event.kind for event in decision.events.all()]
    said = next((k for k in kinds if k in (_KIND.HELPFUL, _KIND.NOT_HELPFUL)), None)
    return OfferRow(
        decision=decision,
        reasons=[
            _reason(known.get(each["key"]), each) for each in decision.reasons if each["part"] > 0
        ],
        clicks=kinds.count(_KIND.CLICKED),
        helpful=None if said is None else said == _KIND.HELPFUL,
        closed=_KIND.DISMISSED in kinds,
    )


def _reason(feature: Definition | None, told: Mapping[str, Any]) -> tuple[str, str]:
    name = feature.name if feature else told["key"]
    return name, value_words(feature, told["value"])


def item_counts(echo: Echo) -> tuple[int, int]:
    """Items that are offered, and that are not."""
    counted = echo.items.aggregate(n=Count("pk"), on=Count("pk", filter=Q(active=True)))
    return counted["on"], counted["n"] - counted["on"]


def get_item(echo: Echo, pk: int) -> CatalogueItem:
    """An item of the catalogue.

    Raises:
        NotFound: there is none.
    """
    found = echo.items.filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such item in this catalogue.")
    return found


def running_experiment(echo: Echo) -> Experiment | None:
    """The one that runs; there is one at most."""
    return echo.experiments.filter(started_at__isnull=False, ended_at__isnull=True).first()


def counted_experiments(echo: Echo) -> QuerySet[Experiment]:
    """All of them, the newest first, each with the number of its decisions as ``decided``."""
    return echo.experiments.annotate(decided=Count("decisions")).order_by("-pk")
