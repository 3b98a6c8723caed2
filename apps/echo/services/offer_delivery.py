"""Deliver offers to authors and record events: see ``apps.authors.services.site_config``."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from apps.authors.errors import BadField, NotYours, UnknownQuestion
from apps.authors.models import Author
from apps.authors.services.messages import in_quiet_period
from apps.authors.services.site_config import Offers
from apps.echo.models import Decision, Echo, OfferEvent

#: How long after its message an offer may be delivered.
MOMENT = timedelta(minutes=2)
#: When an offer that was sent but not shown is sent again: the connection may have broken.
AGAIN = timedelta(seconds=10)
#: Offers that a page may still show after a reconnection: their maximum number and age.
MOST_BROUGHT, LATELY = 5, timedelta(days=1)
#: Maximum number of stored events per offer.
MOST_EVENTS = 1_000
#: Offers per query.
AT_ONCE = 500

_STANDING = (
    Decision.Status.PENDING,
    Decision.Status.WAITING,
    Decision.Status.SENT,
    Decision.Status.SHOWN,
)

_KINDS: Mapping[str, str] = {
    "shown": OfferEvent.Kind.SHOWN,
    "click": OfferEvent.Kind.CLICKED,
    "helpful": OfferEvent.Kind.HELPFUL,
    "unhelpful": OfferEvent.Kind.NOT_HELPFUL,
    "close": OfferEvent.Kind.DISMISSED,
    "mattered": OfferEvent.Kind.NAMED,
}


class EchoOffers(Offers):
    """Echo's offers, for the sockets that deliver them."""

    def data_of(self, author: Author) -> list[dict[str, Any]]:
        """Each decision about a message of the author, with the events of its offer."""
        decisions = Decision.objects.filter(author=author).order_by("pk")
        return [
            {
                "at": decision.message_at.isoformat(timespec="seconds"),
                "decided": decision.status,
                "why": decision.why or None,
                "policy": decision.policy,
                "experiment": decision.experiment.name if decision.experiment else None,
                "arm": decision.arm or None,
                "item": decision.item_ref or None,
                "offer": decision.offer or None,
                "events": [
                    {
                        "what": event.kind,
                        "feature": event.feature or None,
                        "at": event.at.isoformat(timespec="seconds"),
                    }
                    for event in decision.events.all()
                ],
            }
            for decision in decisions.select_related("experiment").prefetch_related("events")
        ]

    def made_at(self, site_id: int) -> bool:
        """Whether offers are on at the site."""
        return Echo.objects.filter(site=site_id, offers_on=True).exists()

    def waiting(self, author_ids: Sequence[int]) -> list[int]:
        """The authors among these with a waiting offer."""
        rows = _to_bring().filter(author__in=author_ids).order_by("pk")
        return list(dict.fromkeys(rows.values_list("author_id", flat=True)))

    def next(self, author: Author) -> Mapping[str, Any] | None:
        """The newest waiting offer, marked as sent; older ones expire."""
        found = _to_bring().select_related("message").filter(author=author.pk)
        decision = found.order_by("-pk").first()
        if decision is None:
            return None
        if decision.message is not None and in_quiet_period(decision.message):
            self.withdraw(author.pk)
            return None
        now = timezone.now()
        ours = Decision.objects.filter(pk=decision.pk, status=decision.status)
        if not ours.filter(sent_at=decision.sent_at).update(
            status=Decision.Status.SENT, sent_at=now
        ):
            return None
        older = Decision.objects.filter(author=author.pk, pk__lt=decision.pk)
        older.filter(status=Decision.Status.WAITING).update(status=Decision.Status.EXPIRED)
        expires = decision.message_at + MOMENT
        return {**decision.offer, "expires": int(expires.timestamp() * 1000)}

    def record_event(
        self, author: Author, uid: UUID, event: str, ref: str, feature: str = ""
    ) -> None:
        """Record an event of an offer; a repeated ``ref`` counts once, and so does a second answer
        to what mattered most.

        Raises:
            UnknownQuestion: there is no such offer.
            NotYours: the offer was made to somebody else.
            BadField: the offer did not ask what mattered most, or not about this ``feature``.
        """
        decision = Decision.objects.filter(uid=uid).exclude(item_ref="").first()
        if decision is None:
            raise UnknownQuestion("There is no such offer.")
        if decision.author_id != author.pk:
            raise NotYours("This offer was made to somebody else.")
        if event == "mattered":
            _check_named(decision, feature)
        _record(decision, _KINDS[event], ref, feature)

    def withdraw(self, author_id: int) -> None:
        """End the author's pending, waiting and recently delivered offers."""
        lately = Decision.objects.filter(author=author_id, created_at__gt=timezone.now() - LATELY)
        lately.filter(status__in=_STANDING).update(status=Decision.Status.EXPIRED)

    def withdrawn(self, uids: Collection[UUID]) -> set[UUID]:
        """The delivered offers among these that :meth:`withdraw` has ended."""
        ids, found = list(uids), set[UUID]()
        for start in range(0, len(ids), AT_ONCE):
            here = Decision.objects.filter(uid__in=ids[start : start + AT_ONCE])
            ended = here.filter(status=Decision.Status.EXPIRED).order_by()
            found.update(ended.values_list("uid", flat=True))
        return found

    def delivered(self, author: Author) -> set[UUID]:
        """The author's last delivered offers, within a day."""
        since = timezone.now() - LATELY
        rows = Decision.objects.filter(author=author.pk, sent_at__gt=since).order_by("-pk")
        return set(rows.values_list("uid", flat=True)[:MOST_BROUGHT])


def _check_named(decision: Decision, feature: str) -> None:
    keys = decision.mattered_keys
    if not keys:
        raise BadField("This offer does not ask what mattered most.")
    if feature not in {"", *keys}:
        raise BadField("This offer does not ask about that feature.")


def _record(decision: Decision, kind: str, ref: str, feature: str) -> None:
    """Store the event once. An offer with any event counts as shown."""
    now = timezone.now()
    try:
        with transaction.atomic():
            if decision.events.count() < MOST_EVENTS:
                OfferEvent.objects.create(
                    decision=decision, kind=kind, ref=ref, feature=feature, at=now
                )
            unseen = Decision.objects.filter(pk=decision.pk, shown_at__isnull=True)
            # A withdrawn offer stays withdrawn.
            taken_back = When(status=Decision.Status.EXPIRED, then=F("status"))
            shown = Case(taken_back, default=Value(Decision.Status.SHOWN))
            unseen.update(shown_at=now, status=shown)
    except IntegrityError:  # a repeated event, or a second answer
        return


def _to_bring() -> QuerySet[Decision]:
    now = timezone.now()
    lost = Q(status=Decision.Status.SENT, sent_at__lt=now - AGAIN)
    waiting = Q(status=Decision.Status.WAITING)
    running = Q(echo__on=True, echo__offers_on=True)
    newer = Decision.objects.filter(author=OuterRef("author"), pk__gt=OuterRef("pk"))
    due = Decision.objects.filter(waiting | lost, running, message_at__gt=now - MOMENT)
    return due.filter(~Exists(newer.exclude(item_ref="")))
