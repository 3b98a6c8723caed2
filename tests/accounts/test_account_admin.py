"""What operators do to people and keys in the console: its effect, once, and its record."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client, override_settings
from django.utils import timezone

from apps.accounts import operations
from apps.accounts.models import ApiKey, User
from apps.common.models import AuditEntry
from tests.factories.accounts import (
    PASSWORD,
    ApiKeyFactory,
    UserFactory,
    act_in_console,
    browser_of,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return UserFactory.create(username="root", is_staff=True, is_superuser=True)


@pytest.fixture
def operator(root: User) -> Client:
    return browser_of(root)


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


def recorded(action: str, by: str = "root") -> int:
    """How often ``by`` did it."""
    return AuditEntry.objects.filter(action=action, actor__name=by).count()


def words_of(answer: Any, browser: Client) -> str:
    """What the page after an action says."""
    return browser.get(answer["Location"]).content.decode()


def seen(browser: Client, url: str) -> dict[str, str]:
    """What a person's page sends back of how it was opened."""
    return {"seen": browser.get(url).context["adminform"].form["seen"].value()}


def changes_of(user: User) -> list[Any]:
    """What was recorded of changes to ``user``."""
    rows = AuditEntry.objects.filter(action="user.changed", subject_person__user_id=user.pk)
    return list(rows.order_by("pk").values_list("changes", flat=True))


def test_a_person_is_deactivated_once_whoever_presses_again(operator: Client, ada: User) -> None:
    act_in_console(operator, ada, "deactivate")
    again = act_in_console(operator, ada, "deactivate")
    ada.refresh_from_db()
    assert not ada.is_active
    assert changes_of(ada) == [{"is_active": [True, False]}]
    assert "nothing to do" in words_of(again, operator)
    act_in_console(operator, ada, "activate")
    assert changes_of(ada)[1:] == [{"is_active": [False, True]}]


def test_what_changed_after_the_question_is_not_done(operator: Client, ada: User) -> None:
    url = "/admin/accounts/user/"
    pressed = {"action": "give_password", "_selected_action": str(ada.pk)}
    stamps = {f"seen-{row.pk}": stamp for row, stamp in operator.post(url, pressed).context["rows"]}
    other = browser_of(UserFactory.create(username="other", is_superuser=True))
    act_in_console(other, ada, "give_password")
    late = operator.post(url, pressed | stamps | {"sure": "yes"})
    assert "changed since you were asked" in words_of(late, operator)
    assert (recorded("password.set"), recorded("password.set", "other")) == (0, 1)


@pytest.mark.parametrize("action", ["deactivate", "end_sessions", "give_password", "disconnect"])
def test_nothing_ends_before_the_question_is_answered(
    operator: Client, ada: User, action: str
) -> None:
    before = User.objects.values().get(pk=ada.pk)
    chosen = {"action": action, "_selected_action": str(ada.pk)}
    page = operator.post("/admin/accounts/user/", chosen)
    assert "ada" in page.content.decode()
    operator.post("/admin/accounts/user/", chosen | {"sure": "yes"})  # made up, without the stamp
    if action != "disconnect":
        assert User.objects.values().get(pk=ada.pk) == before


def test_a_session_alone_changes_nobody_and_after_the_password_goes_on_where_it_was(
    root: User, ada: User
) -> None:
    """A borrowed browser, or a stolen cookie, makes no operator and opens no account."""
    client = Client(enforce_csrf_checks=True)
    url, mark = "/admin/accounts/user/", {"csrfmiddlewaretoken": "c" * 32}
    page = f"{url}{ada.pk}/change/"
    pressed = {"action": "give_password", "_selected_action": str(ada.pk), "from_row": "yes"}
    cases = [
        (f"{url}add/", {"username": "eve", "is_superuser": "on"}, 302),
        (page, {"email": ada.email, "first_name": "Ada", "last_name": ""}, 302),
        (url, pressed, 200),
    ]
    done: Any = None
    for address, sent, status in cases:
        client.logout()
        client.force_login(root)
        client.cookies["csrftoken"] = "c" * 32
        before = list(User.objects.order_by("pk").values())
        stamp = seen(client, page) if address == page else {}
        asked = client.post(address, sent | stamp | mark)["Location"]
        assert asked.startswith("/accounts/reauthenticate/")
        assert list(User.objects.order_by("pk").values()) == before
        done = client.post(asked, {"password": PASSWORD} | mark)
        assert done.status_code == status
    assert User.objects.get(username="eve").is_superuser
    assert User.objects.get(pk=ada.pk).first_name == "Ada"
    assert f'action="{url}"' in done.content.decode()
    stamps = {f"seen-{row.pk}": stamp for row, stamp in done.context["rows"]}
    assert client.post(url, pressed | stamps | mark | {"sure": "yes"})["Location"] == page
    assert recorded("password.set") == 1


