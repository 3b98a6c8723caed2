"""Items with all that was said and decided of them, as JSON-ready rows.

``labels`` and ``gold_history`` hold every ledger row, oldest first, superseded and withdrawn ones
too; rows refer to each other by ``uid``. Reviewers' skips follow as rows that are kept aside. Our
importer makes the same ledger of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid5

from apps.exchange.exporters.base import Row
from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision

NAMESPACE = UUID("4f0b9a52-53a3-4d4c-8f43-7f3f6f0f4c02")
#: The fields of such a row that are always the same.
NOTHING_SAID: dict[str, Any] = {
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
    """Item → its reviewers' skips that stand, oldest first; ``items`` are (key, external id).

    They look like labels that were kept aside, as imported ones are: there is one kind of them.
    """
    named = dict(items)
    rows = Decision.objects.filter(
        item__in=list(named), action=Decision.Action.SKIP, undone_at__isnull=True
    ).order_by("pk")
    wanted = ("item_id", "reviewer_id", "reviewer__username", "comment", "created_at")
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    given = list(rows.values_list(*wanted))
    people = _annotators(project, {row[1] for row in given if row[1]}) if given else {}
    for item_id, user, name, comment, moment in given:
        kind, who = people.get(user, ("crowd", name or "somebody"))
        uid = uuid5(NAMESPACE, f"{named[item_id]} {kind} {who} {moment.isoformat()}")
        provenance = {"comment": comment} if comment else {}
        given_by = {"uid": str(uid), "annotator": who, "kind": kind}
        when = {"schema_version": schema_version, "created_at": moment.isoformat()}
        found[item_id].append(given_by | NOTHING_SAID | {"provenance": provenance} | when)
    return found


def _annotators(project: Project, users: set[int]) -> dict[int, tuple[str, str]]:
    known = Annotator.objects.filter(project=project, user__in=users).order_by("pk")
    return {user: (kind, name) for user, kind, name in known.values_list("user_id", "kind", "name")}


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


def ledger_chunks(project: Project) -> Iterator[list[Row]]:
    """Every item with its full ledger; four queries per 1,000 items."""
    version = current_schema(project).version
    for items in _items(project):
        ids = [item[0] for item in items]
        labels, golds = _labels(ids), _golds(ids)
        for item_id, skips in skips_of(project, [item[:2] for item in items], version).items():
            labels.setdefault(item_id, []).extend(skips)
        yield [_full_row(item, labels.get(item[0], []), golds.get(item[0], [])) for item in items]


def gold_chunks(project: Project) -> Iterator[list[Row]]:
    """Only the decided items, each with its gold value; two queries per 1,000 items."""
    for items in _items(project, decided=True):
        current = Gold.objects.current().filter(item__in=[item[0] for item in items])
        values = dict(current.values_list("item_id", "value"))
        yield [{**_content(item), "gold": values[item[0]]} for item in items if item[0] in values]


def _items(project: Project, *, decided: bool = False) -> Iterator[list[tuple[Any, ...]]]:
    """Chunks by id: no cursor stays open while somebody downloads slowly."""
    rows = Item.objects.filter(project=project).order_by("pk")
    if decided:
        rows = rows.filter(pk__in=Gold.objects.current().order_by().values("item"))
    after = 0
    while chunk := list(rows.filter(pk__gt=after).values_list(*_ITEM)[:CHUNK]):
        yield chunk
        after = chunk[-1][0]


def _labels(item_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Label.objects.filter(item__in=item_ids).order_by("pk")
    for row in rows.values_list(*_LABEL):
        found[row[0]].append(_label(row))
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


def _golds(item_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Gold.objects.filter(item__in=item_ids).order_by("pk")
    for row in rows.values_list(*_GOLD):
        found[row[0]].append(_gold(row))
    return found


def _gold(row: Sequence[Any]) -> dict[str, Any]:
    kind, name, offline = row[5:8]
    who = None if name is None else {"annotator": name, "kind": kind}
    if who is not None and offline:
        who |= {"offline": True, "note": NOT_AN_LLM}
    return {
        "uid": str(row[1]),
        "value": row[2],
        "withdrawn": row[3],
        "basis": row[4],
        "decided_by": who,
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


def _full_row(
    item: Sequence[Any], labels: list[dict[str, Any]], golds: list[dict[str, Any]]
) -> Row:
    # The chain has no branches and is in order: the last decision is the current one.
    gold = golds[-1]["value"] if golds and not golds[-1]["withdrawn"] else None
    return {**_content(item), "gold": gold, "labels": labels, "gold_history": golds}
