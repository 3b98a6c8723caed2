"""What a change of labels will do, said before it is done.

Labels and decisions are counted by the database. What becomes of conflicts depends on whole items:
up to :data:`LOOKED_AT` of them are carried over, looked at and rolled back, so the preview cannot
differ from what happens.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from apps.labels.models import Gold, ItemState, Kind, Label
from apps.labels.services import carry_over
from apps.labels.services.states import batches_of_items
from apps.projects.change_words import operation_words
from apps.projects.models import Item, SchemaChange
from apps.reviews.schema_changes.services import begin_change
from labelhub.core.schema import Value, value_key
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.operations import Merge, Operation, Rename, Retire, Split

LOOKED_AT = 1000
EXAMPLES = 8
LONGEST_TEXT = 240
#: What becomes of labels and decisions: another value, back to people, taken back.
WHAT = ("carried", "asked", "withdrawn")
#: Values, whose they are, how many.
Counts = list[tuple[Value, str, int]]


def kinds_of(counts: Mapping[str, int], what: str) -> dict[str, int]:
    """Of counts such as ``labels:crowd``: kind → count, in the kinds' own order."""
    return {
        str(kind): counts[f"{what}:{kind}"] for kind in Kind.values if counts.get(f"{what}:{kind}")
    }


@dataclass(slots=True)
class _Trial:
    """The result of the change on the items that were tried."""

    decisions: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)
    items: int = 0
    all_of_them: bool = True


def preview_change(change: SchemaChange) -> dict[str, Any]:
    """JSON-ready: ``labels`` by what becomes of them and by kind, ``gold``, each operation's part,
    ``decisions`` (what becomes of conflicts among the items looked at) and ``examples``.

    Nothing is written.
    """
    rows = Label.objects.current().filter(annotator__project=change.project_id, value__isnull=False)
    rows = rows.exclude(change=change.reverts_id) if change.reverts_id else rows
    counted = rows.order_by().values("value", "annotator__kind").annotate(n=Count("pk"))
    labels = [(row["value"], row["annotator__kind"], row["n"]) for row in counted]
    decided = Gold.objects.current().filter(item__project=change.project_id, value__isnull=False)
    by_value = decided.order_by().values("value").annotate(n=Count("pk"))
    golds = [(row["value"], "gold", row["n"]) for row in by_value]
    label_counts = _count_fates(change.plan, labels) + _count_restored(change)
    gold = _count_fates(change.plan, golds)
    seen = _try_change(change) if change.carries else _Trial()
    outcomes = ("conflicts_gone", "conflicts_new", "decided", "undecided")
    return {
        "from_version": change.from_schema.version,
        "to_version": change.from_schema.version + 1,
        "schema": change.plan.new.to_json(),
        "labels": {what: kinds_of(label_counts, what) for what in (*WHAT, "restored")},
        "gold": {what: gold[f"{what}:gold"] for what in WHAT},
        "operations": [
            _describe_operation(change, operation, labels, golds) for operation in change.parsed
        ],
        "decisions": {
            "looked_at": seen.items,
            "all": seen.all_of_them,
            "stay": _decides_nothing(change),
            **{what: seen.decisions[what] for what in outcomes},
        },
        "examples": seen.examples,
    }


def _count_restored(change: SchemaChange) -> Counter[str]:
    """Labels that the reverted change had made and nobody has replaced since."""
    if change.reverts_id is None:
        return Counter()
    rows = Label.objects.filter(change=change.reverts_id, superseded_by=None).order_by()
    counted = rows.values_list("annotator__kind").annotate(n=Count("pk"))
    return Counter({f"restored:{kind}": n for kind, n in counted})


def _count_fates(plan: SchemaPlan, rows: Iterable[tuple[Value, str, int]]) -> Counter[str]:
    """``carried:crowd`` → how many, and so on."""
    found: Counter[str] = Counter()
    for value, kind, n in rows:
        after = plan.value(value)
        if isinstance(after, Fate):
            found[f"{'asked' if after is Fate.NEEDS_PEOPLE else 'withdrawn'}:{kind}"] += n
        elif value_key(after) != value_key(value):
            found[f"carried:{kind}"] += n
    return found


