"""/keys/: one's own API keys."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.accounts.roles import Role
from apps.accounts.services import create_api_key, revoke_api_key, rotate_api_key
from apps.common.sealing import digest
from tests.factories.accounts import PASSWORD, ApiKeyFactory, UserFactory, browser_of
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
URL = "/keys/"
NEW = {"name": "my script", "scope": "write"}


def by_password(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    return client


def test_a_new_key_is_shown_once_and_works() -> None:
    client = browser_of(UserFactory.create())
    response = client.post(URL, NEW, follow=True)
    assert response.redirect_chain == [(URL, 302)]
    plain = response.context["plain"]
    assert response.content.decode().count(plain) == 1
    assert "no-store" in response["Cache-Control"]
    assert ApiKey.objects.get().digest == digest(plain)
    again = client.get(URL).content.decode()
    assert plain not in again
    assert "my script" in again


def test_a_session_alone_makes_no_key_and_after_the_password_goes_on_where_it_was() -> None:
    """A borrowed browser, or a stolen cookie, is not enough for something that outlasts it."""
    ada = UserFactory.create(is_superuser=True)
    client, old = by_password(ada), ApiKeyFactory.create(user=ada)
    for url, sent in ((URL, {**NEW, "scope": "admin"}), (f"{URL}{old.pk}/rotate/", {})):
        session = client.session
        session["account_authentication_methods"] = []
        session.save()
        asked = client.post(url, sent)["Location"]
        assert asked.startswith("/accounts/reauthenticate/")
        assert ada.api_keys.count() == 1 + (url != URL)
        client.post(asked, {"password": "wrong"})
        assert ada.api_keys.count() == 1 + (url != URL)
        done = client.post(asked, {"password": PASSWORD}, follow=True)
        assert done.redirect_chain == [(URL, 302)]
        assert done.context["plain"]
    assert ada.api_keys.count() == 3
    assert client.get(f"{URL}{old.pk}/rotate/")["Location"] == URL
    assert client.post(f"{URL}{old.pk}/revoke/")["Location"] == URL  # that takes only away


def test_nor_does_a_session_by_rest() -> None:
    ada = UserFactory.create()
    key = ApiKeyFactory.create(user=ada)
    rest = "/api/v1/keys/"
    client = by_password(ada)
    for url in (rest, f"{rest}{key.pk}/rotate/"):
        refused: Any = client.post(url, {"name": "x"}, content_type="application/json")
        assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    made = client.post(rest, {"name": "x"}, content_type="application/json")
    assert made.status_code == 201


def test_everybody_binds_a_key_to_a_project_that_they_may_see() -> None:
    mine, other = ProjectFactory.create(name="Mine"), ProjectFactory.create(name="Other")
    viewer, operator = member(mine, Role.VIEWER), UserFactory.create(is_superuser=True)
    for user, project, made in ((viewer, mine, 1), (viewer, other, 0), (operator, other, 1)):
        before = user.api_keys.count()
        client = browser_of(user)
        page = client.post(URL, {**NEW, "project": project.pk}, follow=True)
        assert user.api_keys.count() - before == made
        assert not made or user.api_keys.latest("pk").project == project
        assert ("Other" in page.content.decode()) == user.is_superuser


def test_the_page_says_what_each_key_is_and_whether_it_works() -> None:
    ada = UserFactory.create()
    now = timezone.now()
    ApiKeyFactory.create(user=ada, name="valid", last_used_at=now, expires_at=now + timedelta(9))
    ApiKeyFactory.create(user=ada, name="expired", expires_at=now - timedelta(1))
    ApiKeyFactory.create(user=ada, name="forgotten", expires_at=now - timedelta(99))
    revoke_api_key(key=ApiKeyFactory.create(user=ada, name="revoked"))
    rotate_api_key(key=ApiKeyFactory.create(user=ada, name="replaced"), grace=timedelta(1))
    ApiKeyFactory.create(name="of somebody else")
    rows = {(key.name, key.state.label) for key in browser_of(ada).get(URL).context["keys"]}
    assert rows == {
        ("valid", "works"), ("expired", "expired"), ("revoked", "revoked"),
        ("replaced", "replaced"), ("replaced", "works"),
    }  # fmt: skip


def test_a_key_is_revoked_with_those_that_it_made() -> None:
    ada = UserFactory.create()
    stolen = create_api_key(user=ada, name="stolen")
    thief = APIClient(HTTP_X_API_KEY=stolen.plain)
    made = thief.post("/api/v1/keys/", {"name": "a", "scope": "write"}).json()
    below = APIClient(HTTP_X_API_KEY=made["key"]).post("/api/v1/keys/", {"name": "b"}).json()
    other = ApiKeyFactory.create(user=ada)
    response = browser_of(ada).post(f"{URL}{stolen.key.pk}/revoke/", follow=True)
    assert "no longer works" in response.content.decode()
    assert list(ApiKey.objects.active()) == [other]
    assert APIClient(HTTP_X_API_KEY=below["key"]).get("/api/v1/keys/").status_code == 401


def test_the_key_of_somebody_else_cannot_be_revoked() -> None:
    key = ApiKeyFactory.create()
    assert browser_of(UserFactory.create()).post(f"/keys/{key.pk}/revoke/").status_code == 404
    assert ApiKey.objects.active().exists()
