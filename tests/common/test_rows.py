"""A row that is written alone is the one that saving it would make."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.common.rows import insert_row, new_row, update_row, update_row_if
from apps.labels.models import ItemState
from apps.labels.services import open_items
from apps.projects.models import Item, Project
from tests.factories.projects import ItemFactory
from tests.factories.reviews import new_project

pytestmark = pytest.mark.django_db

TEXT = "tab\tand\nline, quote ' \" %s ? emoji 🙂 مرحبا"


def _item(project: Project, name: str = "one") -> Item:
    meta = {"text": TEXT, "n": [1, None, 0.1]}
    return Item(
        project=project, external_id=name, text=TEXT, meta=meta, options=[TEXT], content_hash="1"
    )


def test_everything_comes_back_as_it_went_in(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    project, before = new_project(), timezone.now()
    with django_assert_num_queries(1):
        made = insert_row(_item(project))
    kept = Item.objects.get(pk=made.pk)
    assert (kept.text, kept.meta, kept.options) == (made.text, made.meta, made.options)
    assert before <= kept.created_at == made.created_at <= timezone.now()
    assert kept.project == project
    assert not made._state.adding


def test_a_new_row_is_what_its_class_would_make() -> None:
    item = ItemFactory.create()
    given = {"item_id": item.pk, "project_id": item.project_id, "reasons": ["why"]}
    made, meant = new_row(ItemState, given), ItemState(**given)
    assert made._state.adding
    assert made.project == item.project
    assert made.signals is not new_row(ItemState, given).signals
    names = [field.attname for field in ItemState._meta.concrete_fields]
    assert [getattr(made, name) for name in names] == [getattr(meant, name) for name in names]
    made.save()
    assert ItemState.objects.get().reasons == ["why"]


def test_keys_rise_and_a_given_key_is_kept() -> None:
    project = new_project()
    first, second = (insert_row(_item(project, name)) for name in ("one", "two"))
    assert first.pk < second.pk
    state = insert_row(ItemState(item=first, project=project, priority=1.5, required_labels=2))
    assert (state.pk, ItemState.objects.get(pk=first.pk).priority) == (first.pk, 1.5)


def test_what_the_database_refuses_is_refused() -> None:
    project = new_project()
    insert_row(_item(project))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_row(_item(project))
    assert Item.objects.filter(project=project).count() == 1


def test_only_the_named_fields_are_written(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    item = ItemFactory.create_batch(1)[0]
    open_items([item], item.project)
    state = ItemState.objects.get(pk=item.pk)
    before = state.updated_at
    state.reasons, state.priority, state.suggestion_id = ["doubt"], 7.25, None
    with django_assert_num_queries(1):
        update_row(state, "reasons", "suggestion", "updated_at")
    kept = ItemState.objects.get(pk=item.pk)
    assert (kept.reasons, kept.suggestion_id) == (["doubt"], None)
    assert kept.priority != 7.25
    assert before < kept.updated_at == state.updated_at


def test_a_row_is_changed_only_where_it_is_still_what_it_was(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    item = ItemFactory.create_batch(1)[0]
    item.text = "new"
    with django_assert_num_queries(1):
        assert not update_row_if(item, "text", external_id="another", batch=None)
    assert not update_row_if(item, "text", created_at=timezone.now())
    assert Item.objects.get(pk=item.pk).text != "new"
    assert update_row_if(item, "text", external_id=item.external_id, batch=None)
    assert Item.objects.get(pk=item.pk).text == "new"


def test_a_row_that_is_no_more_is_not_taken_for_written() -> None:
    item = ItemFactory.create_batch(1)[0]
    Item.objects.filter(pk=item.pk).delete()
    with pytest.raises(DatabaseError, match="not exist any more"), transaction.atomic():
        update_row(item, "text")


def test_a_failed_row_spoils_the_transaction_it_was_in() -> None:
    project = new_project()
    insert_row(_item(project))
    with transaction.atomic():
        with pytest.raises(IntegrityError):
            insert_row(_item(project))
        with pytest.raises(transaction.TransactionManagementError):
            Item.objects.count()
        transaction.set_rollback(True)


def test_a_row_whose_place_is_taken_is_left_out(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    project = new_project()
    with django_assert_num_queries(2):
        first, second = (insert_row(_item(project), if_free=True) for _ in range(2))
    assert first == Item.objects.get()
    assert second.pk is None
    assert second._state.adding
