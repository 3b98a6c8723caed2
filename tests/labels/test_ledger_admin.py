"""The ledger in the admin console: found and read, never changed."""

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client

from apps.labels.models import Gold, Label
from apps.labels.services import record_label
from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.accounts import UserFactory
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db

TABLES = (Label, Gold)


@pytest.fixture
def project() -> Project:
    """A project with one row in every table of the ledger."""
    made = ProjectFactory.create()
    record_label(draft(open_item(made), person(made), "good"))
    return made


@pytest.fixture
def operator(client: Client) -> Client:
    """A client of the operator."""
    client.force_login(UserFactory.create(is_superuser=True, is_staff=True))
    return client


def address(table: type[Model], rest: str = "") -> str:
    """Where a table's pages are."""
    return f"/admin/labels/{table._meta.model_name}/{rest}"


@pytest.mark.parametrize("table", [Label, Gold])
def test_rows_are_found_by_their_uid(
    project: Project, operator: Client, table: type[Label] | type[Gold]
) -> None:
    row = table._default_manager.get()

    found = operator.get(address(table), {"q": str(row.uid)})

    assert found.context["cl"].result_count == 1
    assert operator.get(address(table), {"q": "ffff-none"}).context["cl"].result_count == 0


@all_cases("table", TABLES)
def test_nothing_can_be_added_changed_or_deleted(
    project: Project, operator: Client, table: type[Model]
) -> None:
    row = table._default_manager.get()
    before = table._default_manager.values().get()

    answers = [
        operator.post(address(table, "add/"), {"name": "x"}),
        operator.post(address(table, f"{row.pk}/change/"), {"name": "x", "value": '"bad"'}),
        operator.post(address(table, f"{row.pk}/delete/"), {"post": "yes"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    operator.post(
        address(table), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    )
    assert table._default_manager.values().get() == before


@pytest.mark.parametrize("table", [Label, Gold])
def test_a_list_takes_the_same_queries_however_many_rows(
    operator: Client, table: type[Model], django_assert_num_queries: Any
) -> None:
    project = ProjectFactory.create()
    for _ in range(6):
        record_label(draft(open_item(project), person(project), "good"))

    # session, user; count, rows with what they show
    with django_assert_num_queries(4):
        operator.get(address(table))
