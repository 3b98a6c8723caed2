"""Into the server in a real browser: by the company's sign-in, with an app, with a passkey."""

import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import STEP_PATIENCE
from tests.e2e.server import Server, keep_passwords, served
from tests.e2e.steps import sign_in
from tests.fakes.oidc_provider import CLIENT, SECRET, Provider, oidc_provider

QUEUE = "company-queue"
TEXTS = ["The guide was kind.", "The bus never came."]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with oidc_provider() as running:
        yield running


@pytest.fixture(scope="module")
def company(
    provider: Provider, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server of a company with its own sign-in."""
    settings = {
        "LABELHUB_OIDC_ISSUER": provider.issuer,
        "LABELHUB_OIDC_CLIENT_ID": CLIENT,
        "LABELHUB_OIDC_CLIENT_SECRET": SECRET,
        "LABELHUB_OIDC_NAME": "Example Ltd",
    }
    folder = tmp_path_factory.mktemp("company") / "server"
    with served(folder, demo=False, settings=settings) as running:
        for name in ("stranger", "reviewer"):
            made = running.manage("create_user", name)
            running.passwords[name] = made["password"]
        keep_passwords(folder)
        running.key = running.manage("create_api_key", "manager", "--scope", "write")["key"]
        schema = {"task": "single", "labels": ["praise", "complaint"]}
        running.api("POST", "projects/", {"slug": QUEUE, "name": QUEUE, "schema": schema})
        rows = [{"id": str(number), "text": text} for number, text in enumerate(TEXTS)]
        running.api("POST", f"projects/{QUEUE}/import/", rows)
        yield running


def new_page(browser: Browser, server: Server, host: str = "127.0.0.1") -> Page:
    address = server.address.replace("127.0.0.1", host)
    context = browser.new_context(base_url=address)
    context.set_default_timeout(STEP_PATIENCE)
    return context.new_page()


def confirm(page: Page, password: str) -> None:
    """Enter the password again, where the page asks for it."""
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Confirm").click()


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


@pytest.mark.timeout(300)
def test_a_new_employee_labels_by_their_group_and_a_leaver_is_out(
    browser: Browser, company: Server, provider: Provider
) -> None:
    manager = new_page(browser, company)
    sign_in(manager, "manager", company.passwords["manager"])
    manager.goto(f"/p/{QUEUE}/people/")
    manager.get_by_label("Group", exact=True).fill("labelers")
    manager.get_by_role("button", name="Save the group").click()
    expect(manager.get_by_text("Everybody in “labelers” is now Reviewer.")).to_be_visible()

    provider.person = {
        "sub": "eva-1", "preferred_username": "eva", "name": "Eva", "groups": ["labelers"],
    }  # fmt: skip
    eva = new_page(browser, company)
    eva.goto(f"/p/{QUEUE}/review/")
    eva.get_by_role("link", name="Sign in with Example Ltd").click()
    expect(eva).to_have_url(f"{company.address}/p/{QUEUE}/review/")
    expect(eva.get_by_text(TEXTS[0], exact=True)).to_be_visible()

    tell(company, provider.logout_token("eva-1"))
    eva.reload()
    provider.person = None
    eva.get_by_role("link", name="Sign in with Example Ltd").click()
    expect(eva.get_by_text("your company does not allow it to you")).to_be_visible()

    provider.person = {"sub": "eva-1", "groups": []}
    eva.get_by_role("link", name="Try again").click()
    eva.get_by_role("link", name="Sign in with Example Ltd").click()
    answer = eva.goto(f"/p/{QUEUE}/review/")
    assert answer is not None
    assert answer.status == 404


def tell(server: Server, token: str) -> None:
    """The provider says that somebody left."""
    body = urllib.parse.urlencode({"logout_token": token}).encode()
    with urllib.request.urlopen(f"{server.address}/accounts/oidc/logout/", body) as answer:  # noqa: S310 - our own
        assert answer.status == 200


@pytest.mark.timeout(300)
def test_a_person_sets_up_an_app_and_signs_in_with_its_code(
    browser: Browser, company: Server
) -> None:
    password = company.passwords["stranger"]
    page = new_page(browser, company)
    sign_in(page, "stranger", password)
    page.goto("/accounts/security/")
    page.get_by_role("link", name="Set up an app").click()
    confirm(page, password)
    secret = page.locator("#totp-secret").inner_text().strip()
    assert page.get_by_role("img", name="The picture to scan").evaluate("e => e.naturalWidth") > 0
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.get_by_role("button", name="Switch on").click()
    codes = page.locator("#recovery-codes").inner_text().split()
    assert len(codes) == 10
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("heading", name="Two-step verification")).to_be_visible()

    again = new_page(browser, company)
    again.goto("/accounts/login/")
    again.get_by_label("User name or email").fill("stranger")
    again.get_by_label("Password").fill(password)
    again.get_by_role("button", name="Sign in", exact=True).click()
    again.get_by_label("Code of your app").fill(codes[0])
    again.get_by_role("button", name="Sign in").click()
    again.wait_for_url(lambda url: "/accounts/" not in url)
    again.goto("/accounts/sessions/")
    expect(again.get_by_role("row")).to_have_count(3)


@pytest.mark.timeout(300)
def test_a_passkey_signs_in_alone(browser: Browser, company: Server) -> None:
    """Passkeys belong to a name: there are none for an IP address."""
    password = company.passwords["reviewer"]
    page = new_page(browser, company, "localhost")
    authenticator: Any = page.context.new_cdp_session(page)
    authenticator.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    authenticator.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    sign_in(page, "reviewer", password)
    page.goto("/accounts/security/")
    page.get_by_role("link", name="Add a passkey").click()
    confirm(page, password)
    page.get_by_label("Name, to recognise it later").fill("My laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("My laptop").first).to_be_visible()

    page.context.clear_cookies()
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(lambda url: "/accounts/" not in url)
    page.goto("/accounts/security/")
    page.get_by_role("link", name="Remove My laptop").click()
    page.get_by_role("link", name="With a passkey instead").click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("button", name="Yes, remove").click()
    expect(page.get_by_text("My laptop")).to_have_count(0)
