"""Signing in: by name or address, limited, and with no public sign-up."""

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.selectors import find_user
from tests.factories.accounts import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"


@pytest.mark.parametrize("name", ["ada", "ada@example.org"])
def test_a_person_signs_in_by_name_or_address(client: Client, name: str) -> None:
    UserFactory.create(username="ada", email="ada@example.org")
    response = client.post(LOGIN, {"login": name, "password": PASSWORD})
    assert response.status_code == 302
    assert "_auth_user_id" in client.session


def test_a_wrong_password_is_refused(client: Client) -> None:
    UserFactory.create(username="ada")
    response = client.post(LOGIN, {"login": "ada", "password": "wrong"})
    assert response.status_code == 200
    assert "_auth_user_id" not in client.session


def test_an_inactive_person_is_refused(client: Client) -> None:
    UserFactory.create(username="ada", is_active=False)
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    assert "_auth_user_id" not in client.session


def test_the_eleventh_wrong_attempt_in_a_minute_is_stopped(client: Client) -> None:
    for attempt in range(10):
        client.post(LOGIN, {"login": f"person{attempt}", "password": "wrong"})
    stopped = client.post(LOGIN, {"login": "person11", "password": "wrong"})
    page = stopped.content.decode()
    assert stopped.status_code == 429 or "Too many failed login attempts" in page


def test_guessing_one_persons_password_is_stopped_even_when_right_at_last(client: Client) -> None:
    UserFactory.create(username="ada")
    for _ in range(5):
        client.post(LOGIN, {"login": "ada", "password": "wrong"})
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    assert "_auth_user_id" not in client.session


def test_wrong_passwords_from_one_address_lock_nobody_out_at_another(client: Client) -> None:
    UserFactory.create(username="root", is_superuser=True)
    for _ in range(6):
        client.post(LOGIN, {"login": "root", "password": "wrong"}, REMOTE_ADDR="203.0.113.9")
    right = {"login": "root", "password": PASSWORD}
    client.post(LOGIN, right, REMOTE_ADDR="203.0.113.9")
    assert "_auth_user_id" not in client.session
    client.post(LOGIN, right, REMOTE_ADDR="198.51.100.7")
    assert "_auth_user_id" in client.session


def test_nobody_can_sign_up(client: Client) -> None:
    fields = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    assert "password1" not in client.get("/accounts/signup/").content.decode()
    client.post("/accounts/signup/", fields)
    assert not User.objects.exists()
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize(
    "page", ["email/", "confirm-email/", "confirm-email/x/", "login/code/confirm/"]
)
def test_nobody_gives_themselves_an_address(client: Client, page: str) -> None:
    """An address is a name here, by which managers find people; nobody would verify it."""
    eve = UserFactory.create(username="eve")
    client.force_login(eve)
    sent = {"email": "ceo@example.org", "action_add": "", "action_primary": ""}
    assert client.post(f"/accounts/{page}", sent).status_code == 404
    assert client.get(f"/accounts/{page}").status_code == 404
    assert find_user("ceo@example.org") is None


def test_asking_for_a_new_password_never_tells_who_has_an_account(
    client: Client, mailoutbox: list[EmailMessage]
) -> None:
    UserFactory.create(username="ada", email="ada@example.org")
    for address in ("ada@example.org", "nobody@example.org"):
        answer = client.post("/accounts/password/reset/", {"email": address})
        assert answer["Location"] == "/accounts/password/reset/done/"
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"], ["nobody@example.org"]]


def test_a_form_sent_without_a_session_leads_back_to_its_page(client: Client) -> None:
    UserFactory.create(username="ada")
    revoke, page = reverse("api_key_revoke", args=[3]), f"http://testserver{reverse('api_keys')}"

    sign_in = client.post(revoke, headers={"Referer": page}).headers["Location"]

    answer = client.post(sign_in, {"login": "ada", "password": PASSWORD})
    assert answer.headers["Location"] == page
    client.logout()
    for elsewhere in ("https://elsewhere.example/", ""):
        answer = client.post(revoke, headers={"Referer": elsewhere})
        assert answer.headers["Location"] == LOGIN


def test_signing_in_leads_to_the_start_page_where_the_wanted_address_shows_none(
    client: Client,
) -> None:
    """A refused form is shown again at an address that may take POST only."""
    UserFactory.create(username="ada")
    revoke = reverse("api_key_revoke", args=[3])
    for sign_in in (
        client.get(revoke).headers["Location"],
        client.post(revoke, headers={"Referer": f"http://testserver{revoke}"}).headers["Location"],
        f"{LOGIN}?next=/nowhere/",
    ):
        answer = client.post(sign_in, {"login": "ada", "password": PASSWORD})
        assert answer.headers["Location"] == reverse("start")
        client.logout()


def test_signing_out_takes_a_post(client: Client) -> None:
    client.force_login(UserFactory.create())
    client.get("/accounts/logout/")
    assert "_auth_user_id" in client.session
    client.post("/accounts/logout/")
    assert "_auth_user_id" not in client.session


def test_the_console_has_no_door_of_its_own(client: Client) -> None:
    UserFactory.create(username="root", is_staff=True, is_superuser=True)
    answer = client.post("/admin/login/", {"username": "root", "password": PASSWORD})
    assert answer.status_code == 302
    assert str(answer["Location"]).startswith(LOGIN)
    assert "_auth_user_id" not in client.session
