"""What an API key opens: its scope, its end, its project, and what it may do with other keys."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.accounts.roles import ReviewerKind, Role
from apps.accounts.services import create_api_key
from apps.common.models import AuditEntry
from apps.projects.models import Project
from tests.architecture.access_table import REST
from tests.architecture.access_world import SECRET, build_world
from tests.architecture.test_access import PARTS
from tests.cases import all_cases
from tests.factories.accounts import ApiKeyFactory, UserFactory, browser_of
from tests.factories.labels import open_item
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
KEYS = "/api/v1/keys/"


def program(user: User, **fields: Any) -> APIClient:
    return APIClient(HTTP_X_API_KEY=create_api_key(user=user, name="test", **fields).plain)


def bound(project: Project, role: Role = Role.MANAGER, **fields: Any) -> APIClient:
    """A program whose key opens that project alone; its owner manages another one, too."""
    owner = member(project, role, ReviewerKind.EXPERT)
    return program(owner, project_id=project.pk, **fields)


def test_each_scope_opens_what_it_names_and_what_is_below_it() -> None:
    project = ProjectFactory.create()
    operator = UserFactory.create(is_superuser=True)
    open_item(project)
    below = f"/api/v1/projects/{project.slug}/"
    asked = [
        ("get", f"{below}items/"), ("post", f"{below}next/"), ("patch", below),
        ("get", "/api/v1/users/"), ("post", "/api/v1/users/"),
    ]  # fmt: skip
    opened = {}
    for scope in ApiKey.Scope.values:
        client = program(operator, scope=scope)
        opened[scope] = [getattr(client, method)(url).status_code < 403 for method, url in asked]
    assert opened == {
        "read": [True, False, False, False, False],
        "label": [True, True, False, False, False],
        "write": [True, True, True, False, False],
        "admin": [True, True, True, True, True],
    }


def test_only_a_key_that_operates_reads_the_audit_log() -> None:
    operator = UserFactory.create(is_superuser=True)
    asked = {
        scope: program(operator, scope=scope).get("/api/v1/audit/").status_code
        for scope in ApiKey.Scope.values
    }
    assert asked == {"read": 403, "label": 403, "write": 403, "admin": 200}


def test_a_key_that_was_replaced_makes_no_other_one() -> None:
    owner = UserFactory.create()
    made = create_api_key(user=owner, name="leaked")
    thief, url = APIClient(HTTP_X_API_KEY=made.plain), f"{KEYS}{made.key.pk}/rotate/"
    assert APIClient(HTTP_X_API_KEY=made.plain).post(url).status_code == 201
    assert thief.post(url).status_code == 409
    assert ApiKey.objects.active().filter(user=owner).count() == 2
    entry = AuditEntry.objects.get(action="key.changed")
    assert entry.changes["rotated_to"][1] == f"{ApiKey.objects.latest('pk').prefix}…"


def test_nobody_has_keys_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a limit of requests of its own."""
    monkeypatch.setattr("apps.accounts.services.MOST_KEYS", 2)
    client = program(UserFactory.create())
    assert [client.post(KEYS, {"name": "x"}).status_code for _ in range(2)] == [201, 409]


def test_a_narrower_key_gets_no_answer_that_a_wider_one_got() -> None:
    operator = UserFactory.create(is_superuser=True)
    body, once = {"name": "x", "scope": "admin"}, "k-1"
    wide, narrow = program(operator, scope="admin"), program(operator, scope="write")
    assert wide.post(KEYS, body, HTTP_IDEMPOTENCY_KEY=once).status_code == 201
    refused = narrow.post(KEYS, body, HTTP_IDEMPOTENCY_KEY=once)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")


def test_no_cache_shows_an_answer_to_somebody_else() -> None:
    assert program(UserFactory.create()).get(KEYS)["Cache-Control"] == "private, no-cache"


