"""Items with all their labels and decisions, as JSON-ready rows.

``labels`` and ``gold_history`` hold every ledger row, oldest first, with those that were superseded
or withdrawn; rows refer to each other by ``uid``. Reviewers' skips follow as labels kept aside. Our
importer makes the same ledger of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Manager, QuerySet

from apps.exchange.exporters.base import Row
from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision

NAMESPACE = UUID("4f0b9a52-53a3-4d4c-8f43-7f3f6f0f4c02")
#: The fields of a skip that are always the same.
SKIP: dict[str, Any] = {
    "value": None,
    "abstained": False,
    "withdrawn": True,
    "rejected": False,
    "action": str(Label.Action.WITHDRAWN),
    "role": str(Label.Role.SKIP),
    "confidence": None,
    "rationale": "",
    "evidence": {},
    "seconds": None,
    "cost_nanousd": None,
    "shown": None,
    "proposed_from": None,
    "supersedes": None,
    "run": None,
    "replicate": 1,
}


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


CHUNK = 1000
NOT_AN_LLM = "not an LLM"

_ITEM = ("pk", "external_id", "text", "context", "question", "options", "meta")
_LABEL = (
    "item_id", "uid", "annotator__kind", "annotator__name", "annotator__offline", "value",
    "abstained", "withdrawn", "action", "confidence", "rationale", "evidence", "seconds",
    "cost_nanousd", "proposed_from__uid", "supersedes__uid", "run_uid", "replicate",
    "schema__version", "provenance", "created_at", "rejected", "shown__uid",
    "role",
)  # fmt: skip
_GOLD = (
    "item_id", "uid", "value", "withdrawn", "basis", "decided_by__kind", "decided_by__name",
    "decided_by__offline", "evidence", "supersedes__uid", "schema__version", "created_at",
)  # fmt: skip


def ledger_chunks(project: Project, wanted: "QuerySet[Item]") -> Iterator[list[Row]]:
    """The wanted items with their full ledger; four queries per 1,000 items."""
    version = current_schema(project).version
    for items in _chunks(wanted):
        ids = [item[0] for item in items]
        labels = _rows_by_item(Label.objects, ids, _LABEL, _label)
        golds = _rows_by_item(Gold.objects, ids, _GOLD, _gold)
        for item_id, skips in skips_of(project, [item[:2] for item in items], version).items():
            labels.setdefault(item_id, []).extend(skips)
        rows = []
        for item in items:
            history = golds.get(item[0], [])
            # The chain has no branches and is in order: the last decision is the current one.
            gold = history[-1]["value"] if history and not history[-1]["withdrawn"] else None
            ledger = {"gold": gold, "labels": labels.get(item[0], []), "gold_history": history}
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


def _rows_by_item(
    manager: "Manager[Any]",
    item_ids: Sequence[int],
    fields: Sequence[str],
    to_json: Callable[[Sequence[Any]], dict[str, Any]],
) -> dict[int, list[dict[str, Any]]]:
    """Item → its ledger rows, oldest first; the first of ``fields`` is the item."""
    found: dict[int, list[dict[str, Any]]] = {}
    rows = manager.filter(item__in=item_ids).order_by("pk")
    for row in rows.values_list(*fields):
        found.setdefault(row[0], []).append(to_json(row))
    return found


def _label(row: Sequence[Any]) -> dict[str, Any]:
    kind, name, offline = row[2:5]
    label = {"uid": str(row[1]), "annotator": name, "kind": kind}
    if offline:
        label |= {"offline": True, "note": NOT_AN_LLM}
    label |= {
        "value": row[5],
        "abstained": row[6],
        "withdrawn": row[7],
        "rejected": row[21],
        "action": row[8],
        "role": row[23],
        "confidence": row[9],
        "rationale": row[10],
        "evidence": row[11],
        "seconds": row[12],
        "cost_nanousd": row[13],
        "shown": _uid(row[22]),
        "proposed_from": _uid(row[14]),
        "supersedes": _uid(row[15]),
        "run": _uid(row[16]),
        "replicate": row[17],
        "schema_version": row[18],
        "provenance": row[19],
        "created_at": row[20].isoformat(),
    }
    return label


def _gold(row: Sequence[Any]) -> dict[str, Any]:
    kind, name, offline = row[5:8]
    decided_by = None if name is None else {"annotator": name, "kind": kind}
    if decided_by is not None and offline:
        decided_by |= {"offline": True, "note": NOT_AN_LLM}
    return {
        "uid": str(row[1]),
        "value": row[2],
        "withdrawn": row[3],
        "basis": row[4],
        "decided_by": decided_by,
        "evidence": row[8],
        "supersedes": _uid(row[9]),
        "schema_version": row[10],
        "created_at": row[11].isoformat(),
    }


def _uid(uid: Any) -> str | None:
    return str(uid) if uid else None


def _content(item: Sequence[Any]) -> Row:
    _, external_id, text, context, question, options, meta = item
    return {
        "id": external_id,
        "text": text,
        "context": context,
        "question": question,
        "options": options,
        "meta": meta,
    }
