"""From the ledger to deliveries: what is new since a webhook's last round, in bounded batches.

Everything may be done twice, by several processes at once: a delivery's uid is made of its event,
and the row of the webhook is written only by whoever read it last (``turn``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.debates.models import Run
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import horizon
from apps.exchange.webhooks.events import (
    ADJUDICATED,
    GOLD,
    LABEL,
    RUN,
    WITHDRAWN,
    event_uid,
    gold_events,
    label_events,
)
from apps.labels.models import Gold, Label

#: Ledger rows that become deliveries in one round of one webhook.
BATCH = 500
#: While so many wait, a webhook takes up nothing new: the ledger keeps it.
MOST_WAITING = 1000
#: Ids that are looked through at once: most rows may be other projects'.
SPAN = 50_000
SPANS = 10
#: How long a transaction that ends a run may take.
RUNS_LATE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Tops:
    """The highest ids there are, read once for all webhooks."""

    label: int
    gold: int


def tops() -> Tops:
    """As of now."""
    labels = Label.objects.order_by("-pk").values_list("pk", flat=True)
    golds = Gold.objects.order_by("-pk").values_list("pk", flat=True)
    return Tops(labels.first() or 0, golds.first() or 0)


def derive(webhook: Webhook, ends: Tops) -> int:
    """Queue what the webhook was not told of yet; how many deliveries."""
    now, found, changes = timezone.now(), [], dict[str, Any]()
    if _is_behind(webhook, ends) and has_room(webhook):
        labels, label_seen = rows_after(
            labels_of(webhook), webhook.label_seen, ends.label, LABEL_FIELDS
        )
        golds, gold_seen = rows_after(golds_of(webhook), webhook.gold_seen, ends.gold, GOLD_FIELDS)
        found = [*label_deliveries(webhook, labels), *gold_deliveries(webhook, golds)]
        changes |= {"label_seen": label_seen, "gold_seen": gold_seen}
    runs = _ended_runs(webhook, now)
    if runs is not None:
        found += runs
        changes["runs_seen"] = now
    late, settled = _settle(webhook, now, changes)
    found, changes = [*late, *found], changes | settled
    return _write(webhook, found, changes) if found or changes else 0


def has_room(webhook: Webhook) -> bool:
    """Whether the webhook's line is short enough for more."""
    return waiting(webhook).count() < MOST_WAITING


def waiting(webhook: Webhook) -> "QuerySet[Delivery]":
    """What is still to be sent."""
    open_ = [Delivery.Status.WAITING, Delivery.Status.SENDING]
    return Delivery.objects.filter(webhook=webhook, status__in=open_)


def _is_behind(webhook: Webhook, ends: Tops) -> bool:
    return webhook.label_seen < ends.label or webhook.gold_seen < ends.gold


def _write(webhook: Webhook, found: Sequence[Delivery], changes: dict[str, Any]) -> int:
    try:
        with transaction.atomic():
            ours = Webhook.objects.filter(pk=webhook.pk, turn=webhook.turn)
            if not ours.update(turn=webhook.turn + 1, **changes):
                return 0
            Delivery.objects.bulk_create(found, ignore_conflicts=True)
    except IntegrityError:  # a row was deleted meanwhile: the next round looks anew
        return 0
    return len(found)


def rows_after(
    rows: "QuerySet[Any]", after: int, top: int, fields: Sequence[str]
) -> tuple[list[dict[str, Any]], int]:
    """At most a batch of rows with ids above ``after``; and up to which id all of them are here.

    In spans of ids, because the rows of one project may be few and far between.
    """
    found: list[dict[str, Any]] = []
    for _ in range(SPANS):
        if after >= top or len(found) >= BATCH:
            break
        until, room = min(after + SPAN, top), BATCH - len(found)
        span = rows.filter(pk__gt=after, pk__lte=until).order_by("pk")
        part = list(span.values("pk", *fields)[:room])
        found += part
        after = part[-1]["pk"] if len(part) == room else until
    return found, after


LABEL_FIELDS = ("created_at", "change", "role")
GOLD_FIELDS = ("created_at", "withdrawn", "basis")


def labels_of(webhook: Webhook) -> "QuerySet[Label]":
    """Those of the project that are an event which the webhook wants."""
    rows = Label.objects.filter(item__project=webhook.project_id)
    if LABEL in webhook.events:
        return rows
    settling = rows.filter(role=Label.Role.UNCLEAR, change__isnull=True)
    return settling if ADJUDICATED in webhook.events else rows.none()


