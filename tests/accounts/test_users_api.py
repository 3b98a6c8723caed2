"""/api/v1/users/: accounts, for operators."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from tests.factories.accounts import PASSWORD, ApiKeyFactory, UserFactory, api_of, browser_of

pytestmark = pytest.mark.django_db
URL = "/api/v1/users/"


@pytest.fixture
def operator() -> User:
    return UserFactory.create(is_superuser=True)


def test_a_new_account_signs_in_with_the_password_that_is_shown_once(operator: User) -> None:
    response = api_of(operator).post(URL, {"username": "ann", "email": "Ann@Example.org"})
    assert response.status_code == 201
    body = response.json()
    ann = User.objects.get(username="ann")
    assert (ann.email, ann.must_change_password, ann.is_superuser) == (
        "ann@example.org", True, False,
    )  # fmt: skip
    assert Client().login(username="ann", password=body["password"])
    assert body["password"] not in api_of(operator).get(f"{URL}{ann.pk}/").content.decode()


def test_a_session_alone_neither_creates_nor_changes_accounts(operator: User) -> None:
    client, ann = Client(), UserFactory.create()
    client.force_login(operator)
    sent: list[tuple[str, str, dict[str, Any]]] = [
        ("post", URL, {"username": "eve", "superuser": True}),
        ("patch", f"{URL}{ann.pk}/", {"is_superuser": True}),
    ]
    for method, url, body in sent:
        refused: Any = getattr(client, method)(url, body, content_type="application/json")
        assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    for method, url, body in sent:
        done: Any = getattr(client, method)(url, body, content_type="application/json")
        assert done.status_code in (200, 201)


def test_a_deactivated_person_is_signed_out_and_their_keys_stop(operator: User) -> None:
    person = UserFactory.create()
    browser = browser_of(person)
    ApiKeyFactory.create(user=person, plain="lh_theirs")
    changed = api_of(operator).patch(f"{URL}{person.pk}/", {"is_active": False})
    assert changed.json()["is_active"] is False
    api_of(operator).patch(f"{URL}{person.pk}/", {"is_active": True})
    assert browser.get("/keys/").status_code == 302  # it does not come back
    api_of(operator).patch(f"{URL}{person.pk}/", {"is_active": False})
    assert browser.get("/keys/").status_code == 302
    assert APIClient(HTTP_X_API_KEY="lh_theirs").get("/api/v1/keys/").status_code == 401


def test_what_cannot_be_changed_is_refused_and_changes_nothing(operator: User) -> None:
    other = UserFactory.create()
    cases: list[tuple[User, dict[str, Any], int]] = [
        (operator, {"is_active": False}, 422),
        (operator, {"is_superuser": False}, 422),
        (other, {"email": operator.email.upper()}, 422),
        (other, {"email": "no address"}, 400),
        (other, {"username": "new"}, 422),
        (other, {"password": "new"}, 422),
        (other, {"first_name": "a\0"}, 400),
    ]
    before = list(User.objects.order_by("pk").values())
    found = [api_of(operator).patch(f"{URL}{who.pk}/", body).status_code for who, body, _ in cases]
    assert found == [status for *_, status in cases]
    assert list(User.objects.order_by("pk").values()) == before


def test_accounts_are_found_by_name_and_state(operator: User) -> None:
    ann = UserFactory.create(username="ann", is_active=False)
    client = api_of(operator)
    for query in ("username=ann", "is_active=false", f"email={ann.email.upper()}"):
        rows = client.get(f"{URL}?{query}").json()["results"]
        assert [row["username"] for row in rows] == ["ann"], query