def test_operators_do_not_lock_themselves_out(operator: Client, root: User) -> None:
    refused = act_in_console(operator, root, "deactivate")
    assert "ask another operator" in words_of(refused, operator)
    form = {"email": root.email, "first_name": "", "last_name": ""}
    url = f"/admin/accounts/user/{root.pk}/change/"
    page = operator.post(url, form | seen(operator, url))
    assert "ask another operator" in page.content.decode()
    root.refresh_from_db()
    assert (root.is_active, root.is_superuser) == (True, True)


def test_two_steps_and_the_provider_are_reset(operator: Client, ada: User) -> None:
    Authenticator.objects.create(user=ada, type="totp", data={})
    SocialAccount.objects.create(user=ada, provider="oidc", uid="1")
    for action, entry in (
        ("reset_two_step", "second_step.removed"),
        ("disconnect", "identity.removed"),
    ):
        act_in_console(operator, ada, action)
        act_in_console(operator, ada, action)
        assert recorded(entry) == 1
    assert not Authenticator.objects.exists()
    assert not SocialAccount.objects.exists()


def test_who_typed_wrong_passwords_is_listed_and_let_in(operator: Client, ada: User) -> None:
    browser = Client(REMOTE_ADDR="192.0.2.7")
    for _ in range(operations.WRONG_PASSWORDS):
        browser.post("/accounts/login/", {"login": "ada", "password": "wrong"})
    right = {"login": "ada", "password": PASSWORD}
    assert browser.post("/accounts/login/", right).status_code == 200
    assert list(operations.locked_out()) == [ada]
    assert "ada" in operator.get("/admin/accounts/user/", {"locked": "yes"}).content.decode()
    act_in_console(operator, ada, "unlock")
    assert not operations.locked_out().exists()
    assert browser.post("/accounts/login/", right).status_code == 302
    assert changes_of(ada) == [{"locked": [True, False]}]


def test_nobody_else_is_unlocked(operator: Client, ada: User) -> None:
    assert "nothing to do" in words_of(act_in_console(operator, ada, "unlock"), operator)
    assert changes_of(ada) == []


def test_a_link_for_a_new_password_is_mailed_where_mail_works(operator: Client, ada: User) -> None:
    with override_settings(LABELHUB_SENDS_MAIL=False):
        refused = act_in_console(operator, ada, "send_link")
    assert "sends no e-mail" in words_of(refused, operator)
    with override_settings(
        LABELHUB_SENDS_MAIL=True,
        EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
        EMAIL_HOST="127.0.0.1",
        EMAIL_PORT=9,
    ):
        failed = act_in_console(operator, ada, "send_link")
    assert "The mail server does not take the e-mail" in words_of(failed, operator)
    assert changes_of(ada) == []
    with override_settings(LABELHUB_SENDS_MAIL=True):
        act_in_console(operator, ada, "send_link")
    assert [message.to for message in mail.outbox] == [[ada.email]]
    assert changes_of(ada) == [{"password_link": [None, "sent"]}]