def _describe_operation(
    change: SchemaChange, operation: Operation, labels: Counts, golds: Counts
) -> dict[str, Any]:
    """One operation in words, with the counts of the labels that it touches."""
    old = change.from_schema.parsed
    given: Sequence[str] = ()
    if isinstance(operation, Merge):
        given = operation.labels
    elif isinstance(operation, Rename | Split | Retire):
        given = [operation.label]
    touched = {label.name for name in given if (label := old.label(name))}
    found: Counter[str] = Counter()
    for value, kind, n in (*labels, *golds) if given else ():
        found[f"of:{kind}"] += n * (not touched.isdisjoint(old.names_in(value)))
    words = operation_words(operation)
    return {"words": words, "labels": kinds_of(found, "of"), "gold": found["of:gold"]}


def _try_change(change: SchemaChange) -> _Trial:
    """Apply the change to some items and roll everything back."""
    seen = _Trial()
    with transaction.atomic():
        trial = SchemaChange(
            project=change.project,
            from_schema=change.from_schema,
            operations=change.operations,
            reverts=change.reverts,
        )
        trial = begin_change(trial, launch=False, heard=False)
        ids = _affected_items(change, seen)
        before = {row.item_id: row for row in _states(ids)}
        carry_over(trial, ids)
        for after in _states(ids):
            then, conflict = before[after.item_id], ItemState.Stage.CONFLICT
            seen.decisions["conflicts_gone"] += then.stage == conflict != after.stage
            seen.decisions["conflicts_new"] += then.stage != conflict == after.stage
            seen.decisions["decided"] += then.gold is None and after.gold is not None
            seen.decisions["undecided"] += then.gold is not None and after.gold is None
        seen.items = len(ids)
        seen.examples = _read_examples(trial, ids)
        transaction.set_rollback(True)
    return seen


def _decides_nothing(change: SchemaChange) -> bool:
    """Whether the change only renames labels, so that agreement stays."""
    return change.plan.one_to_one and change.reverts_id is None


def _states(ids: Iterable[int]) -> list[ItemState]:
    return list(ItemState.objects.select_related("gold").filter(item__in=list(ids)))


def _affected_items(change: SchemaChange, seen: _Trial) -> list[int]:
    """Items that the change affects, those in conflict first."""
    labels = Label.objects.filter(item=OuterRef("item"), superseded_by=None)
    states = ItemState.objects.filter(Exists(labels) | Q(gold__isnull=False))
    states = states.filter(project=change.project_id)
    disputed = states.filter(stage=ItemState.Stage.CONFLICT)
    found: list[int] = []
    most = EXAMPLES if _decides_nothing(change) else LOOKED_AT
    for part in (disputed, states.exclude(stage=ItemState.Stage.CONFLICT)):
        for ids in batches_of_items(part, LOOKED_AT):
            found += _changed_items(change, ids)
            if len(found) > most:
                seen.all_of_them = False
                return found[:most]
    return found


def _changed_items(change: SchemaChange, ids: list[int]) -> list[int]:
    """Those of the items that have a label or decision that changes."""
    found: set[int] = set()
    for model in (Label, Gold):
        rows = model.objects.filter(item__in=ids, superseded_by=None).order_by()
        for item_id, value, made_by in rows.values_list("item_id", "value", "change_id"):
            restored = change.reverts_id is not None and made_by == change.reverts_id
            if restored or (value is not None and change.plan.value(value) != value):
                found.add(item_id)
    return sorted(found)


def _read_examples(trial: SchemaChange, ids: list[int]) -> list[dict[str, Any]]:
    chosen = ids[:EXAMPLES]
    rows = Label.objects.filter(item__in=chosen, change=trial).order_by("item_id", "pk")
    labels_of: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows.select_related("annotator", "supersedes"):
        was = row.supersedes.value if row.supersedes else None
        labels_of.setdefault(row.item_id, []).append({
            "annotator": row.annotator.name,
            "kind": row.annotator.kind,
            "before": row.provenance.get("was", was) if row.withdrawn else was,
            "after": row.value,
            "withdrawn": row.withdrawn,
        })  # fmt: skip
    items = Item.objects.filter(pk__in=chosen).order_by("pk")
    return [
        {
            "item": item.pk,
            "external_id": item.external_id,
            "text": item.text[:LONGEST_TEXT],
            "labels": labels_of.get(item.pk, []),
        }
        for item in items
    ]