def test_an_expired_key_is_401_and_says_so() -> None:
    key = ApiKeyFactory.create(plain="lh_old", expires_at=timezone.now() - timedelta(seconds=1))
    response = APIClient(HTTP_X_API_KEY="lh_old").get(KEYS)
    assert (response.status_code, response.json()["code"]) == (401, "key_expired")
    assert f"expired at {key.expires_at:%Y-%m-%d}" in response.json()["detail"]
    assert response["Content-Type"] == "application/problem+json"
    assert not ApiKey.objects.active().exists()


@pytest.mark.parametrize("superuser", [False, True])
def test_a_bound_key_finds_nothing_of_other_projects(superuser: bool) -> None:
    """At every address, with an owner who may do everything in both projects."""
    world = build_world()
    owner = UserFactory.create(is_superuser=superuser, is_staff=superuser)
    for project in (world.project, world.foreign):
        member_of = project.memberships.create(user=owner, role=Role.MANAGER, kind="expert")
        assert member_of.pk
    client = program(owner, project_id=world.foreign.pk)
    client.raise_request_exception = False
    faults = []
    for name, row in REST.items():
        parts = PARTS[name]
        url = reverse(name, kwargs={part: world.ids[part] for part in parts})
        for method in row.levels:
            response: Any = client.generic(method, url, "{}", content_type="application/json")
            body = b"".join(response) if response.streaming else response.content
            refused = response.status_code in (401, 403, 404)
            if SECRET.encode() in body or (parts and not refused):
                faults.append(f"{method} {name}: {response.status_code}")
    assert faults == []
    world.project.refresh_from_db()


def test_a_bound_key_lists_its_project_alone_and_makes_no_other() -> None:
    project = ProjectFactory.create()
    client = bound(project)
    project_of_all = ProjectFactory.create()
    project_of_all.memberships.create(user=User.objects.latest("pk"), role=Role.MANAGER)
    listed = client.get("/api/v1/projects/").json()
    assert [row["slug"] for row in listed["results"]] == [project.slug]
    made = client.post("/api/v1/projects/", {"slug": "another", "task": "text"})
    assert (made.status_code, Project.objects.filter(slug="another").exists()) == (403, False)


def test_a_key_is_created_shown_once_and_revoked() -> None:
    owner = UserFactory.create()
    client = program(owner)
    until = (timezone.now() + timedelta(days=2)).isoformat()
    made = client.post(KEYS, {"name": "nightly", "scope": "read", "expires_at": until})
    assert made.status_code == 201, made.content
    plain = made.json()["key"]
    new = APIClient(HTTP_X_API_KEY=plain)
    shown = new.get(f"{KEYS}{made.json()['id']}/")
    assert (shown.json()["name"], shown.json()["scope"]) == ("nightly", "read")
    assert plain not in client.get(KEYS).content.decode() + shown.content.decode()
    assert client.delete(f"{KEYS}{made.json()['id']}/").status_code == 204
    assert new.get(KEYS).status_code == 401


def test_a_key_makes_only_keys_that_do_no_more() -> None:
    project = ProjectFactory.create()
    owner = member(project, Role.MANAGER)
    soon, later = (timezone.now() + timedelta(days=days) for days in (5, 9))
    client = program(owner, project_id=project.pk, expires_at=soon)
    mine = {"name": "a", "project": project.slug, "expires_at": soon - timedelta(days=1)}
    cases = {
        "covered": (mine, 201),
        "for longer": (mine | {"expires_at": later}, 403),
        "without an end": (mine | {"expires_at": None}, 403),
        "for all projects": (mine | {"project": None}, 403),
        "for another": (mine | {"project": ProjectFactory.create().slug}, 404),
        "to operate": (mine | {"scope": "admin"}, 422),
        "of somebody else": (mine | {"user": UserFactory.create().username}, 403),
        "in the past": (mine | {"expires_at": timezone.now() - timedelta(days=1)}, 422),
        "without a name": (mine | {"name": " "}, 400),
        "a NUL": (mine | {"name": "a\0"}, 400),
        "no project": (mine | {"project": "٣"}, 404),
        "unknown": (mine | {"scop": "read"}, 422),
    }
    found = {name: client.post(KEYS, body).status_code for name, (body, _) in cases.items()}
    assert found == {name: status for name, (_, status) in cases.items()}


