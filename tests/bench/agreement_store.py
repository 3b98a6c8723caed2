"""The database side of the agreement benchmark, in a process of its own: it needs the settings.

    python tests/bench/agreement_store.py fill SLUG FOLDER LABELS   the first of the ratings there
    python tests/bench/agreement_store.py gold SLUG FOLDER          every tenth item's true answer
    python tests/bench/agreement_store.py label SLUG                one more label, recorded
    python tests/bench/agreement_store.py forget SLUG               no report is stored any more
    python tests/bench/agreement_store.py select SLUG REPEATS       a bare SELECT of the labels

Prints one JSON object.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
django.setup()

from django.db import connection, transaction  # noqa: E402 - needs the settings
from django.db.models import Model  # noqa: E402

from apps.agreement.models import StoredReport  # noqa: E402
from apps.common.bulk import insert_rows  # noqa: E402
from apps.labels.models import Annotator, Gold, ItemState, Label  # noqa: E402
from apps.labels.services.ledger import record_label  # noqa: E402
from apps.labels.services.new_rows import NewLabel  # noqa: E402
from apps.projects.models import Item, Project  # noqa: E402
from apps.projects.selectors import current_schema  # noqa: E402
from tests.bench import agreement_data as data  # noqa: E402
from tests.bench.workload import LABELS  # noqa: E402

#: How many raters are of each kind.
KINDS = {"crowd": 12, "expert": 4, "llm": 4}
#: The project's labels that stand: neither taken back nor replaced by a later one. Written so that
#: SQLite is quickest (half the time of one that finds them by annotator, a tenth less than a join).
BARE = """
    SELECT item_id, annotator_id, value FROM labels_label
    WHERE item_id IN (SELECT id FROM projects_item WHERE project_id = %s)
    AND NOT withdrawn
    AND id NOT IN (SELECT supersedes_id FROM labels_label WHERE supersedes_id IS NOT NULL)
"""


def fill(slug: str, folder: str, labels: str) -> dict[str, Any]:
    """Items, annotators and labels in the real tables, in one transaction."""
    project, answers = Project.objects.get(slug=slug), data.load(Path(folder))
    schema, count = current_schema(project), int(labels)
    n = count // data.EACH
    people = [(kind, number) for kind, many in KINDS.items() for number in range(many)]
    raters = [
        Annotator.objects.create(project=project, kind=kind, name=f"{kind} {number}")
        for kind, number in people
    ]
    with transaction.atomic():
        names = ["external_id", "text", "content_hash"]
        texts = [(f"t{index}", f"text {index}", f"{index:032x}") for index in range(n)]
        first = dict(zip(names, texts[0], strict=True))
        items = _like(Item(project=project, **first), names, texts)
        _like(ItemState(item_id=items[0], project=project), ["item_id"], [(pk,) for pk in items])
        columns = (answers.items[:count], answers.raters[:count], answers.codes[:count])
        numbers = list(zip(*(column.tolist() for column in columns), strict=True))
        item, rater, code = numbers[0]
        imported = Label(
            item_id=items[item],
            annotator=raters[rater],
            schema=schema,
            value=LABELS[code],
            action=Label.Action.IMPORTED,
            uid=UUID(int=0),
            provenance={"import": "bench"},
        )
        rows = [
            (items[item], raters[rater].pk, json.dumps(LABELS[code]), f"{index:032x}")
            for index, (item, rater, code) in enumerate(numbers)
        ]
        _like(imported, ["item_id", "annotator_id", "value", "uid"], rows)
    return {"labels": Label.objects.filter(item__project=project).count()}


def gold(slug: str, folder: str) -> dict[str, Any]:
    """Imported with every tenth item."""
    project, truth = Project.objects.get(slug=slug), data.load(Path(folder)).truth
    items = Item.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    pattern = {"schema": current_schema(project), "basis": Gold.Basis.IMPORTED}
    rows = [
        Gold(item_id=pk, value=LABELS[truth[index]], **pattern)
        for index, pk in enumerate(items)
        if index % 10 == 0
    ]
    return {"gold": len(insert_rows(rows))}


def label(slug: str) -> dict[str, Any]:
    """By one who did not label the item yet, as people's labels are recorded."""
    project = Project.objects.get(slug=slug)
    item = Item.objects.filter(project=project).earliest("pk")
    free = Annotator.objects.filter(project=project, kind="crowd").exclude(labels__item=item)
    draft = NewLabel(
        item_id=item.pk,
        annotator=free.earliest("pk"),
        schema=current_schema(project),
        value=LABELS[0],
        action=Label.Action.IMPORTED,
    )
    return {"label": record_label(draft).pk}


def forget(slug: str) -> dict[str, Any]:
    """As if nobody had asked yet."""
    return {"forgotten": StoredReport.objects.filter(project__slug=slug).delete()[0]}


def select(slug: str, repeats: str) -> dict[str, Any]:
    """Processor time of the least that hands over the rows."""
    project, best, rows = Project.objects.get(slug=slug).pk, float("inf"), 0
    with connection.cursor() as cursor:
        for _ in range(int(repeats)):
            began = time.process_time()
            cursor.execute(BARE, [project])
            found = cursor.fetchall()
            best, rows = min(best, time.process_time() - began), len(found)
            del found
    return {"seconds": best, "rows": rows}


def _like(first: Model, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Insert a row for each of ``rows``, which have these columns; their keys.

    ``first`` is the first of them as a model; the others are copied from it: a million in seconds.
    """
    table, key = first._meta.db_table, first._meta.pk
    assert key is not None
    first.save(force_insert=True)
    columns = {field.column for field in first._meta.local_concrete_fields} - {key.column}
    others = sorted(columns.difference(names))
    copied = (
        f"INSERT INTO {table} ({', '.join([*names, *others])}) "  # noqa: S608 - our own models
        f"SELECT {', '.join(['%s'] * len(names) + others)} FROM {table} WHERE {key.column} = "
    )
    with connection.cursor() as cursor:
        cursor.executemany(f"{copied} {first.pk}", rows[1:])
        cursor.execute(f"SELECT {key.column} FROM {table} WHERE {key.column} >= {first.pk}")  # noqa: S608 - as above
        return sorted(pk for (pk,) in cursor.fetchall())


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "fill": fill,
    "gold": gold,
    "label": label,
    "forget": forget,
    "select": select,
}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
