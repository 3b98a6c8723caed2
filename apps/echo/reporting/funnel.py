"""The funnel from messages that could have had an offer to clicks, counted by the database."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum

from apps.echo.models import Decision, Echo, OfferEvent

_OFFERED = ~Q(item_ref="")
#: A shown offer was sent, even if its event arrived before ``sent_at`` was stored.
_SENT = Q(sent_at__isnull=False) | Q(shown_at__isnull=False)


def offer_funnel(echo: Echo, since: datetime | None = None) -> dict[str, Any]:
    """The funnel of a site's messages ``since`` then, JSON-ready, in two queries.

    Returns:
        Counts; all except ``clicks`` and the cost count decisions. eligible: messages that could
        have had an offer. pending: decisions not made yet. undecided: not decided in time. nothing:
        decisions for no offer, by reason. offered: an item was chosen. late: offered, but not sent
        in time. waiting: offered, and waiting to be sent. sent: offered and sent, whether or not
        they were seen. shown: sent and visible to the author. clicked: shown and clicked at least
        once. clicks: all clicks. helpful, not_helpful, closed, named: shown, and rated helpful or
        not helpful, closed, or answered as to what mattered most. cost_nanousd: cost of wording the
        offers.
    """
    rows = echo.decisions.order_by()
    if since is not None:
        rows = rows.filter(message_at__gte=since)
    status, kind = Decision.Status, OfferEvent.Kind
    expired = Q(status=status.EXPIRED)
    by_reason = rows.values("why").annotate(
        eligible=Count("pk"),
        pending=Count("pk", filter=~_OFFERED & Q(status=status.PENDING)),
        undecided=Count("pk", filter=~_OFFERED & expired),
        nothing=Count("pk", filter=Q(status=status.NOTHING)),
        offered=Count("pk", filter=_OFFERED),
        late=Count("pk", filter=_OFFERED & expired & ~_SENT),
        waiting=Count("pk", filter=_OFFERED & Q(status=status.WAITING)),
        sent=Count("pk", filter=_SENT),
        shown=Count("shown_at"),
        cost_nanousd=Sum("cost_nanousd"),
    )
    sums, nothing = Counter[str](), Counter[str]()
    for row in by_reason:
        nothing[row.pop("why")] = row["nothing"]
        sums.update(row)
    events = OfferEvent.objects.filter(decision__in=rows.values("pk")).order_by().values("kind")
    counted = events.annotate(offers=Count("decision", distinct=True), n=Count("pk"))
    by_kind = {row["kind"]: row for row in counted}
    offers = {name: by_kind[name]["offers"] if name in by_kind else 0 for name in kind.values}
    funnel = ("eligible", "pending", "undecided", "offered", "late", "waiting", "sent", "shown")
    return {
        **{name: sums[name] for name in funnel},
        "nothing": dict((+nothing).most_common()),
        "clicked": offers[kind.CLICKED],
        "clicks": by_kind[kind.CLICKED]["n"] if kind.CLICKED in by_kind else 0,
        "helpful": offers[kind.HELPFUL],
        "not_helpful": offers[kind.NOT_HELPFUL],
        "closed": offers[kind.DISMISSED],
        "named": offers[kind.NAMED],
        "cost_nanousd": sums["cost_nanousd"],
    }
