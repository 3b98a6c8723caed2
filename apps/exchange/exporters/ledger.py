"""Items with all their labels and decisions, as JSON-ready rows.

``labels`` and ``gold_history`` hold every ledger row, oldest first, with those that were superseded
or withdrawn; rows refer to each other by ``uid``. Reviewers' skips follow as labels kept aside. Our
importer makes the same ledger of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Manager, QuerySet

from apps.exchange.exporters.base import Row
from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision

NAMESPACE = UUID("4f0b9a52-53a3-4d4c-8f43-7f3f6f0f4c02")
CHUNK = 1000
NOT_AN_LLM = "not an LLM"

_ITEM = ("pk", "external_id", "text", "context", "question", "options", "meta")
#: Who wrote a label, or decided.
_LABEL_BY = ("annotator__name", "annotator__kind", "annotator__offline")
_GOLD_BY = ("decided_by__name", "decided_by__kind", "decided_by__offline")
#: Key of an exported label after its annotator → column of the ledger.
_LABEL = {
    "value": "value", "abstained": "abstained", "withdrawn": "withdrawn", "rejected": "rejected",
    "action": "action", "role": "role", "confidence": "confidence", "rationale": "rationale",
    "evidence": "evidence", "seconds": "seconds", "cost_nanousd": "cost_nanousd",
    "shown": "shown__uid", "proposed_from": "proposed_from__uid", "supersedes": "supersedes__uid",
    "run": "run_uid", "replicate": "replicate", "schema_version": "schema__version",
    "provenance": "provenance", "created_at": "created_at",
}  # fmt: skip
_GOLD = {
    "value": "value", "withdrawn": "withdrawn", "basis": "basis", "decided_by": "decided_by",
    "evidence": "evidence", "supersedes": "supersedes__uid", "schema_version": "schema__version",
    "created_at": "created_at",
}  # fmt: skip
#: The fields of a skip that are always the same.
SKIP: dict[str, Any] = dict.fromkeys(_LABEL) | {
    "abstained": False, "withdrawn": True, "rejected": False, "rationale": "", "evidence": {},
    "action": str(Label.Action.WITHDRAWN), "role": str(Label.Role.SKIP), "replicate": 1,
}  # fmt: skip


def skips_of(
    project: Project, items: Sequence[tuple[int, str]], schema_version: int
) -> dict[int, list[dict[str, Any]]]:
    """Item → its current skips by reviewers, oldest first; ``items`` are (key, external id).

    They have the form of labels kept aside, as imported skips do.
    """
    external_ids = dict(items)
    rows = Decision.objects.filter(
        item__in=list(external_ids), action=Decision.Action.SKIP, undone_at__isnull=True
    ).order_by("pk")
    wanted = ("item_id", "reviewer_id", "reviewer__username", "comment", "created_at")
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    given = list(rows.values_list(*wanted))
    annotators = {}
    if given:
        users = {row[1] for row in given if row[1]}
        known = Annotator.objects.filter(project=project, user__in=users).order_by("pk")
        for user, kind, name in known.values_list("user_id", "kind", "name"):
            annotators[user] = (kind, name)
    for item_id, user, username, comment, moment in given:
        kind, name = annotators.get(user, ("crowd", username or "somebody"))
        uid = uuid5(NAMESPACE, f"{external_ids[item_id]} {kind} {name} {moment.isoformat()}")
        provenance = {"comment": comment} if comment else {}
        annotator = {"uid": str(uid), "annotator": name, "kind": kind}
        when = {"schema_version": schema_version, "created_at": moment.isoformat()}
        found[item_id].append(annotator | SKIP | {"provenance": provenance} | when)
    return found


def ledger_chunks(project: Project, wanted: "QuerySet[Item]") -> Iterator[list[Row]]:
    """The wanted items with their full ledger; four queries per 1,000 items."""
    version = current_schema(project).version
    for items in _chunks(wanted):
        ids = [item[0] for item in items]
        labels: dict[int, list[dict[str, Any]]] = defaultdict(list)
        golds: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for item_id, uid, by, label in _rows(Label.objects, ids, _LABEL_BY, _LABEL):
            labels[item_id].append({"uid": uid, **by, **label})
        for item_id, uid, by, gold in _rows(Gold.objects, ids, _GOLD_BY, _GOLD):
            decided_by = by if gold["decided_by"] else None
            golds[item_id].append({"uid": uid, **gold, "decided_by": decided_by})
        for item_id, skips in skips_of(project, [item[:2] for item in items], version).items():
            labels[item_id].extend(skips)
        rows = []
        for item in items:
            history = golds[item[0]]
            # The chain has no branches and is in order: the last decision is the current one.
            now = history[-1]["value"] if history and not history[-1]["withdrawn"] else None
            ledger = {"gold": now, "labels": labels[item[0]], "gold_history": history}
            rows.append(_content(item) | ledger)
        yield rows


def gold_chunks(wanted: "QuerySet[Item]") -> Iterator[list[Row]]:
    """The decided ones of the wanted items, each with its gold; two queries per 1,000 items."""
    for items in _chunks(wanted):
        current = Gold.objects.current().filter(item__in=[item[0] for item in items])
        values = dict(current.values_list("item_id", "value"))
        yield [{**_content(item), "gold": values[item[0]]} for item in items if item[0] in values]


def _chunks(wanted: "QuerySet[Item]") -> Iterator[list[tuple[Any, ...]]]:
    """Chunks by id: no cursor stays open while somebody downloads slowly."""
    rows, after = wanted.order_by("pk"), 0
    while chunk := list(rows.filter(pk__gt=after).values_list(*_ITEM)[:CHUNK]):
        yield chunk
        after = chunk[-1][0]


def _rows(
    manager: "Manager[Any]", item_ids: Sequence[int], by: Sequence[str], columns: Mapping[str, str]
) -> Iterator[tuple[int, str, dict[str, Any], dict[str, Any]]]:
    """(item, uid, who, the cells by their keys) of ledger rows, oldest first and JSON-ready."""
    rows = manager.filter(item__in=item_ids).order_by("pk")
    for item_id, uid, name, kind, offline, *cells in rows.values_list(
        "item_id", "uid", *by, *columns.values()
    ):
        who = {"annotator": name, "kind": kind}
        if offline:
            who |= {"offline": True, "note": NOT_AN_LLM}
        yield item_id, str(uid), who, dict(zip(columns, map(_as_json, cells), strict=True))


def _as_json(cell: Any) -> Any:
    if isinstance(cell, UUID):
        return str(cell)
    return cell.isoformat() if isinstance(cell, datetime) else cell


def _content(item: Sequence[Any]) -> Row:
    return {"id": item[1], **dict(zip(_ITEM[2:], item[2:], strict=True))}
