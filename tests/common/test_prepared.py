"""Queries that are put together once find what the ordinary ones find."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Length
from django.db.transaction import TransactionManagementError
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.common.prepared import Update, prepared, prepared_update, read_rows
from apps.labels.models import ItemState, Label
from apps.labels.services import record_label
from apps.projects.models import Item
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ItemFactory
from tests.factories.reviews import new_project

pytestmark = pytest.mark.django_db


@prepared
def _by_key(key: int) -> QuerySet[Item]:
    return Item.objects.select_related("project", "batch").filter(pk=key)


@prepared
def _by_name(slug: str, name: str) -> QuerySet[Item]:
    return Item.objects.filter(project__slug=slug, external_id=name)


@prepared
def _by_uid(uid: UUID) -> QuerySet[Label]:
    return Label.objects.filter(uid=uid)


@prepared
def _with_length(key: int) -> QuerySet[Item]:
    items = Item.objects.select_related("project").filter(pk=key)
    return items.annotate(length=Length("text"))


def test_annotations_come_along() -> None:
    item = ItemFactory.create(text="twelve signs")
    found = _with_length.first(item.pk)
    assert found is not None
    assert (found.length, found.project) == (12, item.project)  # type: ignore[attr-defined]


def test_each_call_has_values_of_its_own() -> None:
    first, other = ItemFactory.create_batch(2)
    assert [_by_key(first.pk), _by_key(other.pk), _by_key(-1)] == [[first], [other], []]
    assert _by_key.first(other.pk) == other
    assert _by_key.first(-1) is None
    assert _by_name(other.project.slug, other.external_id) == [other]
    assert _by_name(other.external_id, other.project.slug) == []


def test_rows_are_as_the_ordinary_query_makes_them() -> None:
    item = ItemFactory.create_batch(1, meta={"a": [1, None, "ü"]}, options=["x", "y"])[0]
    (found,) = _by_key(item.pk)
    ordinary = Item.objects.get(pk=item.pk)
    columns = [field.attname for field in Item._meta.concrete_fields]
    assert [getattr(found, name) for name in columns] == [
        getattr(ordinary, name) for name in columns
    ]
    assert not found._state.adding


def test_what_is_related_comes_along(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    item = ItemFactory.create_batch(1)[0]
    with django_assert_num_queries(1):
        (found,) = _by_key(item.pk)
        assert found.project == item.project
        assert found.batch is None


def test_identifiers_and_moments_are_values_too() -> None:
    project = new_project()
    label = record_label(draft(open_item(project), person(project), "good"))
    assert _by_uid(label.uid) == [label]
    assert _by_uid(uuid4()) == []

    @prepared
    def since(moment: datetime) -> QuerySet[Label, tuple[int, str]]:
        return Label.objects.filter(created_at__gte=moment).values_list("pk", "action")

    assert since(label.created_at) == [(label.pk, "new")]
    assert since(label.created_at + timedelta(microseconds=1)) == []


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_no_row_has_a_number_that_no_column_holds(number: int) -> None:
    assert _by_key(number) == []


def test_a_parameter_that_does_not_reach_the_statement_is_refused() -> None:
    @prepared
    def folded(name: str) -> QuerySet[Item]:
        return Item.objects.filter(text__icontains=name)

    with pytest.raises(TypeError, match="do not reach the statement"):
        folded("x")


def test_nothing_is_compared_with_null() -> None:
    with pytest.raises(TypeError, match="no None"):
        _by_key(None)  # type: ignore[arg-type]


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_inside_a_transaction_only() -> None:
    item = open_item(new_project())

    @prepared
    def locked(key: int) -> QuerySet[Item]:
        return Item.objects.select_for_update().filter(pk=key)

    with transaction.atomic():
        assert locked(item.pk) == [item]
    with pytest.raises(TransactionManagementError):
        locked(item.pk)


@prepared_update
def _rename(key: int, name: str, text: str, moment: datetime) -> Update:
    rows = Item.objects.filter(pk=key, project__name=name)
    return rows, {"text": text, "created_at": moment, "options": [], "batch": None}


@prepared_update
def _count(key: int, more: int) -> Update:
    return ItemState.objects.filter(pk=key), {"required_labels": F("required_labels") + more}


def test_an_update_writes_what_it_is_given_into_the_rows_that_it_is_about(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    first, other = ItemFactory.create_batch(2)
    name, now = first.project.name, timezone.now()
    assert _rename(first.pk, name, "first", now - timedelta(days=1)) == 1
    with django_assert_num_queries(1):
        assert _rename(first.pk, name, "quote ' % ü", now) == 1
    assert _rename(first.pk, f"not {name}", "never", now) == 0
    kept = Item.objects.get(pk=first.pk)
    assert (kept.text, kept.options, kept.batch_id) == ("quote ' % ü", [], None)
    assert kept.created_at == now
    assert Item.objects.get(pk=other.pk).text == other.text


def test_an_update_counts_on_what_is_there() -> None:
    item = open_item(new_project())
    before = ItemState.objects.get(pk=item.pk).required_labels
    assert [_count(item.pk, 5), _count(item.pk, 7), _count(-1, 7)] == [1, 1, 0]
    assert ItemState.objects.get(pk=item.pk).required_labels == before + 12


def test_an_update_takes_no_none_and_no_value_that_it_does_not_use() -> None:
    with pytest.raises(TypeError, match="no None"):
        _count(1, None)  # type: ignore[arg-type]  # what is tried

    @prepared_update
    def unused(key: int, text: str) -> Update:
        return Item.objects.filter(pk=key), {"text": "always"}

    with pytest.raises(TypeError, match="do not reach the statement"):
        unused(1, "never")


def test_rows_of_any_query_are_those_of_django_and_none_of_an_empty_list() -> None:
    items = [ItemFactory.create() for _ in range(3)]
    query = Item.objects.select_related("project", "batch").order_by("pk")
    read = read_rows(query.filter(pk__in=[item.pk for item in items]))
    assert [vars(item) for item in read] == [
        vars(item) | {"_state": read[place]._state} for place, item in enumerate(query)
    ]
    assert [item.project for item in read] == [item.project for item in items]
    assert read_rows(query.filter(pk__in=[])) == []
