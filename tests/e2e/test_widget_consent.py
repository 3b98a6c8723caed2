"""Who is let in, and what of a visitor is sent and kept: nothing before they agree, nothing after
a no, and nothing where the server does not know the page or the person."""

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jwt
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    Shop,
    Site,
    agree,
    asked,
    card,
    evaluated,
    events,
    heard,
    kept,
    options,
    sockets_of,
    soon,
    tell,
    warnings_of,
)

Sign = Callable[[float], str]
ELSEWHERE: dict[str, Any] = {"allowed_origins": ["https://elsewhere.example"]}
OFF: dict[str, Any] = {"enabled": False}


@pytest.mark.parametrize("mode", ["companion", "chat"])
def test_before_consent_only_script_and_settings_are_fetched(
    mode: str, open_as: OpenAs, shop: Shop
) -> None:
    site, page = shop.site(), open_as(None)
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    opened = sockets_of(page)
    url = shop.page(site, mode)
    page.goto(url)
    if mode == "chat":
        page.locator("labelhub-widget .launcher").click()
    else:
        expect(page.locator("labelhub-widget")).to_be_attached()
        tell(page)
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    address = re.escape(site.server.address)
    own = re.compile(rf"{address}/widget/(v1\.js|config/|[0-9a-f]{{12}}/)")
    strange = [
        request for request in asked_for if request.split("#")[0] != url and not own.match(request)
    ]
    assert [request for request in strange if not request.endswith("/favicon.ico")] == []
    assert opened == []
    assert evaluated(page, "localStorage.length + sessionStorage.length") == 0
    assert page.context.cookies() == []


def test_a_no_is_final(open_as: OpenAs, shop: Shop) -> None:
    """Said by the card, or by the browser's global privacy control."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    tell(page)
    page.get_by_role("button", name="No thanks").click()
    expect(card(page)).to_have_count(0)
    (remembered,) = page.evaluate("() => Object.entries(localStorage)")
    assert site.key in remembered[0]
    assert len(remembered[1]) < 4
    opened = sockets_of(page)
    with page.expect_response(re.compile("/widget/config/")):
        page.reload()
    tell(page)
    page.wait_for_timeout(500)
    expect(page.locator("labelhub-widget")).to_have_count(0)

    private = open_as(None)
    private.add_init_script(
        "Object.defineProperty(navigator, 'globalPrivacyControl', {get: () => true})"
    )
    opened_in_private = sockets_of(private)
    private.goto(shop.page(site))
    tell(private)
    private.wait_for_timeout(500)
    expect(private.locator("labelhub-widget")).to_have_count(0)
    assert evaluated(private, "localStorage.length") == 0
    assert opened + opened_in_private == []
    assert site.messages() == []


def test_a_closed_site_warns_once_and_opens_no_socket(open_as: OpenAs, shop: Shop) -> None:
    unknown = Site("pk_nobody", shop.server)
    for site in (shop.site(**ELSEWHERE), shop.site(**OFF), unknown):
        page = open_as(None)
        warnings, opened = warnings_of(page), sockets_of(page)
        page.goto(shop.page(site))
        soon(page, partial(bool, warnings), "the warning")
        tell(page)
        page.wait_for_timeout(300)
        assert (len(warnings), opened) == (1, []), site
        expect(card(page)).to_have_count(0)


def test_a_site_that_closes_while_somebody_is_there(open_as: OpenAs, shop: Shop) -> None:
    """The next message is refused with 4403: one warning, nobody calls again, and what was to be
    erased is erased when the site is open again."""
    site, page = shop.site(), open_as(None)
    warnings, opened = warnings_of(page), sockets_of(page)
    events(page, "closed")
    page.goto(shop.page(site))
    asked(page)
    site.server.api("PATCH", f"sites/{site.key}/", OFF)
    tell(page, "Is anybody there, with a tent for two?")
    soon(page, lambda: heard(page), "the end")
    assert heard(page) == [["closed", {"code": 4403}]]
    page.wait_for_timeout(1500)
    tell(page, "Hello again, I still want that tent.")
    page.wait_for_timeout(300)
    assert (len(opened), len(warnings)) == (1, 1)
    assert page.evaluate("LabelHub.erase()")["ok"] is False
    site.server.api("PATCH", f"sites/{site.key}/", {"enabled": True})
    page.reload()
    soon(page, lambda: kept(page, site) == {}, "the erasure that waited")


def test_changed_words_are_agreed_to_anew(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    opened = sockets_of(page)
    page.goto(shop.page(site))
    asked(page)
    words = "May we read this, and may we ask you about it more often than before?"
    site.server.api("PUT", f"sites/{site.key}/consent/", {"texts": {"en": words}})
    page.reload()
    expect(page.locator("labelhub-widget")).to_be_attached()
    tell(page, "Do you have the warm lamp in green?", id="after")
    expect(card(page).get_by_text(words)).to_be_visible()
    assert len(opened) == 1
    assert "after" not in site.messages()
    agree(page)
    soon(page, lambda: "after" in site.messages(), "the message")


@pytest.fixture
def verified(shop: Shop) -> tuple[Site, Sign]:
    """A site that asks only signed-in people, and how its host signs for so many seconds."""
    site = shop.site(identity="verified")
    key = site.server.api("POST", f"sites/{site.key}/keys/", {"purpose": "sign"})

    def sign(seconds: float) -> str:
        now = int(time.time())
        claims = {"sub": "customer-1", "aud": site.key, "iat": now - 300, "exp": now + seconds}
        return jwt.encode(claims, key["secret"], algorithm="HS256", headers={"kid": key["kid"]})

    return site, sign


def identify(page: Page, token: str | None) -> None:
    """What the host's page does when it knows who somebody is."""
    page.evaluate("(token) => LabelHub.identify(token)", token)


def test_without_a_signature_that_holds_nothing_is_taken(
    open_as: OpenAs, shop: Shop, verified: tuple[Site, Sign]
) -> None:
    site, sign = verified
    page = open_as(None)
    events(page, "ident_required", "ident_expired")
    page.goto(shop.page(site))
    tell(page, id="first")
    agree(page)
    soon(page, lambda: heard(page), "the event")
    assert {name for name, _ in heard(page)} == {"ident_required"}
    assert site.messages() == []
    token = sign(3)
    identify(page, token)
    tell(page, "Now you know me; I look for a warm lamp.", id="second")
    soon(page, lambda: "second" in site.messages(), "the message")
    expect(options(page).first).to_be_visible()
    assert [author["subject"] for author in site.rows("author")] == ["customer-1"]
    assert token[:20] not in str(kept(page, site)), "no signature is kept"
    page.wait_for_timeout(3200)
    tell(page, "Does the warm lamp come in green as well?", id="late")
    soon(page, lambda: "ident_expired" in {name for name, _ in heard(page)}, "the second event")
    assert {name for name, _ in heard(page)} == {"ident_required", "ident_expired"}
    assert "late" not in site.messages()
    identify(page, sign(600))
    soon(page, lambda: "late" in site.messages(), "the message")