def test_a_rotated_key_works_for_its_grace_and_its_successor_as_long_as_it_was_meant_to() -> None:
    owner = UserFactory.create()
    made = create_api_key(user=owner, name="job", expires_at=timezone.now() + timedelta(days=30))
    old = APIClient(HTTP_X_API_KEY=made.plain)
    response = old.post(f"{KEYS}{made.key.pk}/rotate/", {"grace_hours": 2})
    assert response.status_code == 201
    new = ApiKey.objects.get(pk=response.json()["id"])
    assert (new.name, new.scope, new.user) == ("job", "write", owner)
    assert new.expires_at is not None
    assert abs(new.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    made.key.refresh_from_db()
    assert made.key.expires_at is not None
    assert abs(made.key.expires_at - timezone.now() - timedelta(hours=2)) < timedelta(minutes=1)
    assert old.get(KEYS).status_code == 200
    ApiKey.objects.filter(pk=made.key.pk).update(expires_at=timezone.now())
    assert old.get(KEYS).status_code == 401
    assert APIClient(HTTP_X_API_KEY=response.json()["key"]).get(KEYS).status_code == 200


def test_a_key_replaces_only_itself_and_revokes_no_stronger_one() -> None:
    """A stolen key gets no other one that outlasts it."""
    owner = UserFactory.create()
    strong = create_api_key(user=owner, name="strong").key
    weak = create_api_key(user=owner, name="weak", scope="read").key
    client = program(owner, expires_at=timezone.now() + timedelta(days=1))
    for other in (strong, weak):
        assert client.post(f"{KEYS}{other.pk}/rotate/", {}).status_code == 403
    assert client.delete(f"{KEYS}{strong.pk}/").status_code == 403
    strong.refresh_from_db()
    assert (strong.revoked_at, strong.expires_at) == (None, None)
    operator = program(UserFactory.create(is_superuser=True), scope="admin")
    assert operator.post(f"{KEYS}{weak.pk}/rotate/", {}).status_code == 201


def test_operators_see_and_revoke_anybodys_keys_with_the_scope_for_it() -> None:
    operator, key = UserFactory.create(is_superuser=True), ApiKeyFactory.create()
    url = f"{KEYS}{key.pk}/"
    assert program(operator).get(url).status_code == 404
    admin = program(operator, scope="admin")
    assert admin.get(KEYS, {"user": key.user.username}).json()["count"] == 1
    made = admin.post(KEYS, {"name": "for them", "user": key.user.username})
    assert ApiKey.objects.get(pk=made.json()["id"]).user == key.user
    assert admin.delete(url).status_code == 204
    assert program(key.user).get(url).status_code == 404  # gone for its owner, too


@all_cases(
    "sent",
    ["lh_" + "x" * 1_000_000, "lh_\x00", "lh_٣٤٥", "Token", "' OR 1=1 --"],
)
def test_hostile_keys_are_401(sent: str) -> None:
    assert APIClient().get(KEYS, HTTP_X_API_KEY=sent).status_code == 401


def test_the_page_makes_a_key_for_one_project_with_an_end_and_replaces_it() -> None:
    project = ProjectFactory.create()
    owner = member(project, Role.VIEWER)
    client = browser_of(owner)
    sent = {"name": "page", "scope": "label", "project": project.pk, "days": 30}
    page = client.post("/keys/", sent, follow=True)
    key = ApiKey.objects.get(user=owner)
    assert page.context["plain"].startswith(key.prefix)
    assert (key.project, key.scope) == (project, "label")
    assert key.expires_at is not None
    assert project.name in page.content.decode()
    replaced = client.post(f"/keys/{key.pk}/rotate/", follow=True)
    assert replaced.context["plain"] != page.context["plain"]
    assert ApiKey.objects.active().filter(user=owner).count() == 2


def test_the_page_offers_neither_others_projects_nor_to_operate() -> None:
    client = browser_of(UserFactory.create())
    for wrong in ({"project": ProjectFactory.create().pk}, {"scope": "admin"}):
        client.post("/keys/", {"name": "page", "scope": "read"} | wrong)
    assert not ApiKey.objects.exists()
