"""Every page of allauth that can be reached wears our frame."""

import pytest
from django.test import Client

from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/accounts/login/", "Sign in"),
        ("/accounts/signup/", "Accounts are given, not taken"),
        ("/accounts/password/reset/", "Reset password"),
        ("/accounts/password/reset/done/", "Look into your mail"),
        ("/accounts/password/reset/key/done/", "Password set"),
        ("/accounts/password/reset/key/1-wrong/", "This link no longer works"),
        ("/accounts/inactive/", "Account Inactive"),
    ],
)
def test_pages_for_everybody(client: Client, path: str, heading: str) -> None:
    html = client.get(path, follow=True).content.decode()
    assert heading in html
    assert "centre__card" in html
    assert 'id="main"' in html


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/accounts/logout/", "Sign out"),
        ("/accounts/password/change/", "Change password"),
        ("/accounts/reauthenticate/", "Confirm that it is you"),
    ],
)
def test_pages_for_people_who_signed_in(client: Client, path: str, heading: str) -> None:
    client.force_login(UserFactory.create())
    html = client.get(path, follow=True).content.decode()
    assert heading in html
    assert "centre__card" in html


def test_somebody_without_a_password_chooses_one(client: Client) -> None:
    user = UserFactory.create()
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    html = client.get("/accounts/password/set/").content.decode()
    assert "Choose a password" in html


def test_a_wrong_password_is_said_above_the_form(client: Client) -> None:
    response = client.post("/accounts/login/", {"login": "nobody", "password": "wrong"})
    html = response.content.decode()
    assert 'role="alert"' in html
    assert "User name or email" in html
