"""The audit log as operators and managers look it up: pages, filters, CSV and REST."""

import csv
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.audit import Action, record, seal_entries
from apps.common.bulk import insert_rows
from apps.common.models import AuditEntry
from apps.projects.models import Project
from tests.factories.accounts import (
    PASSWORD,
    ApiKeyFactory,
    UserFactory,
    api_of,
    browser_of,
)
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> User:
    return UserFactory.create(username="operator", is_superuser=True, is_staff=True)


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotel")


def done(action: Action, **fields: Any) -> None:
    with transaction.atomic():
        record(action, **fields)


def rows_of(answer: Any) -> list[list[str]]:
    text = b"".join(answer.streaming_content).decode()
    return list(csv.reader(StringIO(text)))


def test_filters_find_by_person_action_subject_and_day(operator: User, project: Project) -> None:
    ada = UserFactory.create(username="ada")
    done(Action.PROJECT_CHANGED, subject=project, actor=ada)
    done(Action.MEMBER_ADDED, subject=ada, actor=operator, project=project)
    done(Action.WEBHOOK_DELETED, actor=operator, project=project, name="hooks.example.org")
    rest, today = api_of(operator), timezone.now().date()
    cases = {
        "who=AD": ["project.changed"],
        "who=operator": ["webhook.deleted", "member.added"],
        "action=webhook.deleted": ["webhook.deleted"],
        "subject=ada": ["member.added"],
        "subject=hooks": ["webhook.deleted"],
        "subject=hotel": ["webhook.deleted", "member.added", "project.changed"],
        f"since={today}": ["webhook.deleted", "member.added", "project.changed"],
        f"until={today - timedelta(days=1)}": [],
    }
    found = {
        query: [row["action"] for row in rest.get(f"/api/v1/audit/?{query}").json()["results"]]
        for query in cases
    }
    assert found == cases
    assert rest.get("/api/v1/audit/?action=none").status_code == 400


def test_the_cursor_leads_through_all_entries_although_new_ones_come(operator: User) -> None:
    for _ in range(5):
        done(Action.KEY_CREATED, actor=operator)
    rest, seen = api_of(operator), []
    url: str | None = "/api/v1/audit/?page_size=2"
    while url:
        page = rest.get(url).json()
        seen += [row["id"] for row in page["results"]]
        done(Action.KEY_REVOKED, actor=operator)
        url = page["next"]
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5
    refused = rest.get("/api/v1/audit/?cursor=ü")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "cursor")


def test_managers_see_their_project_without_addresses(operator: User, project: Project) -> None:
    manager = member(project, Role.MANAGER)
    browser_of(manager)
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(manager)
    client.post("/p/hotel/settings/", {"name": "Other", "description": ""})
    done(Action.PROJECT_CHANGED, subject=ProjectFactory.create(slug="elsewhere"))
    own = client.get("/p/hotel/audit/").content.decode()
    assert "Project changed" in own
    assert [word for word in ("192.0.2.7", "elsewhere") if word in own] == []
    rows = client.get("/api/v1/projects/hotel/audit/").json()["results"]
    assert [(row["action"], row["who"]) for row in rows] == [("project.changed", manager.username)]
    assert "address" not in rows[0]
    everything = browser_of(operator).get("/audit/").content.decode()
    assert [word in everything for word in ("192.0.2.7", "elsewhere")] == [True, True]


#: Who may read and create there, of each scope; the rest is refused, to strangers of the project as
#: if there were none. A session counts as a scope of its own.
ADMIN, ANY = {"admin", "session"}, {"read", "label", "write", "admin", "session"}
RIGHTS: dict[str, dict[str, set[str]]] = {
    "GET audit/": {"operator": ADMIN},
    "GET users/": {"operator": ADMIN},
    "POST users/": {"operator": ADMIN},
    "GET providers/": {"operator": ADMIN},
    "GET projects/hotel/audit/": {"operator": ANY, "manager": ANY},
    "GET projects/hotel/members/": {"operator": ANY, "manager": ANY},
    "POST projects/hotel/invitations/": {
        "operator": ANY - {"read", "label"}, "manager": ANY - {"read", "label"},
    },
}  # fmt: skip


