"""Two-step verification: apps with codes, recovery codes, and who must have it. Passkeys need a
browser: see tests/e2e/test_sign_in.py."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client

from apps.accounts.models import User
from apps.common.models import AuditEntry
from tests.factories.accounts import PASSWORD, UserFactory, act_in_console, api_of, browser_of

pytestmark = pytest.mark.django_db
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(autouse=True)
def _fresh_counts() -> None:
    cache.clear()


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


def code(secret: str = SECRET, ahead: int = 0) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + ahead)))


def with_app(user: User) -> User:
    TOTP.activate(user, SECRET)
    return user


def by_password(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get("/keys/").status_code == 200


def test_a_person_sets_up_an_app_and_needs_it_from_then_on(ada: User) -> None:
    client = by_password(ada)
    confirm = client.get("/accounts/2fa/app/")["Location"]
    assert confirm.startswith("/accounts/reauthenticate/")
    client.post(confirm, {"password": PASSWORD})
    page = client.get("/accounts/2fa/app/").content.decode()
    found = re.search(r'id="totp-secret"[^>]*><code>([A-Z2-7]+)<', page)
    assert found is not None
    done = client.post("/accounts/2fa/app/", {"code": code(found[1])})
    assert done["Location"] == "/accounts/2fa/codes/"
    codes = client.get(done["Location"]).content.decode()
    recovery = re.findall(r"\b\d{8}\b", codes)
    assert len(recovery) == 10

    cache.clear()  # a code counts once
    again = by_password(ada)
    assert not is_in(again)
    again.post("/accounts/2fa/", {"code": code(found[1])})
    assert is_in(again)
    for works in (True, False):
        lost = by_password(ada)
        lost.post("/accounts/2fa/", {"code": recovery[0]})
        assert is_in(lost) is works


def test_secrets_are_sealed_at_rest(ada: User) -> None:
    with_app(ada)
    stored = Authenticator.objects.get().data
    assert SECRET not in str(stored)
    assert TOTP(Authenticator.objects.get()).validate_code(code())


def test_a_code_counts_once(ada: User) -> None:
    with_app(ada)
    first, second = by_password(ada), by_password(ada)
    first.post("/accounts/2fa/", {"code": code()})
    second.post("/accounts/2fa/", {"code": code()})
    assert (is_in(first), is_in(second)) == (True, False)


def test_guessing_codes_is_stopped_even_when_right_at_last(ada: User) -> None:
    with_app(ada)
    client = by_password(ada)
    for _ in range(5):
        client.post("/accounts/2fa/", {"code": "000000"})
    client.post("/accounts/2fa/", {"code": code()})
    assert not is_in(client)


def test_who_must_set_it_up_reaches_no_other_page(ada: User, settings: LazySettings) -> None:
    root = UserFactory.create(username="root", is_superuser=True, is_staff=True)
    safe = with_app(UserFactory.create(username="safe", is_superuser=True))
    for required, held_up in (
        ("", []), ("operators", ["root"]), ("all", ["ada", "root"])
    ):  # fmt: skip
        settings.LABELHUB_REQUIRE_2FA = required
        found = [user.username for user in (ada, root, safe) if not is_in(browser_of(user))]
        assert found == held_up
    client = browser_of(ada)
    assert client.get("/keys/")["Location"] == "/accounts/security/?next=%2Fkeys%2F"
    assert client.get("/api/v1/projects/").json()["code"] == "two_step_required"
    assert client.get("/accounts/security/").status_code == 200
    assert client.get("/accounts/sessions/").status_code == 302
    assert api_of(ada).get("/api/v1/projects/").status_code == 200


def test_an_app_is_removed_after_confirming(ada: User) -> None:
    client = by_password(with_app(ada))
    client.post("/accounts/2fa/", {"code": code()})
    confirm = client.post("/accounts/2fa/app/remove/")["Location"]
    client.post(confirm, {"password": PASSWORD})
    client.post("/accounts/2fa/app/remove/")
    assert not Authenticator.objects.exists()
    assert is_in(by_password(ada))


def test_what_happens_to_second_steps_is_recorded(ada: User) -> None:
    client = by_password(ada)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = client.get("/accounts/2fa/app/").content.decode()
    found = re.search(r'id="totp-secret"[^>]*><code>([A-Z2-7]+)<', page)
    assert found is not None
    client.post("/accounts/2fa/app/", {"code": code(found[1])})
    client.post("/accounts/2fa/codes/new/")
    client.post("/accounts/2fa/app/remove/")
    root = browser_of(UserFactory.create(username="root", is_superuser=True, is_staff=True))
    with_app(ada)
    act_in_console(root, ada, "reset_two_step")
    rows = AuditEntry.objects.filter(action__startswith="second_step").order_by("pk")
    recorded = [(str(row.actor), row.action.partition(".")[2], row.changes["kind"]) for row in rows]
    assert recorded == [
        ("ada", "added", [None, "totp"]),
        ("ada", "added", [None, "recovery_codes"]),
        ("ada", "removed", ["recovery_codes", None]),
        ("ada", "added", [None, "recovery_codes"]),
        ("ada", "removed", ["totp", None]),
        ("ada", "removed", ["recovery_codes", None]),
        ("None", "added", [None, "totp"]),
        ("root", "removed", ["totp", None]),
    ]
    assert {str(row.subject_person) for row in rows} == {"ada"}


def test_the_ways_in_of_somebody_else_stay(ada: User) -> None:
    with_app(UserFactory.create())
    client = by_password(ada)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert client.get("/accounts/2fa/app/remove/").status_code == 404
    assert client.get("/accounts/passkeys/1/remove/").status_code == 404
    assert client.get("/accounts/2fa/codes/").status_code == 404
