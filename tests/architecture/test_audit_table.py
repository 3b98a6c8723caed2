"""Every change by REST or a page is recorded in the audit log, or the table says why not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from apps.accounts.roles import Role
from apps.common.field_words import FIELD_WORDS
from apps.common.models import AuditEntry
from tests.architecture.access_table import PAGES, REST
from tests.architecture.access_world import World, shared_world
from tests.architecture.audit_table import (
    ELSEWHERE,
    PAGE_CASES,
    REST_CASES,
    SERVICES,
    TWINS,
    Case,
)
from tests.architecture.test_access import PARTS
from tests.factories.projects import member
from tests.factories.reviews import new_project, suggested_items

pytestmark = pytest.mark.django_db
CASES = {case.request for case in (*REST_CASES, *PAGE_CASES)}


@pytest.fixture(scope="module")
def built(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with shared_world(django_db_blocker) as shared:
        yield shared


@pytest.fixture
def world(built: World, db: None) -> World:
    return built


def test_every_address_that_changes_something_is_recorded_or_says_why_not() -> None:
    changing = {
        f"{method} {name}"
        for name, row in {**PAGES, **REST}.items()
        for method in row.levels
        if method != "GET"
    }
    known = [*CASES, *TWINS, *ELSEWHERE]
    assert changing - set(known) == set(), "enter them in tests/architecture/audit_table.py"
    gone = {request for request in known if not request.startswith("GET ")} - changing
    assert gone == set()
    assert len(set(known)) == len(known), "each address stands in one table"


def test_what_shares_a_service_names_one_that_is_tested() -> None:
    tested = {*CASES, *TWINS, *(f"service {name}" for name in SERVICES)}
    assert set(TWINS.values()) - tested == set()
    assert {f"service {name}" for name in SERVICES} - set(TWINS.values()) == set()


@pytest.mark.parametrize("name", SERVICES)
def test_services_record_their_action(name: str, db: None) -> None:
    project = new_project()
    suggested_items(project, 2)
    action, act = SERVICES[name]
    act(project, member(project, Role.MANAGER))
    assert AuditEntry.objects.filter(action=action).exists()


def send(world: World, case: Case) -> str:
    """ "" if the request has recorded its action, else what happened."""
    method, name = case.request.split()
    rest = name in REST
    with transaction.atomic():
        kwargs = {**world.ids, **(case.before(world) or {})}
        client: Any = world.rest_client(case.actor) if rest else world.page_client(case.actor)
        query = case.query(world) if callable(case.query) else case.query
        url = reverse(name, kwargs={part: kwargs[part] for part in PARTS[name]})
        body = case.body(world) if callable(case.body) else case.body
        last = AuditEntry.objects.values_list("pk", flat=True).first() or 0
        if rest:
            answer = client.generic(
                method, f"{url}?{query}", json.dumps(body), content_type="application/json"
            )
        else:
            answer = getattr(client, method.lower())(f"{url}?{query}" if query else url, body)
        entries = AuditEntry.objects.filter(pk__gt=last, action=case.action)
        person = world.people.get(case.actor)
        found = entries.filter(actor__user_id=person.pk) if person else entries
        happened = "" if found.exists() else f"{answer.status_code} {answer.content[:300]!r}"
        unnamed = [name for entry in entries for name in entry.changes if name not in FIELD_WORDS]
        happened += f"without a label: {unnamed}" if unnamed else ""
        transaction.set_rollback(True)
    return happened


@pytest.mark.parametrize("cases", [REST_CASES, PAGE_CASES], ids=["rest", "pages"])
def test_each_request_records_its_action_with_who_sent_it(
    world: World, cases: tuple[Case, ...]
) -> None:
    faults = {f"{case.request} {case.action}": send(world, case) for case in cases}
    shown = [f"{name}: {fault}" for name, fault in faults.items() if fault]
    assert not shown, "\n".join(shown)
