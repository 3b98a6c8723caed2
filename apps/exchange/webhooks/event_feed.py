"""The events of a webhook, read from the ledger and the runs and queued as deliveries, in bounded
batches: what is new since its last round, or what is sent again.

Several processes may do the same at once: a delivery's uid is made of its event, and only the
process that read the row of the webhook last can write it (``turn``). The ledger is read up to its
settled keys, below which no row can appear any more (:mod:`apps.common.feeds`).
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.feeds import settled_keys
from apps.debates.models import Run
from apps.exchange.models import Delivery, SavedExport, Webhook
from apps.labels.models import Gold, Label
from apps.projects.models import ImportBatch

LABEL = "label.created"
GOLD = "gold.decided"
WITHDRAWN = "gold.withdrawn"
ADJUDICATED = "adjudication.decided"
RUN = "run.finished"
IMPORT = "import.finished"
EXPORT = "export.finished"
PING = "ping"

#: Every event that can be chosen, with its meaning.
EVENTS = {
    LABEL: _(
        "An annotator labelled an item, revised or withdrew a label, or rejected a suggestion "
        "without giving a label."
    ),
    GOLD: _("The value of an item was decided, on any basis."),
    WITHDRAWN: _("The decision of an item was withdrawn."),
    ADJUDICATED: _(
        "An expert decided an item in conflict, which is a gold.decided as well, or found "
        "it unclear: then gold is null."
    ),
    RUN: _("A run of models finished or was cancelled."),
    IMPORT: _("An import is done or has failed."),
    EXPORT: _("A saved export is ready or has failed."),
}

#: Ledger rows that become deliveries in one round of one webhook.
BATCH = 500
#: While so many wait, no new events are queued: the ledger keeps them.
MOST_WAITING = 1000
#: Ids that are read at once: most rows may be other projects'.
SPAN = 50_000
SPANS = 10
#: How long a transaction that ends a run, an import or an export may take.
RUNS_LATE = timedelta(minutes=10)
ENDED = (Delivery.Status.DELIVERED, Delivery.Status.FAILED)


def event_uid(webhook: Webhook, event: str, row: int, moment: datetime | None = None) -> uuid.UUID:
    """The uid of an event, the same each time, so that receivers recognise it.

    Args:
        row: the id of the ledger's row, run, import or export.
        moment: the time of the event, where one row can be the same event several times.
    """
    when = f"@{moment.isoformat()}" if moment else ""
    return uuid.uuid5(webhook.uid, f"{event}:{row}{when}")


@dataclass(frozen=True, slots=True)
class LedgerIds:
    """A position in the ledger: an id of labels and one of gold."""

    label: int
    gold: int


def settled_ids() -> LedgerIds | None:
    """Up to where the ledger can be read now; None while a long transaction writes to it."""
    keys = settled_keys([Label, Gold])
    return None if keys is None else LedgerIds(*keys)


def highest_ids() -> LedgerIds:
    labels = Label.objects.order_by("-pk").values_list("pk", flat=True)
    golds = Gold.objects.order_by("-pk").values_list("pk", flat=True)
    return LedgerIds(labels.first() or 0, golds.first() or 0)


def position(read: LedgerIds) -> dict[str, Any]:
    """The fields of a webhook that has read so far. Servers of the version before, which may run
    beside ours, also know ``*_seen`` and ``mark``."""
    labels = dict.fromkeys(("label_seen", "label_settled"), read.label)
    return labels | dict.fromkeys(("gold_seen", "gold_settled"), read.gold) | {"mark": None}


def queue_events(webhook: Webhook, top: LedgerIds | None) -> int:
    """Queue the events of the webhook up to ``top`` of the ledger; how many deliveries."""
    now, changes = timezone.now(), dict[str, Any]()
    found: list[Delivery] = []
    read = LedgerIds(webhook.label_settled, webhook.gold_settled)
    if top and (read.label < top.label or read.gold < top.gold) and has_room(webhook):
        found, read = next_deliveries(webhook, read, top)
        changes |= position(read)
    ended = _ended_work(webhook, now)
    if ended is not None:
        found += ended
        changes["runs_seen"] = now
    if not found and not changes:
        return 0
    try:
        with transaction.atomic():
            ours = Webhook.objects.filter(pk=webhook.pk, turn=webhook.turn)
            if not ours.update(turn=webhook.turn + 1, **changes):
                return 0
            Delivery.objects.bulk_create(found, ignore_conflicts=True)
    except IntegrityError:  # a row was deleted meanwhile: the next round reads again
        return 0
    return len(found)


def has_room(webhook: Webhook) -> bool:
    return waiting(webhook).count() < MOST_WAITING


def waiting(webhook: Webhook) -> "QuerySet[Delivery]":
    return Delivery.objects.filter(webhook=webhook, status__in=Delivery.UNSENT)


def rows_after(
    rows: "QuerySet[Any]", after: int, top: int, fields: Sequence[str]
) -> tuple[list[dict[str, Any]], int]:
    """At most a batch of rows with ids above ``after``, and the id up to which they are complete.

    In spans of ids, because the rows of one project may be rare.
    """
    found: list[dict[str, Any]] = []
    for _round in range(SPANS):
        if after >= top or len(found) >= BATCH:
            break
        until, room = min(after + SPAN, top), BATCH - len(found)
        span = rows.filter(pk__gt=after, pk__lte=until).order_by("pk")
        part = list(span.values("pk", *fields)[:room])
        found += part
        after = part[-1]["pk"] if len(part) == room else until
    return found, after


def next_deliveries(
    webhook: Webhook, after: LedgerIds, top: LedgerIds, **filters: Any
) -> tuple[list[Delivery], LedgerIds]:
    """Deliveries for the next batch of labels and gold with ids in a range, and the last ids."""
    labels, label = rows_after(
        labels_of(webhook).filter(**filters), after.label, top.label, LABEL_FIELDS
    )
    golds, gold = rows_after(golds_of(webhook).filter(**filters), after.gold, top.gold, GOLD_FIELDS)
    found = ledger_deliveries(webhook, labels, golds)
    return found, LedgerIds(label, gold)


LABEL_FIELDS = ("created_at", "change", "role")
GOLD_FIELDS = ("created_at", "withdrawn", "basis")


def labels_of(webhook: Webhook) -> "QuerySet[Label]":
    """The labels of the project with an event that the webhook gets."""
    rows = Label.objects.filter(item__project=webhook.project_id)
    if LABEL in webhook.events:
        return rows
    settling = rows.filter(role=Label.Role.UNCLEAR, change__isnull=True)
    return settling if ADJUDICATED in webhook.events else rows.none()


def golds_of(webhook: Webhook) -> "QuerySet[Gold]":
    """The gold of the project with an event that the webhook gets."""
    wanted = Q(pk__in=[])
    if GOLD in webhook.events:
        wanted |= Q(withdrawn=False)
    if WITHDRAWN in webhook.events:
        wanted |= Q(withdrawn=True)
    if ADJUDICATED in webhook.events:
        wanted |= Q(withdrawn=False, basis=Gold.Basis.ADJUDICATION)
    return Gold.objects.filter(wanted, item__project=webhook.project_id)


def ledger_deliveries(
    webhook: Webhook, labels: Iterable[dict[str, Any]], golds: Iterable[dict[str, Any]]
) -> list[Delivery]:
    """A delivery for each event of these rows that the webhook gets."""
    found = [("label_id", row, event) for row in labels for event in _label_events(row)]
    found += [("gold_id", row, event) for row in golds for event in _gold_events(row)]
    return [
        Delivery(
            webhook=webhook,
            # The ids of labels are not those of gold, whose events may have the same name.
            uid=event_uid(
                webhook, f"{event} {LABEL}" if event != LABEL and field == "label_id" else event,
                row["pk"],
            ),
            event=event,
            event_at=row["created_at"],
            **{field: row["pk"]},
        )
        for field, row, event in found
        if event in webhook.events
    ]  # fmt: skip


def _label_events(row: dict[str, Any]) -> list[str]:
    """An expert's finding that the item is unclear is an adjudication, unless a change of the
    schema has translated it."""
    unclear = row["role"] == Label.Role.UNCLEAR and row["change"] is None
    return [LABEL, ADJUDICATED] if unclear else [LABEL]


def _gold_events(row: dict[str, Any]) -> list[str]:
    if row["withdrawn"]:
        return [WITHDRAWN]
    return [GOLD, ADJUDICATED] if row["basis"] == Gold.Basis.ADJUDICATION else [GOLD]


def work_deliveries(webhook: Webhook, since: datetime) -> list[Delivery]:
    """A delivery for each run, import and saved export that ended since."""
    sources: tuple[tuple[str, str, Any, list[str]], ...] = (
        (RUN, "run_id", Run, [Run.Status.DONE, Run.Status.CANCELLED]),
        (IMPORT, "batch_id", ImportBatch, [ImportBatch.Status.DONE, ImportBatch.Status.FAILED]),
        (EXPORT, "export_id", SavedExport, [SavedExport.Status.DONE, SavedExport.Status.FAILED]),
    )
    return [
        Delivery(
            webhook=webhook,
            uid=event_uid(webhook, event, pk, finished_at),
            event=event,
            event_at=finished_at,
            **{field: pk},
        )
        for event, field, model, ends in sources
        if event in webhook.events
        for pk, finished_at in model.objects.filter(
            project=webhook.project_id, status__in=ends, finished_at__gte=since
        )
        .order_by("finished_at", "pk")
        .values_list("pk", "finished_at")
    ]


def _ended_work(webhook: Webhook, now: datetime) -> list[Delivery] | None:
    """Deliveries for ended work that has none; None where there is nothing to store.

    Runs, imports and exports are few: instead of settled ids, the last minutes are read each time.
    """
    if not {RUN, IMPORT, EXPORT} & set(webhook.events):
        return None
    since = max(webhook.began_at, webhook.runs_seen - RUNS_LATE)
    found = work_deliveries(webhook, since)
    uids = [delivery.uid for delivery in found]
    known = set(webhook.deliveries.filter(uid__in=uids).values_list("uid", flat=True))
    missing = [delivery for delivery in found if delivery.uid not in known]
    aged = now - webhook.runs_seen > RUNS_LATE
    return missing if missing or aged else None


def continue_replay(webhook: Webhook) -> int:
    """Queue the next part of a replay; how many deliveries."""
    if webhook.replay is None or not has_room(webhook):
        return 0
    replay: dict[str, Any] = dict(webhook.replay)
    since = datetime.fromisoformat(replay["since"])
    top = LedgerIds(replay["label_top"], replay["gold_top"])
    after = LedgerIds(replay["label"], replay["gold"])
    found, after = next_deliveries(webhook, after, top, created_at__gte=since)
    replay |= {"label": after.label, "gold": after.gold}
    over = after.label >= top.label and after.gold >= top.gold
    with transaction.atomic():
        ours = Webhook.objects.filter(pk=webhook.pk, turn=webhook.turn)
        replay["queued"] += len(found)
        if not ours.update(turn=webhook.turn + 1, replay=None if over else replay):
            return 0
        return queue_again(webhook, found)


def queue_again(webhook: Webhook, found: Sequence[Delivery]) -> int:
    """Let existing deliveries wait again, and create the others."""
    count = wait_again(webhook, [delivery.uid for delivery in found])
    Delivery.objects.bulk_create(found, ignore_conflicts=True)
    return max(count, len(found))


def wait_again(webhook: Webhook, uids: Sequence[Any]) -> int:
    now = timezone.now()
    return Delivery.objects.filter(webhook=webhook, uid__in=uids, status__in=ENDED).update(
        status=Delivery.Status.WAITING,
        attempts=0,
        replays=F("replays") + 1,
        next_at=now,
        finished_at=None,
        response_status=None,
        response="",
        error="",
        seconds=None,
    )
