"""A password that somebody else has set opens nothing but the form to change it."""

import re

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.selectors import find_active_user
from apps.accounts.services import create_api_key, create_user
from tests.factories.accounts import PASSWORD, UserFactory, act_in_console, browser_of

pytestmark = pytest.mark.django_db
CHANGE = "/accounts/password/change/"


@pytest.fixture
def ada() -> tuple[User, str]:
    """A new person, and the password that the operator was shown."""
    return create_user(username="ada")


@pytest.fixture
def browser(client: Client, ada: tuple[User, str]) -> Client:
    """Hers, signed in."""
    client.post("/accounts/login/", {"login": "ada", "password": ada[1]})
    return client


def change(browser: Client, old: str, new: str, after: str = "") -> str:
    """The address after the form, or its faults."""
    fields = {"oldpassword": old, "password1": new, "password2": new, "next": after}
    answer = browser.post(CHANGE, fields)
    return answer["Location"] if answer.status_code == 302 else answer.content.decode()


@pytest.mark.parametrize("page", ["/", "/projects/new/", "/keys/", "/admin/", "/notifications/"])
def test_every_page_leads_to_the_form(browser: Client, page: str) -> None:
    answer = browser.get(page)
    assert answer["Location"].startswith(CHANGE)
    assert browser.post(page, {"name": "x"})["Location"] == CHANGE
    form = browser.get(answer["Location"]).content.decode()
    assert "Choose your password" in form
    assert "Cancel" not in form


def test_no_key_is_made_and_no_rest_answers(browser: Client, ada: tuple[User, str]) -> None:
    browser.post("/keys/", {"name": "mine", "scope": "write"})
    assert not ada[0].api_keys.exists()
    answer = browser.get("/api/v1/projects/")
    assert (answer.status_code, answer.json()["code"]) == (403, "password_change_required")


def test_an_operators_key_works_for_a_program_that_never_signs_in(ada: tuple[User, str]) -> None:
    key = create_api_key(user=ada[0], name="robot").plain
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    assert client.get("/api/v1/projects/").status_code == 200


def test_scripts_and_parts_of_pages_are_told(browser: Client) -> None:
    assert browser.get("/", headers={"X-Requested-With": "fetch"}).status_code == 403
    assert browser.get("/", headers={"HX-Request": "true"})["HX-Redirect"] == CHANGE


def test_sockets_take_them_for_a_stranger(ada: tuple[User, str]) -> None:
    assert find_active_user(ada[0].pk) is None


def test_after_the_change_the_wanted_page_opens(browser: Client, ada: tuple[User, str]) -> None:
    assert "another password than the one" in change(browser, ada[1], ada[1])
    assert change(browser, ada[1], PASSWORD, after="/projects/new/") == "/projects/new/"
    assert browser.get("/projects/new/").status_code == 200
    assert find_active_user(ada[0].pk) is not None


def test_signing_out_stays_possible(browser: Client) -> None:
    browser.post("/accounts/logout/")
    assert "_auth_user_id" not in browser.session


def test_a_password_of_ones_own_choice_is_not_asked_for_again(client: Client) -> None:
    user = create_user(username="bea", password=PASSWORD).user
    client.force_login(user)
    assert client.get("/").status_code == 200


def test_the_console_sets_first_passwords_too() -> None:
    client = browser_of(UserFactory.create(is_staff=True, is_superuser=True))
    ada = UserFactory.create(username="ada")
    made = client.post("/admin/accounts/user/add/", {"username": "bea"})
    bea = User.objects.get(username="bea")
    act_in_console(client, ada, "give_password")
    page = client.get(f"/admin/accounts/user/{ada.pk}/change/").content.decode()
    for user in (bea, ada):
        user.refresh_from_db()
        assert user.must_change_password
    shown = re.search(r"<code[^>]*>([^<]+)</code>", page)
    assert shown is not None
    assert ada.check_password(shown[1])
    assert shown[1] not in client.get(f"/admin/accounts/user/{ada.pk}/change/").content.decode()
    assert "<code" in client.get(made["Location"]).content.decode()
