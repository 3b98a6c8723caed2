"""Rows inserted in bulk are those that saving one by one would make."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.common.bulk import insert_copies, insert_rows, refresh_statistics, upsert_rows
from apps.labels.models import ItemState
from apps.projects.models import Item, Project
from tests.factories.projects import ItemFactory
from tests.factories.reviews import new_project

pytestmark = pytest.mark.django_db

TEXTS = ["plain", "tab\tand\nline\r\n", "back\\slash \\N", "emoji 🙂 مرحبا", "quote ' \" %s ?", ""]


def _items(project: Project, texts: list[str]) -> list[Item]:
    return [
        Item(
            project=project,
            external_id=f"i{number}",
            text=text,
            meta={"text": text, "n": [number, None, 0.1]} if number % 2 else {},
            options=[text] if number % 3 else [],
            content_hash=str(number),
        )
        for number, text in enumerate(texts)
    ]


def test_everything_comes_back_as_it_went_in() -> None:
    project = new_project()
    before = timezone.now()
    made = insert_rows(_items(project, TEXTS))
    found = list(Item.objects.filter(project=project).order_by("pk"))
    assert found == list(made)
    for row, kept in zip(made, found, strict=True):
        assert (kept.text, kept.meta, kept.options) == (row.text, row.meta, row.options)
        assert before <= kept.created_at <= timezone.now()
        assert not row._state.adding


def test_keys_rise_and_are_nobody_elses() -> None:
    old = ItemFactory.create_batch(1)[0]
    project = new_project()
    first = insert_rows(_items(project, ["a", "b", "c"]))
    keys = [row.pk for row in first]
    assert keys == sorted(set(keys))
    assert old.pk not in keys
    first[-1].delete()
    assert ItemFactory.create_batch(1)[0].pk > max(keys)


def test_rows_whose_key_is_given_keep_it() -> None:
    items = ItemFactory.create_batch(3)
    insert_rows([ItemState(item_id=item.pk, project_id=item.project_id) for item in items])
    states = ItemState.objects.order_by("item_id")
    assert [state.item_id for state in states] == [item.pk for item in items]
    assert all(state.updated_at is not None for state in states)


def test_rows_that_are_there_get_the_named_values_and_the_others_are_made() -> None:
    items = ItemFactory.create_batch(3)
    states = [ItemState(item_id=item.pk, project_id=item.project_id) for item in items]
    upsert_rows(states[:2], ["priority"])
    for state in states:
        state.priority, state.reasons, state.stage = 3.5, [TEXTS[3]], "decided"
    upsert_rows(states, ["priority", "reasons", "updated_at"])
    upsert_rows([], ["priority"])
    found = ItemState.objects.order_by("item_id").values_list("priority", "reasons", "stage")
    assert list(found) == [(3.5, [TEXTS[3]], stage) for stage in ("new", "new", "decided")]


def test_rows_that_are_alike_differ_in_one_value() -> None:
    items = ItemFactory.create_batch(3)
    state = ItemState(project_id=items[0].project_id, priority=7.5, reasons=["why"])
    insert_copies(state, "item_id", [item.pk for item in items])
    made = ItemState.objects.order_by("item_id")
    assert [state.item_id for state in made] == [item.pk for item in items]
    for state in made:
        assert (state.priority, state.reasons, state.signals) == (7.5, ["why"], {})
        assert state.updated_at is not None
    insert_copies(state, "item_id", [])
    assert made.count() == 3


def test_all_or_nothing() -> None:
    project = new_project()
    rows = _items(project, ["a", "b"])
    rows[1].external_id = rows[0].external_id
    with pytest.raises(IntegrityError):
        insert_rows(rows)
    assert not Item.objects.filter(project=project).exists()


def test_nothing_is_nothing() -> None:
    assert list(insert_rows([])) == []


def counted(table: str) -> float:
    """How many rows PostgreSQL takes a table to have."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [table])
        (rows,) = cursor.fetchone()
    return float(rows)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_what_may_yet_be_rolled_back_is_not_counted() -> None:
    table = Item._meta.db_table
    insert_rows(_items(new_project(), TEXTS[:3]))
    before = counted(table)
    with transaction.atomic():
        refresh_statistics(Item)
    assert counted(table) == before

    refresh_statistics(Item)

    assert counted(table) == 3
