"""Sign-in by SAML 2.0, with answers that a provider signed."""

import base64
import logging
import re
import zlib
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import ApiKey, User
from tests.accounts.test_two_step import SECRET, code
from tests.fakes.saml_idp import ENTITY, Idp, new_identity

pytestmark = pytest.mark.django_db
GROUPS = "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups"
EMAIL = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress"
ACS = "/accounts/saml/sso/acs/"
HOST = "labels.example.org"


def browser() -> Client:
    """With a host name that SAML takes for one."""
    return Client(headers={"host": HOST})


@pytest.fixture
def client() -> Client:
    return browser()


@pytest.fixture
def idp(settings: LazySettings) -> Idp:
    settings.ALLOWED_HOSTS = [HOST]
    settings.LABELHUB_SAML = Idp().settings()
    settings.LABELHUB_SSO_DOMAINS = ["example.org"]
    return Idp(attributes={EMAIL: ["Ada@example.org"], "firstName": ["Ada"], GROUPS: ["a", "b"]})


def start(client: Client) -> str:
    return client.get("/accounts/saml/login/?next=/keys/")["Location"]


def finish(client: Client, answer: str) -> tuple[int, str]:
    """Status and target, or text, of what the person sees."""
    finishing = client.post(ACS, {"SAMLResponse": answer})
    seen = client.get(finishing["Location"])
    return seen.status_code, seen.headers.get("Location") or seen.content.decode()


def test_a_new_employee_gets_an_account_with_their_groups(client: Client, idp: Idp) -> None:
    assert finish(client, idp.answer(start(client))) == (302, "/keys/")
    ada = User.objects.get()
    assert (ada.username, ada.email, ada.first_name) == ("ada", "ada@example.org", "Ada")
    assert {row.group.name for row in ada.group_members.all()} == {"a", "b"}
    identity = SocialAccount.objects.get()
    assert (identity.provider, identity.uid, identity.extra_data) == (ENTITY, "ada-1", {})
    other = browser()
    finish(other, idp.answer(start(other)))
    assert User.objects.count() == 1


def test_what_does_not_hold_signs_nobody_in_and_is_logged(
    idp: Idp, caplog: pytest.LogCaptureFixture
) -> None:
    def changed(answer: str, old: str, new: str) -> str:
        text = base64.b64decode(answer).decode()
        assert old in text
        return base64.b64encode(text.replace(old, new).encode()).decode()

    key, certificate = new_identity()
    transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    cases = {
        "another key": lambda to: Idp(key=key, certificate=certificate).answer(to),
        "another person": lambda to: changed(idp.answer(to), "ada-1", "root"),
        "no signature": lambda to: base64.b64encode(
            re.sub(r"<ds:Signature.*?</ds:Signature>", "", base64.b64decode(
                idp.answer(to)).decode(), flags=re.DOTALL).encode()
        ).decode(),
        "expired": lambda to: idp.answer(to, minutes="-10"),
        "for another server": lambda _to: idp.build(
            in_response_to="_x", recipient=f"http://labels.example.org{ACS}", audience="https://other"
        ),
        "not asked for": lambda _to: idp.build(
            in_response_to="_x", recipient=f"http://labels.example.org{ACS}",
            audience="http://labels.example.org/accounts/saml/sso/metadata/",
        ),
        "another name each time": lambda to: Idp(format=transient).answer(to),
        "no XML": lambda _to: "AAAA",
        "nothing": lambda _to: "",
    }  # fmt: skip
    problems = []
    for name, answer in cases.items():
        client = browser()
        caplog.clear()
        status, page = finish(client, answer(start(client)))
        warned = [r for r in caplog.records if r.name.startswith("apps.accounts")]
        if status not in (400, 502) or not warned or "_auth_user_id" in client.session:
            problems.append((name, status, page[:300], [r.message for r in caplog.records]))
        assert all(r.levelno == logging.WARNING for r in warned)
    assert problems == []
    assert not User.objects.exists()


def test_an_answer_counts_once_and_in_the_browser_that_asked(client: Client, idp: Idp) -> None:
    answer = idp.answer(start(client))
    assert finish(browser(), answer)[0] == 400
    assert finish(client, answer)[0] == 302
    client.logout()
    assert finish(client, answer)[0] == 400


def test_a_person_confirms_at_the_provider_which_is_to_ask_again(client: Client, idp: Idp) -> None:
    finish(client, idp.answer(start(client)))
    asked = client.post("/keys/", {"name": "script", "scope": "read"})["Location"]
    there = client.get(asked).context["address"]
    request = parse_qs(urlsplit(there).query)["SAMLRequest"][0]
    assert b'ForceAuthn="true"' in zlib.decompress(base64.b64decode(request), -15)
    assert not ApiKey.objects.exists()
    status, back = finish(client, idp.answer(there))
    assert (status, back) == (302, asked)
    assert client.get(back)["Location"] == "/keys/"
    assert ApiKey.objects.get().name == "script"


def test_a_person_with_a_second_step_here_needs_it_after_the_provider(
    client: Client, idp: Idp
) -> None:
    finish(client, idp.answer(start(client)))
    TOTP.activate(User.objects.get(), SECRET)
    again = browser()
    assert finish(again, idp.answer(start(again))) == (302, "/accounts/2fa/")
    assert again.post("/accounts/2fa/", {"code": code()})["Location"] == "/keys/"


def test_the_server_describes_itself_to_the_provider(client: Client, idp: Idp) -> None:
    page = client.get("/accounts/saml/sso/metadata/")
    assert page.status_code == 200
    assert f"http://labels.example.org{ACS}" in page.content.decode()
    assert client.get("/accounts/saml/other/metadata/").status_code == 404


def test_metadata_that_cannot_be_had_is_said(
    client: Client, idp: Idp, settings: LazySettings
) -> None:
    settings.LABELHUB_SAML = {**idp.settings(), "metadata_url": "http://127.0.0.1:9/metadata"}
    assert client.get("/accounts/saml/login/").status_code == 503
