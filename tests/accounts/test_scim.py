"""SCIM 2.0: a directory makes accounts, deactivates them, and fills groups."""

import json
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import LazySettings, settings
from django.test import Client, RequestFactory
from django_scim.exceptions import NotFoundError

from apps.accounts.identities import Claims, SignInRefused, sign_in_identity
from apps.accounts.models import ApiKey, DirectoryGroup, User
from apps.accounts.scim.adapters import ScimUser
from apps.common.models import AuditEntry
from apps.projects.group_roles import set_group_role
from apps.projects.models import Project
from tests.factories.accounts import ApiKeyFactory, UserFactory, browser_of
from tests.factories.projects import ProjectFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADA = {
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
    "userName": "Ada@example.org",
    "externalId": "x-1",
    "name": {"givenName": "Ada", "familyName": "Lovelace"},
    "emails": [{"value": "ada@example.org", "primary": True, "type": "work"}],
    "active": True,
    "password": "ignored-horse-7",
    "title": "Countess",
}
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


class Directory:
    """A directory with the token."""

    def send(self, method: str, path: str, body: object = None) -> Any:
        return Client().generic(
            method,
            f"/scim/v2/{path}",
            json.dumps(body) if body is not None else "",
            content_type="application/scim+json",
            headers={"authorization": f"Bearer {settings.LABELHUB_SCIM_TOKEN}"},
        )

    def call(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        answer = self.send(method, path, body)
        assert answer.status_code == status, answer.content
        return json.loads(answer.content or "{}")

    def create(self, **changes: Any) -> Any:
        return self.call("POST", "Users", {**ADA, **changes}, 201)

    def patch(self, path: str, *operations: dict[str, Any], status: int = 200) -> Any:
        body = {"schemas": [PATCH], "Operations": list(operations)}
        return self.call("PATCH", path, body, status)


@pytest.fixture
def directory() -> Directory:
    return Directory()


def test_without_the_token_nothing_is_told() -> None:
    for header in ("", "Bearer ", "Bearer wrong", f"Basic {settings.LABELHUB_SCIM_TOKEN}"):
        for path in ("Users", "Groups", "Schemas", "ServiceProviderConfig", "ResourceTypes"):
            answer = Client().get(f"/scim/v2/{path}", headers={"authorization": header})
            assert answer.status_code == 401


def test_a_joiner_gets_an_account_without_a_password(directory: Directory) -> None:
    made = directory.create()
    ada = User.objects.get()
    assert (ada.username, ada.email, ada.display_name) == ("ada", "ada@example.org", "Ada Lovelace")
    assert not ada.has_usable_password()
    assert made["userName"] == "Ada@example.org"
    assert made["id"] == str(ada.pk)
    assert "password" not in made
    found = directory.call("GET", 'Users?filter=userName eq "ada@EXAMPLE.org"')
    assert [user["id"] for user in found["Resources"]] == [made["id"]]
    assert directory.call("GET", 'Users?filter=externalId eq "x-2"')["totalResults"] == 0
    assert directory.call("GET", f"Users/{made['id']}")["externalId"] == "x-1"


LEAVES: list[dict[str, Any]] = [
    {"op": "replace", "value": {"active": False}},
    {"op": "Replace", "path": "active", "value": "False"},
    {"op": "replace", "path": "active", "value": False},
]


@pytest.mark.parametrize("leave", LEAVES)
def test_a_leaver_loses_sessions_keys_and_roles_at_once_and_may_return(
    directory: Directory, leave: dict[str, Any]
) -> None:
    made = directory.create()
    ada = User.objects.get()
    client, key = browser_of(ada), ApiKeyFactory.create(user=ada)
    assert directory.patch(f"Users/{made['id']}", leave)["active"] is False
    assert client.get("/keys/").status_code == 302
    assert key not in ApiKey.objects.active()
    directory.call("PUT", f"Users/{made['id']}", ADA)
    assert User.objects.get().is_active


def test_deleting_deactivates_and_a_person_who_returns_is_the_same(directory: Directory) -> None:
    made = directory.create()
    directory.call("DELETE", f"Users/{made['id']}", status=204)
    directory.call("GET", f"Users/{made['id']}", status=404)
    assert not User.objects.get().is_active
    assert directory.create()["id"] == made["id"]
    assert User.objects.get().is_active


def test_accounts_that_the_directory_did_not_make_are_not_its_own(directory: Directory) -> None:
    root = UserFactory.create(username="root", email="ada@example.org", is_superuser=True)
    assert directory.call("GET", "Users")["totalResults"] == 0
    assert directory.call("GET", "Users?filter=active eq true")["totalResults"] == 0
    for method in ("GET", "PUT", "DELETE"):
        directory.call(method, f"Users/{root.pk}", ADA, 404)
    directory.patch(f"Users/{root.pk}", LEAVES[0], status=404)
    refused = directory.call("POST", "Users", ADA, 409)
    assert refused["scimType"] == "uniqueness"
    group = directory.call("POST", "Groups", {"displayName": "g"}, 201)
    add = {"op": "add", "path": "members", "value": [{"value": str(root.pk)}]}
    directory.patch(f"Groups/{group['id']}", add, status=400)


def test_single_attributes_change(directory: Directory) -> None:
    path = f"Users/{directory.create()['id']}"
    directory.patch(
        path,
        {"op": "replace", "path": "name.givenName", "value": "Augusta\u202e Ada"},
        {"op": "add", "path": 'emails[type eq "work"].value', "value": "New@example.org"},
        {"op": "replace", "path": "userName", "value": "augusta"},
        {"op": "add", "path": "title", "value": "ignored"},
        {"op": "remove", "path": "externalId"},
    )
    ada = User.objects.get()
    found = (ada.first_name, ada.last_name, ada.email, ada.scim_name, ada.scim_external_id)
    assert found == ("Augusta Ada", "Lovelace", "new@example.org", "augusta", "")


def test_wrong_input_is_refused_in_words(directory: Directory) -> None:
    path = f"Users/{directory.create()['id']}"
    group = f"Groups/{directory.call('POST', 'Groups', {'displayName': 'h'}, 201)['id']}"
    wrong: list[tuple[str, str, Any]] = [
        ("POST", "Users", {}),
        ("POST", "Users", {"userName": ["a"]}),
        ("POST", "Users", {"userName": "x" * 256}),
        ("POST", "Users", {"userName": "b", "emails": [{"value": "no address"}]}),
        ("POST", "Users", {"userName": "b", "active": "perhaps"}),
        ("PATCH", path, {"Operations": [{"op": "explode", "path": "active"}]}),
        ("PATCH", path, {"Operations": [{"op": "remove"}]}),
        ("PATCH", path, {"Operations": ["text"]}),
        ("PATCH", path, {}),
        ("GET", 'Users?filter=password eq "x"', None),
        ("GET", "Users?filter=userName like", None),
        ("GET", "Users?count=many", None),
        ("PATCH", group, {"Operations": ["text"]}),
        ("PATCH", group, {"Operations": [{"op": "add", "path": "members", "value": [5]}]}),
        ("POST", "Groups", {"displayName": " "}),
        ("POST", "Groups", {"displayName": "g", "members": [{"value": "999"}]}),
    ]
    found = {(m, p, str(b)): directory.send(m, p, b).status_code for m, p, b in wrong}
    assert {case: status for case, status in found.items() if status != 400} == {}
    for lost in ("Users/abc", "Users/99999999999999999999", "Groups/0"):
        directory.call("GET", lost, status=404)
    directory.call("POST", "Users", {"userName": "ADA@example.org"}, 409)


def test_groups_give_roles_in_every_way_that_directories_change_them(directory: Directory) -> None:
    project: Project = ProjectFactory.create()
    set_group_role(project=project, group="labelers", role="reviewer", kind="crowd", actor=None)
    people = [directory.create(userName=f"p{n}", emails=[], externalId=f"{n}") for n in range(3)]
    ids = [{"value": person["id"]} for person in people]
    made = directory.call("POST", "Groups", {"displayName": "labelers", "members": ids[:1]}, 201)
    path = f"Groups/{made['id']}"

    def members() -> set[str]:
        return {
            str(pk) for pk in project.memberships.exclude(group="").values_list("user", flat=True)
        }

    def named(*numbers: int) -> set[str]:
        return {people[number]["id"] for number in numbers}

    assert members() == named(0)
    directory.patch(path, {"op": "Add", "path": "members", "value": ids[1:]})
    assert members() == named(0, 1, 2)
    second = f'members[value eq "{people[1]["id"]}"]'
    directory.patch(path, {"op": "remove", "path": second})
    assert members() == named(0, 2)
    directory.patch(path, {"op": "Remove", "path": "members", "value": ids[2:]})
    assert members() == named(0)
    directory.patch(path, {"op": "replace", "path": "members", "value": ids[1:2]})
    assert members() == named(1)
    directory.patch(path, {"op": "replace", "value": {"displayName": "others"}})
    assert members() == set()
    directory.call("PUT", path, {"displayName": "labelers", "members": ids})
    assert members() == named(0, 1, 2)
    directory.patch(f"Users/{people[0]['id']}", LEAVES[0])
    assert members() == named(1, 2)
    assert "members" not in directory.call("GET", f"{path}?excludedAttributes=members")
    found = directory.call("GET", 'Groups?filter=displayName eq "labelers"')
    assert [group["id"] for group in found["Resources"]] == [made["id"]]
    directory.call("DELETE", path, status=204)
    assert members() == set()
    assert not DirectoryGroup.objects.exists()


def test_a_page_is_limited(directory: Directory) -> None:
    for number in range(3):
        directory.create(userName=f"p{number}", emails=[], externalId=str(number))
    page = directory.call("GET", "Users?startIndex=2&count=1")
    assert (page["totalResults"], page["itemsPerPage"]) == (3, 1)
    assert directory.call("GET", "Users?count=-5")["Resources"] == []


@pytest.mark.parametrize(
    "claims",
    [
        {"subject": "x-1"},
        {"subject": "s", "email": "ada@example.org", "email_verified": True},
    ],
)
def test_an_account_of_the_directory_is_theirs_at_the_first_sign_in(
    directory: Directory, claims: dict[str, Any]
) -> None:
    directory.create()
    user = sign_in_identity(Claims(issuer="https://id.example", **claims))
    assert user == User.objects.get()
    assert SocialAccount.objects.get().user == user


def test_it_is_theirs_only_once(directory: Directory) -> None:
    directory.create()
    sign_in_identity(Claims(issuer="https://id.example", subject="x-1"))
    other = Claims("https://id.example", "s-2", email="ada@example.org", email_verified=True)
    with pytest.raises(SignInRefused):
        sign_in_identity(other)


def recorded() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(via="SCIM").order_by("pk")
    return [
        (row.action, str(row.subject_person or row.subject_name), str(row.changes)) for row in rows
    ]


def test_what_the_directory_does_is_recorded_without_what_is_personal(directory: Directory) -> None:
    made = directory.create()
    ada = User.objects.get()
    ApiKeyFactory.create(user=ada)
    browser_of(ada)
    path = f"Users/{made['id']}"
    directory.call("PUT", path, {**ADA, "name": {"givenName": "Augusta"}})
    group = directory.call(
        "POST", "Groups", {"displayName": "g", "members": [{"value": made["id"]}]}, 201
    )
    directory.call("DELETE", f"Groups/{group['id']}", status=204)
    directory.call("PUT", path, {**ADA, "name": {"givenName": "Augusta"}})
    directory.call("DELETE", path, status=204)
    found = recorded()
    assert [(action, about) for action, about, _ in found] == [
        ("user.created", "ada"),
        ("user.changed", "ada"),
        ("group.changed", "g"),
        ("group.deleted", "g"),
        ("key.revoked", found[4][1]),
        ("sessions.ended", "ada"),
        ("user.changed", "ada"),
    ]
    texts = "".join(changes for *_, changes in found).lower()
    assert [word for word in ("augusta", "lovelace", "example.org", "x-1") if word in texts] == []


@pytest.mark.parametrize("deactivated", [False, True])
def test_a_key_does_not_return_with_somebody_who_was_deleted(
    directory: Directory, deactivated: bool
) -> None:
    made = directory.create()
    key = ApiKeyFactory.create(user=User.objects.get())
    if deactivated:
        directory.patch(f"Users/{made['id']}", LEAVES[0])
    directory.call("DELETE", f"Users/{made['id']}", status=204)
    assert directory.create()["id"] == made["id"]
    assert key not in ApiKey.objects.active()


def test_only_what_the_directory_says_is_written(directory: Directory) -> None:
    """The account may change, or be erased, between its reading and its writing."""
    directory.create()
    change = ScimUser(User.objects.get(), request=RequestFactory().get("/"))
    change.from_dict({**ADA, "name": {"givenName": "Augusta"}})
    User.objects.update(session_epoch="new", is_superuser=True, password="of-another-request")
    change.save()
    ada = User.objects.get()
    found = (ada.first_name, ada.session_epoch, ada.is_superuser, ada.password)
    assert found == ("Augusta", "new", True, "of-another-request")
    User.objects.update(scim_name="", first_name="", is_active=False)
    with pytest.raises(NotFoundError):
        change.save()
    assert not User.objects.get().is_active


def test_a_change_of_a_name_activates_nobody_who_was_deactivated_meanwhile(
    directory: Directory,
) -> None:
    directory.create()
    rename = ScimUser(User.objects.get(), request=RequestFactory().get("/"))
    User.objects.update(is_active=False)
    rename.handle_operations([{"op": "replace", "path": "name.givenName", "value": "Augusta"}])
    ada = User.objects.get()
    assert (ada.first_name, ada.is_active) == ("Augusta", False)


def test_who_leaves_the_groups_that_may_sign_in_is_shut_out_at_once(
    directory: Directory, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_ALLOWED_GROUPS = ["staff"]
    settings.LABELHUB_OIDC = {"issuer": "https://id.example", "name": "Example"}
    made = directory.create()
    ada, member = User.objects.get(), [{"value": made["id"]}]
    group = directory.call("POST", "Groups", {"displayName": "staff", "members": member}, 201)
    sign_in_identity(Claims(issuer="https://id.example", subject="x-1"))
    ada.refresh_from_db()
    key, browser = ApiKeyFactory.create(user=ada), browser_of(ada)
    assert key in ApiKey.objects.active()
    assert browser.get("/keys/").status_code == 200
    directory.patch(f"Groups/{group['id']}", {"op": "remove", "path": "members", "value": member})
    assert key not in ApiKey.objects.active()
    assert browser.get("/keys/").status_code == 302
    with pytest.raises(SignInRefused):
        sign_in_identity(Claims(issuer="https://id.example", subject="x-1"))


def test_a_change_of_one_member_costs_the_same_in_a_large_group(
    directory: Directory, django_assert_max_num_queries: Any
) -> None:
    people = [directory.create(userName=f"p{n}", emails=[], externalId=f"{n}") for n in range(12)]
    ids = [{"value": person["id"]} for person in people]
    made = directory.call("POST", "Groups", {"displayName": "g", "members": ids[1:]}, 201)
    with django_assert_max_num_queries(35):
        directory.patch(f"Groups/{made['id']}", {"op": "add", "path": "members", "value": ids[:1]})


@pytest.mark.django_db(transaction=True)
def test_members_that_are_added_at_the_same_time_all_stay(directory: Directory) -> None:
    people = [directory.create(userName=f"p{n}", emails=[], externalId=f"{n}") for n in range(4)]
    path = f"Groups/{directory.call('POST', 'Groups', {'displayName': 'g'}, 201)['id']}"

    def add(number: int) -> None:
        value = [{"value": people[number]["id"]}]
        directory.patch(path, {"op": "add", "path": "members", "value": value})

    at_once(add, 4)
    assert len(directory.call("GET", path)["members"]) == 4
