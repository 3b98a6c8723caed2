"""Sign-in by OpenID Connect, against a provider on loopback."""

import logging
import time
from collections.abc import Iterator
from functools import partialmethod
from typing import Any
from unittest.mock import Mock

import jwt
import pytest
import requests
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import LazySettings
from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.common.models import AuditEntry
from tests.accounts.test_two_step import SECRET, code
from tests.factories.accounts import PASSWORD, ApiKeyFactory, UserFactory, browser_of
from tests.fakes.oidc_provider import CLIENT, Provider, new_key, oidc_provider

pytestmark = pytest.mark.django_db
ADA = {
    "sub": "ada-1",
    "email": "ada@example.org",
    "email_verified": True,
    "preferred_username": "ada",
    "given_name": "Ada",
    "family_name": "Lovelace",
}


@pytest.fixture
def provider(settings: LazySettings) -> Iterator[Provider]:
    with oidc_provider() as running:
        running.person = dict(ADA)
        settings.LABELHUB_OIDC = running.settings()
        settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 60  # a busy machine is no fault
        cache.clear()
        yield running


def answer_of(client: Client, start: str = "/accounts/oidc/login/") -> str:
    """The address to which the provider sends the browser back."""
    there = client.get(start)
    assert there.status_code == 302, there.content
    return back_from(there["Location"])


def sign_in(client: Client, start: str = "/accounts/oidc/login/") -> HttpResponse:
    return client.get(answer_of(client, start))  # type: ignore[return-value]