def golds_of(webhook: Webhook) -> "QuerySet[Gold]":
    """Those of the project that are an event which the webhook wants."""
    wanted = Q(pk__in=[])
    if GOLD in webhook.events:
        wanted |= Q(withdrawn=False)
    if WITHDRAWN in webhook.events:
        wanted |= Q(withdrawn=True)
    if ADJUDICATED in webhook.events:
        wanted |= Q(withdrawn=False, basis=Gold.Basis.ADJUDICATION)
    return Gold.objects.filter(wanted, item__project=webhook.project_id)


def label_deliveries(webhook: Webhook, rows: Iterable[dict[str, Any]]) -> list[Delivery]:
    """One for each event that the rows are and the webhook wants; what a change of labels has only
    carried over settles nothing anew."""
    return [
        Delivery(
            webhook=webhook,
            # The ids of labels are not those of gold, whose events may have the same name.
            uid=event_uid(webhook, event if event == LABEL else f"{event} {LABEL}", row["pk"]),
            event=event,
            label_id=row["pk"],
            event_at=row["created_at"],
        )
        for row in rows
        for event in label_events(
            unclear=row["role"] == Label.Role.UNCLEAR and row["change"] is None
        )
        if event in webhook.events
    ]


def gold_deliveries(webhook: Webhook, rows: Iterable[dict[str, Any]]) -> list[Delivery]:
    """One for each event that the rows are and the webhook wants."""
    return [
        Delivery(
            webhook=webhook,
            uid=event_uid(webhook, event, row["pk"]),
            event=event,
            gold_id=row["pk"],
            event_at=row["created_at"],
        )
        for row in rows
        for event in gold_events(withdrawn=row["withdrawn"], basis=row["basis"])
        if event in webhook.events
    ]


def run_deliveries(webhook: Webhook, since: datetime) -> list[Delivery]:
    """One for each run that came to its end since."""
    ended = Run.objects.filter(
        project=webhook.project_id,
        status__in=[Run.Status.DONE, Run.Status.CANCELLED],
        finished_at__gte=since,
    ).order_by("finished_at", "pk")
    return [
        Delivery(
            webhook=webhook,
            uid=event_uid(webhook, RUN, pk, at),
            event=RUN,
            run_id=pk,
            event_at=at,
        )
        for pk, at in ended.values_list("pk", "finished_at")
        if at is not None
    ]


def _ended_runs(webhook: Webhook, now: datetime) -> list[Delivery] | None:
    """The runs whose end is not queued; None where there is nothing to note.

    Runs are few: a while back is looked at each time, instead of what is settled.
    """
    if RUN not in webhook.events:
        return None
    since = max(webhook.began_at, webhook.runs_seen - RUNS_LATE)
    found = run_deliveries(webhook, since)
    uids = [each.uid for each in found]
    known = set(webhook.deliveries.filter(uid__in=uids).values_list("uid", flat=True))
    missing = [each for each in found if each.uid not in known]
    aged = now - webhook.runs_seen > RUNS_LATE
    return missing if missing or aged else None


def _settle(
    webhook: Webhook, now: datetime, changes: dict[str, Any]
) -> tuple[list[Delivery], dict[str, Any]]:
    """What appeared late below the ids that were seen, and how far all is settled by now."""
    if connection.vendor != "postgresql":
        return [], {
            f"{name}_settled": changes[f"{name}_seen"]
            for name in ("label", "gold")
            if f"{name}_seen" in changes
        }
    mark = horizon.mark_of(webhook, now)
    if mark is None or "before" not in mark:
        return [], {"mark": mark} if mark != webhook.mark else {}
    over = horizon.is_over(mark)  # before the look: what is over then is seen
    late, complete = _late(webhook, mark)
    if over and complete:
        ends = {"label_settled": mark["label"], "gold_settled": mark["gold"]}
        return late, {"mark": None, **ends}
    return late, {"mark": mark} if mark != webhook.mark else {}


def _late(webhook: Webhook, mark: dict[str, Any]) -> tuple[list[Delivery], bool]:
    """Deliveries for rows between what is settled and what is marked that have none; and whether
    these are all."""
    told = Delivery.objects.filter(webhook=webhook)
    labels = (
        labels_of(webhook)
        .filter(pk__gt=webhook.label_settled, pk__lte=mark["label"])
        .filter(~Exists(told.filter(label=OuterRef("pk"))))
        .order_by("pk")
        .values("pk", *LABEL_FIELDS)[:BATCH]
    )
    golds = (
        golds_of(webhook)
        .filter(pk__gt=webhook.gold_settled, pk__lte=mark["gold"])
        .filter(~Exists(told.filter(gold=OuterRef("pk"))))
        .order_by("pk")
        .values("pk", *GOLD_FIELDS)[:BATCH]
    )
    found = [*label_deliveries(webhook, labels), *gold_deliveries(webhook, golds)]
    return found, max(len(labels), len(golds)) < BATCH