def test_the_form_knows_operators_and_who_creates_accounts_alone(
    operator: Client, ada: User
) -> None:
    url = f"/admin/accounts/user/{ada.pk}/change/"
    assert b"user_permissions" not in operator.get(url).content
    form = {"email": ada.email, "first_name": "Ada", "last_name": ""}
    operator.post(url, form | seen(operator, url) | {"is_superuser": "on", "makes_accounts": "on"})
    ada = User.objects.get(pk=ada.pk)
    assert (ada.is_superuser, ada.is_staff, ada.first_name) == (True, True, "Ada")
    assert changes_of(ada) == [
        {"first_name": [None, None], "is_superuser": [False, True], "is_staff": [False, True]},
        {"makes_accounts": [False, True]},
    ]
    operator.post(url, form | seen(operator, url))
    assert not User.objects.get(pk=ada.pk).makes_accounts
    assert operator.post(f"/admin/accounts/user/{ada.pk}/delete/").status_code == 403


def test_a_form_that_was_opened_before_makes_nobody_an_operator_again(
    operator: Client, ada: User
) -> None:
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    url = f"/admin/accounts/user/{ada.pk}/change/"
    sent = {"email": ada.email, "first_name": "Ada", "last_name": "", "is_superuser": "on"}
    opened = seen(operator, url)
    User.objects.filter(pk=ada.pk).update(is_superuser=False)
    for stale in (opened, {}, {"seen": "made up"}):
        page = operator.post(url, sent | stale).content.decode()
        assert "Somebody has changed meanwhile whether they are an operator" in page
    assert changes_of(ada) == []
    assert operator.post(url, sent | seen(operator, url)).status_code == 302
    assert User.objects.get(pk=ada.pk).is_superuser


def test_an_address_that_is_taken_is_named_at_its_field(operator: Client, ada: User) -> None:
    other = UserFactory.create()
    form = {"email": other.email.upper(), "first_name": "", "last_name": ""}
    url = f"/admin/accounts/user/{ada.pk}/change/"
    page = operator.post(url, form | seen(operator, url))
    assert page.context["adminform"].form.errors["email"]


def test_a_key_shows_no_digest_and_takes_no_change(operator: Client) -> None:
    key = ApiKeyFactory.create()
    url = f"/admin/accounts/apikey/{key.pk}/change/"
    assert key.digest not in operator.get(url).content.decode()
    operator.post(url, {"digest": "x" * 64, "name": "other"})
    key.refresh_from_db()
    assert key.name == "test"


def test_keys_are_revoked_once(operator: Client) -> None:
    keys = ApiKeyFactory.create_batch(2)
    data = {"action": "revoke", "_selected_action": [key.pk for key in keys]}
    operator.post("/admin/accounts/apikey/", data)
    assert ApiKey.objects.active().count() == 2
    for _ in range(2):
        operator.post("/admin/accounts/apikey/", data | {"sure": "yes"})
    assert not ApiKey.objects.active().exists()
    assert recorded("key.revoked") == 2


def test_a_key_gets_an_end_and_no_later_one(operator: Client) -> None:
    key = ApiKeyFactory.create()
    act_in_console(operator, key, "expire")
    key.refresh_from_db()
    assert key.expires_at is not None
    assert timedelta(days=6) < key.expires_at - timezone.now() <= timedelta(days=7)
    act_in_console(operator, key, "expire")
    assert recorded("key.changed") == 1
    assert key.prefix in operator.get("/admin/accounts/apikey/?state=soon").content.decode()


@pytest.mark.django_db(transaction=True)
def test_of_four_operators_at_once_one_has_the_effect() -> None:
    ada = UserFactory.create(username="ada")
    browsers = [
        browser_of(UserFactory.create(username=f"root{number}", is_superuser=True))
        for number in range(4)
    ]
    url = "/admin/accounts/user/"
    pressed = {"action": "give_password", "_selected_action": str(ada.pk)}
    asked = browsers[0].post(url, pressed)
    stamps = {f"seen-{row.pk}": stamp for row, stamp in asked.context["rows"]}
    at_once(lambda number: browsers[number].post(url, pressed | stamps | {"sure": "yes"}))
    assert AuditEntry.objects.filter(action="password.set").count() == 1