def signed_in(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id") or 0).first()


def test_a_new_employee_gets_an_account_without_a_password(
    client: Client, provider: Provider
) -> None:
    answer = sign_in(client, "/accounts/oidc/login/?next=/keys/")
    ada = User.objects.get()
    assert answer["Location"] == "/keys/"
    assert signed_in(client) == ada
    assert (ada.username, ada.email, ada.display_name) == ("ada", ADA["email"], "Ada Lovelace")
    assert not ada.has_usable_password()
    identity = SocialAccount.objects.get()
    assert (identity.provider, identity.uid) == (provider.issuer, "ada-1")
    assert identity.extra_data == {}


def test_a_person_is_known_by_issuer_and_subject_alone(client: Client, provider: Provider) -> None:
    sign_in(client)
    provider.person = {**ADA, "email": "countess@example.org", "preferred_username": "countess"}
    sign_in(Client())
    assert User.objects.get().email == "countess@example.org"
    provider.person = {**ADA, "sub": "another", "email": "new@example.org"}
    sign_in(Client())
    assert User.objects.exclude(email="countess@example.org").get().username == "ada2"


def test_a_session_of_the_provider_ends_after_its_hours_however_it_is_used(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_SESSION_HOURS = 2
    sign_in(client)
    client.get("/keys/")
    left = client.session.get_expiry_date() - timezone.now()
    assert 7100 < left.total_seconds() <= 7200


def wrong(provider: Provider, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(provider, name, value)


NOW = int(time.time())
TROUBLES: dict[str, tuple[dict[str, Any], int, str]] = {
    "another key": ({"key": new_key()}, 502, "cannot be trusted"),
    "another issuer": ({"token": {"iss": "https://evil.example"}}, 502, "cannot be trusted"),
    "another client": ({"token": {"aud": "other"}}, 502, "cannot be trusted"),
    "several clients": ({"token": {"aud": [CLIENT, "other"]}}, 502, "cannot be trusted"),
    "another sign-in": ({"token": {"nonce": "of another"}}, 502, "cannot be trusted"),
    "no nonce": ({"token": {"nonce": None}}, 502, "cannot be trusted"),
    "no subject": ({"token": {"sub": None}}, 502, "cannot be trusted"),
    "a long subject": ({"token": {"sub": "x" * 256}}, 502, "cannot be trusted"),
    "expired": ({"token": {"exp": NOW - 3600, "iat": NOW - 7200}}, 502, "clocks"),
    "of the future": ({"token": {"iat": NOW + 7200, "exp": NOW + 9000}}, 502, "clocks"),
    "userinfo of another": ({"userinfo": {"sub": "eve"}}, 502, "cannot be trusted"),
    "no keys": ({"broken": {"keys"}}, 503, "does not answer"),
    "no tokens": ({"broken": {"token"}}, 502, "cannot be trusted"),
    "denied": ({"person": None}, 403, "does not allow"),
}


def test_what_does_not_hold_signs_nobody_in_says_why_and_is_logged(
    provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    problems = []
    right = dict(vars(provider))
    for name, (changes, status, words) in TROUBLES.items():
        client = Client()
        wrong(provider, **{**right, **changes})
        cache.clear()
        caplog.clear()
        answer = sign_in(client)
        logged = [r for r in caplog.records if r.name.startswith("apps.accounts")]
        page = answer.content.decode()
        if (answer.status_code, words in page, bool(logged)) != (status, True, True):
            problems.append((name, answer.status_code, [r.message for r in caplog.records]))
        assert logged[0].levelno == logging.WARNING
        assert signed_in(client) is None
    assert problems == []
    assert not User.objects.exists()


def test_an_unsigned_token_and_one_signed_with_the_secret_are_refused(
    client: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for algorithm, key in (("none", None), ("HS256", provider.settings()["secret"] * 3)):
        monkeypatch.setattr(
            Provider,
            "sign",
            lambda self, claims, a=algorithm, k=key: jwt.encode(
                {"iss": self.issuer, "aud": CLIENT, "iat": NOW, "exp": NOW + 999, **claims},
                k, a, {"kid": "1"},
            ),
        )  # fmt: skip
        assert sign_in(client).status_code == 502
    assert not User.objects.exists()


def test_keys_are_fetched_once_and_again_for_a_new_one_but_not_for_every_bad_token(
    provider: Provider,
) -> None:
    for _ in range(3):
        sign_in(Client())
    assert provider.asked["keys"] == 1
    bad = jwt.encode({"sub": "ada-1"}, "x" * 32, "HS256", {"kid": "1"})
    other = jwt.encode({"sub": "ada-1"}, new_key(), "RS256", {"kid": "no such"})
    for number in range(20):
        token = (bad, other, "no.token.this", "")[number % 4]
        assert Client().post("/accounts/oidc/logout/", {"logout_token": token}).status_code == 400
    assert provider.asked["keys"] == 2
    # The provider signs with a new key, under a new name and under the old one.
    for kid in ("2", "1"):
        cache.delete(f"oidc:keys:{provider.issuer}/keys:again")  # ten seconds later
        provider.key = new_key()
        provider.published = {kid: provider.key}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Provider, "sign", partialmethod(Provider.sign, kid=kid))
            assert sign_in(Client()).status_code == 302
    assert provider.asked["keys"] == 4
    cache.clear()


def test_a_person_without_a_password_confirms_at_the_provider(
    client: Client, provider: Provider
) -> None:
    sign_in(client)
    ada = User.objects.get()
    for url, sent in (("/keys/", {"name": "script", "scope": "read"}), ("/accounts/2fa/app/", {})):
        session = client.session
        session["account_authentication_methods"] = session["account_authentication_methods"][:1]
        session.save()
        asked = client.post(url, sent) if sent else client.get(url)
        confirm = asked["Location"]
        assert confirm.startswith("/accounts/oidc/confirm/")
        there = client.get(confirm).context["address"]
        assert "prompt=login" in there
        for changes, status in (
            ({"token": {"auth_time": NOW - 4000}}, 502), ({"person": {"sub": "another"}}, 403)
        ):  # fmt: skip
            with pytest.MonkeyPatch.context() as patch:
                for name, value in changes.items():
                    patch.setattr(provider, name, value)
                back = back_from(client.get(confirm).context["address"])
                assert client.get(back).status_code == status
            assert signed_in(client) == ada
            assert not ada.api_keys.exists() or not sent
        done = client.get(back_from(there), follow=True)
        assert done.status_code == 200
        assert done.redirect_chain[-1][0] == url
    assert ada.api_keys.count() == 1
    assert User.objects.count() == 1


def test_a_person_with_a_second_step_here_needs_it_after_the_provider(
    client: Client, provider: Provider
) -> None:
    sign_in(client)
    TOTP.activate(User.objects.get(), SECRET)
    again = Client()
    assert sign_in(again)["Location"] == "/accounts/2fa/"
    assert signed_in(again) is None
    assert b"Two-step verification" in again.get("/accounts/2fa/").content
    assert again.post("/accounts/2fa/", {"code": code()}).status_code == 302
    assert signed_in(again) == User.objects.get()
    assert again.session.get_expiry_age() <= 12 * 3600


def back_from(there: str) -> str:
    """Where the provider sends a browser that went ``there``."""
    answer = requests.get(there, allow_redirects=False, timeout=5)
    return answer.headers["Location"].removeprefix("http://testserver")


def test_an_answer_counts_once_and_in_the_browser_that_asked(
    client: Client, provider: Provider
) -> None:
    address = answer_of(client)
    assert Client().get(address).status_code == 400
    assert client.get(address).status_code == 302
    client.logout()
    assert client.get(address).status_code == 400
    assert client.get("/accounts/oidc/callback/?state=x&code=y").status_code == 400


def test_a_provider_that_is_down_is_said_at_once(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_OIDC = {**provider.settings(), "issuer": "http://127.0.0.1:9"}
    assert client.get("/accounts/oidc/login/").status_code == 503


def test_discovery_of_another_issuer_is_refused(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    other = provider.issuer.replace("127.0.0.1", "localhost")
    settings.LABELHUB_OIDC = {**provider.settings(), "issuer": other}
    assert client.get("/accounts/oidc/login/").status_code == 502


def test_nothing_is_there_where_no_provider_is_configured(client: Client) -> None:
    for page in ("oidc/login/", "oidc/callback/", "saml/login/", "saml/sso/acs/"):
        assert client.get(f"/accounts/{page}").status_code == 404
    assert "oidc" not in client.get("/accounts/login/").content.decode()


@pytest.mark.parametrize(
    ("person", "domains", "account"),
    [
        ({"email_verified": True}, [], {}),
        ({"email_verified": True}, ["example.com"], {}),
        ({"email_verified": True}, ["example.org"], {"is_superuser": True}),
        ({"email_verified": True}, ["example.org"], {"is_active": False}),
        ({"email": "ADA@example.org"}, [], {}),
    ],
)
def test_an_account_with_the_address_is_not_taken_over(
    client: Client,
    provider: Provider,
    settings: LazySettings,
    person: dict[str, Any],
    domains: list[str],
    account: dict[str, Any],
) -> None:
    settings.LABELHUB_SSO_DOMAINS = domains
    UserFactory.create(**{"email": ADA["email"], "username": "old", **account})
    provider.person = {**ADA, **person}
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "connect it under" in answer.content.decode()
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("person", "domains"),
    [
        ({"email_verified": False}, ["example.org"]),
        ({"email_verified": None}, []),
        ({"email": "adа@example.org"}, ["example.org"]),
        ({"email": "not an address"}, ["example.org"]),
    ],
)
def test_an_address_that_may_be_made_up_is_not_theirs(
    client: Client,
    provider: Provider,
    settings: LazySettings,
    person: dict[str, Any],
    domains: list[str],
) -> None:
    settings.LABELHUB_SSO_DOMAINS = domains
    old = UserFactory.create(username="ada", email=ADA["email"])
    provider.person = {**ADA, **person}
    sign_in(client)
    new = signed_in(client)
    assert new is not None
    assert (new.pk == old.pk, new.username, new.email) == (False, "ada2", "")


def test_an_account_of_the_companys_own_domain_becomes_theirs_with_no_other_way_in(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_DOMAINS = ["example.org"]
    old = UserFactory.create(username="old", email="Ada@example.org")
    attacker, key = browser_of(old), ApiKeyFactory.create(user=old)
    provider.person = {**ADA, "email_verified": None}
    sign_in(client)
    assert signed_in(client) == old
    assert attacker.get("/keys/").status_code == 302
    assert not Client().login(username="old", password=PASSWORD)
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_two_people_of_the_provider_with_one_address_stay_two(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_DOMAINS = ["example.org"]
    sign_in(client)
    provider.person = {**ADA, "sub": "new colleague with the old address"}
    assert sign_in(Client()).status_code == 403
    assert User.objects.count() == 1


def test_names_that_look_alike_do_not_meet(client: Client, provider: Provider) -> None:
    UserFactory.create(username="ADA")
    names = ["ada", "аda", "ａｄａ", "../ada", "ada@evil.example", "李", ""]
    for number, name in enumerate(names):
        provider.person = {"sub": str(number), "preferred_username": name}
        sign_in(Client())
    found = list(User.objects.order_by("pk").values_list("username", flat=True))
    assert found == ["ADA", "ada2", "da", "ada3", "ada4", "ada5", "person", "person2"]


def test_names_show_no_characters_that_turn_text_around(provider: Provider) -> None:
    provider.person = {**ADA, "given_name": "A\u202eda\x00", "family_name": "L" * 300}
    sign_in(Client())
    ada = User.objects.get()
    assert (ada.first_name, ada.last_name) == ("Ada", "L" * 150)


def test_a_person_connects_their_account_after_confirming_that_it_is_they(
    client: Client, provider: Provider
) -> None:
    root = UserFactory.create(username="root", is_superuser=True, is_staff=True)
    client.post("/accounts/login/", {"login": "root", "password": PASSWORD})
    confirm = client.post("/accounts/oidc/connect/")
    assert confirm["Location"].startswith("/accounts/reauthenticate/")
    page = client.post(confirm["Location"], {"password": PASSWORD})
    address = page.context["address"]
    assert address.startswith(provider.issuer)
    back = requests.get(address, allow_redirects=False, timeout=5).headers["Location"]
    client.get(back)
    assert SocialAccount.objects.get().user == root
    other = Client()
    sign_in(other)
    assert signed_in(other) == root
    assert Client().login(username="root", password=PASSWORD)


def test_people_of_the_provider_have_no_way_in_beside_it(
    client: Client, provider: Provider
) -> None:
    sign_in(client)
    ada = User.objects.get()
    refused = client.post("/accounts/password/set/", {"password1": PASSWORD, "password2": PASSWORD})
    assert b"without a password" in refused.content
    ada.refresh_from_db()
    assert not ada.has_usable_password()


def test_with_only_the_provider_operators_alone_use_their_password(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_ONLY = True
    UserFactory.create(username="old")
    root = UserFactory.create(username="root", is_superuser=True)
    page = client.get("/accounts/login/").content.decode()
    assert 'name="password"' not in page
    assert "Sign in with Example Ltd" in page
    client.post("/accounts/login/", {"login": "old", "password": PASSWORD})
    assert signed_in(client) is None
    assert 'name="password"' in client.get("/accounts/login/?password").content.decode()
    client.post("/accounts/login/?password", {"login": "root", "password": PASSWORD})
    assert signed_in(client) == root


def test_an_inactive_person_is_refused(client: Client, provider: Provider) -> None:
    sign_in(client)
    User.objects.update(is_active=False)
    assert sign_in(Client())["Location"] == "/accounts/inactive/"
    assert client.get("/keys/").status_code == 302


def test_the_provider_ends_the_sessions_of_a_leaver_itself(
    client: Client, provider: Provider
) -> None:
    sign_in(client)

    def log_out(token: str) -> int:
        return Client().post("/accounts/oidc/logout/", {"logout_token": token}).status_code

    other_kind = jwt.encode({"sub": "ada-1"}, ec.generate_private_key(ec.SECP256R1()), "ES256")
    for refused in (
        "",
        "no.real.token",
        other_kind,
        provider.logout_token("ada-1", events={}),
        provider.logout_token("ada-1", nonce="n"),
        provider.logout_token("ada-1", aud="other"),
        provider.logout_token("ada-1", iat=NOW - 4000, exp=NOW + 300),
    ):
        assert log_out(refused) == 400
    assert client.get("/keys/").status_code == 200
    token = provider.logout_token("ada-1")
    assert log_out(token) == 200
    assert client.get("/keys/").status_code == 302
    assert log_out(token) == 400
    assert log_out(provider.logout_token("nobody")) == 200


def test_a_logout_that_failed_is_done_when_the_provider_sends_it_again(
    client: Client, provider: Provider
) -> None:
    sign_in(client)
    token = provider.logout_token("ada-1")
    browser = Client(raise_request_exception=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.accounts.oidc.end_sessions", Mock(side_effect=DatabaseError))
        assert browser.post("/accounts/oidc/logout/", {"logout_token": token}).status_code == 500
    assert browser.post("/accounts/oidc/logout/", {"logout_token": token}).status_code == 200
    assert client.get("/keys/").status_code == 302


def test_what_a_sign_in_makes_and_changes_is_recorded(
    client: Client, provider: Provider, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_OPERATORS = ["admins"]
    settings.LABELHUB_SSO_ALLOWED_GROUPS = ["admins", "staff"]
    provider.person = {**ADA, "groups": ["admins"]}
    sign_in(client)
    provider.person = {**ADA, "given_name": "Augusta", "groups": ["staff"]}
    sign_in(Client())
    provider.person = {**ADA, "given_name": "Augusta"}
    key = ApiKeyFactory.create(user=User.objects.get())
    sign_in(Client())
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert client.get("/keys/").status_code == 302
    rows = AuditEntry.objects.order_by("pk").values_list("action", "changes")
    issuer = {"provider": [None, provider.issuer]}
    assert [row for row in rows if row[0] != "session.started"] == [
        ("user.created", issuer),
        ("identity.connected", {"kind": [None, provider.issuer]}),
        ("user.changed", {name: [None, None] for name in ("first_name", "last_name", "email")}),
        ("user.changed", {"operator_by_group": [False, True]}),
        ("user.changed", {"first_name": [None, None]}),
        ("user.changed", {"operator_by_group": [True, False]}),
        ("key.revoked", {"owner": [key.user_id, key.user_id]}),
        ("sessions.ended", {"sessions": [None, None]}),
        ("session.refused", {}),
    ]
