"""The funnel from messages that could have had an offer to clicks, counted by the database."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum

from apps.echo.models import Decision, Echo, OfferEvent

_OFFERED = ~Q(item_ref="")
_NEVER_SENT = Q(sent_at__isnull=True, shown_at__isnull=True)


@dataclass(frozen=True, slots=True)
class OfferFunnel:
    """Counts of the messages of a period; all except ``clicks`` and the cost count decisions.

    Args:
        eligible: messages that could have had an offer.
        pending: decisions not made yet.
        undecided: not decided in time.
        nothing: decisions for no offer, by reason.
        offered: an item was chosen.
        late: offered, but not sent in time.
        waiting: offered, and waiting to be sent.
        sent: offered and sent, whether or not they were seen.
        shown: sent and visible to the author.
        clicked: shown and clicked at least once.
        clicks: all clicks.
        helpful, not_helpful, closed: shown, and rated helpful or not helpful, or closed.
        cost_nanousd: cost of wording the offers.
    """

    eligible: int
    pending: int
    undecided: int
    nothing: Mapping[str, int]
    offered: int
    late: int
    waiting: int
    sent: int
    shown: int
    clicked: int
    clicks: int
    helpful: int
    not_helpful: int
    closed: int
    cost_nanousd: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


def offer_funnel(echo: Echo, since: datetime | None = None) -> OfferFunnel:
    """The funnel of a site's messages ``since`` then, in two queries."""
    rows = echo.decisions.all()
    if since is not None:
        rows = rows.filter(message_at__gte=since)
    grouped = rows.values("status", "why").annotate(
        n=Count("pk"),
        offered=Count("pk", filter=_OFFERED),
        late=Count("pk", filter=_OFFERED & _NEVER_SENT & Q(status=Decision.Status.EXPIRED)),
        # A shown offer was sent, even if its event arrived before ``sent_at`` was stored.
        sent=Count("pk", filter=~_NEVER_SENT),
        shown=Count("shown_at"),
        cost=Sum("cost_nanousd"),
    )
    kinds: Counter[tuple[str, bool]] = Counter()
    sums: Counter[str] = Counter()
    nothing: Counter[str] = Counter()
    for row in grouped.order_by():
        kinds[row["status"], True] += row["offered"]
        kinds[row["status"], False] += row["n"] - row["offered"]
        for name in ("n", "offered", "late", "sent", "shown", "cost"):
            sums[name] += row[name]
        if row["status"] == Decision.Status.NOTHING:
            nothing[row["why"]] += row["n"]
    by_kind = OfferEvent.objects.filter(decision__in=rows.order_by().values("pk")).values("kind")
    counted = by_kind.annotate(offers=Count("decision", distinct=True), n=Count("pk")).order_by()
    # By kind: the number of decisions with such an event, and the number of events.
    events = dict.fromkeys(OfferEvent.Kind.values, (0, 0))
    events |= {row["kind"]: (row["offers"], row["n"]) for row in counted}
    kind, status = OfferEvent.Kind, Decision.Status
    return OfferFunnel(
        eligible=sums["n"],
        pending=kinds[status.PENDING, False],
        undecided=kinds[status.EXPIRED, False],
        nothing=dict(nothing.most_common()),
        offered=sums["offered"],
        late=sums["late"],
        waiting=kinds[status.WAITING, True],
        sent=sums["sent"],
        shown=sums["shown"],
        clicked=events[kind.CLICKED][0],
        clicks=events[kind.CLICKED][1],
        helpful=events[kind.HELPFUL][0],
        not_helpful=events[kind.NOT_HELPFUL][0],
        closed=events[kind.DISMISSED][0],
        cost_nanousd=sums["cost"],
    )