def test_each_role_with_each_scope_reaches_what_the_guide_says(
    operator: User, project: Project
) -> None:
    people = {role.value: member(project, role) for role in Role}
    people |= {"operator": operator, "stranger": UserFactory.create()}
    clients = {(name, "session"): browser_of(user) for name, user in people.items()}
    for name, user in people.items():
        for scope in ANY - {"session"}:
            ApiKeyFactory.create(user=user, scope=scope, plain=f"{name}-{scope}")
            clients[name, scope] = Client(headers={"X-Api-Key": f"{name}-{scope}"})
    faults = []
    for address, allowed in RIGHTS.items():
        method, path = address.split()
        for (name, scope), client in clients.items():
            answer = client.generic(method, f"/api/v1/{path}", "{}", "application/json")
            expected = {403, 404} if name == "stranger" else {403}
            if scope in allowed.get(name, set()):
                expected = {200} if method == "GET" else {400}  # nothing is in the body
            if answer.status_code not in expected:
                faults.append(f"{address} {name} {scope}: {answer.status_code}")
    assert faults == []


def test_the_file_has_all_entries_and_guards_formulas(operator: User) -> None:
    done(Action.PROJECT_CHANGED, name="=HYPERLINK(1)", actor=operator)
    seal_entries()
    browser = browser_of(operator)
    header, *rows = rows_of(browser.get("/audit/?action=project.changed&csv="))
    assert header[:4] == ["When", "Who", "Action", "To what or whom"]
    assert len(rows) == 1
    assert rows[0][1:4] == ["operator", "Project changed", "'=HYPERLINK(1)"]
    assert AuditEntry.objects.filter(action=Action.EXPORT_DOWNLOADED).count() == 1


def test_pages_name_fields_and_values_in_words_and_times_with_seconds(
    operator: User, project: Project
) -> None:
    changes = {
        "expires_at": (None, None), "role": ("viewer", "manager"), "is_active": (True, False),
        "overlap": (1, 2), "never_heard_of": (None, ["a", "b"]),
    }  # fmt: skip
    done(Action.MEMBER_CHANGED, subject=project, actor=operator, changes=changes)
    page = browser_of(operator).get("/audit/").content.decode()
    shown = re.findall(r'<span class="audit__change">([^<]*)</span>', page)
    assert shown == [
        "Expires", "Role: Viewer → Manager", "Active: Yes → No", "Annotators per item: 1 → 2",
        "Never heard of: – → a, b",
    ]  # fmt: skip
    assert re.search(r"<time datetime=[^>]*>[^<]* \d\d:\d\d:\d\d</time>", page)
    row = api_of(operator).get("/api/v1/audit/?action=member.changed").json()["results"][0]
    assert row["changes"]["is_active"] == [True, False]


def test_a_page_of_a_long_log_costs_as_many_queries_as_one_of_a_short_log(
    operator: User,
) -> None:
    browser = browser_of(operator)
    counts = []
    for count in (2, 3000):
        insert_rows(
            [
                AuditEntry(at=timezone.now(), action="key.created", subject_name=str(number))
                for number in range(count)
            ]
        )
        with CaptureQueriesContext(connection) as queries:
            assert browser.get("/audit/").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_sign_ins_are_recorded_and_a_name_that_nobody_has_is_not() -> None:
    UserFactory.create(username="ada")
    client = Client(REMOTE_ADDR="192.0.2.7")
    for name, password in (("ada", "wrong"), ("my-password-typed-here", "x"), ("ada", PASSWORD)):
        client.post("/accounts/login/", {"login": name, "password": password})
    client.post("/accounts/logout/")
    entries = AuditEntry.objects.order_by("pk").select_related("subject_person")
    assert [(entry.action, str(entry.subject_person)) for entry in entries] == [
        ("session.refused", "ada"),
        ("session.refused", "None"),
        ("session.started", "ada"),
        ("session.ended", "ada"),
    ]
    assert "my-password" not in str(list(entries.values()))
