"""Whom the server does not let in, and what the page is told: one warning and quiet, or an event
after which a fresh signature goes on."""

import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    Shop,
    Site,
    agree,
    asked,
    card,
    events,
    heard,
    kept,
    options,
    rows,
    sockets_of,
    soon,
    tell,
    warnings_of,
)

Sign = Callable[[float], str]
ELSEWHERE: dict[str, Any] = {"allowed_origins": ["https://elsewhere.example"]}
OFF: dict[str, Any] = {"enabled": False}


@pytest.mark.parametrize("refusal", [ELSEWHERE, OFF], ids=["origin", "disabled"])
def test_a_closed_site_warns_once_and_opens_no_socket(
    refusal: dict[str, Any], open_as: OpenAs, shop: Shop
) -> None:
    page = open_as(None)
    told, opened = warnings_of(page), sockets_of(page)
    page.goto(shop.page(shop.site(**refusal)))
    soon(page, lambda: told, "the warning")
    tell(page)
    page.wait_for_timeout(500)
    assert len(told) == 1
    assert opened == []
    expect(card(page)).to_have_count(0)


def test_an_unknown_key_warns_once(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    told = warnings_of(page)
    page.goto(shop.page(Site("pk_nobody", shop.server.address)))
    soon(page, lambda: told, "the warning")
    assert len(told) == 1


@pytest.mark.parametrize("refusal", [ELSEWHERE, OFF], ids=["origin", "disabled"])
def test_a_site_that_closes_while_somebody_is_there(
    refusal: dict[str, Any], open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """The next message is refused with 4403: one warning, and nobody calls again."""
    site, page = shop.site(), open_as(None)
    told, opened = warnings_of(page), sockets_of(page)
    events(page, "closed")
    page.goto(shop.page(site))
    asked(page)
    server.api("PATCH", f"sites/{site.key}/", refusal)
    tell(page, "Is anybody there, with a tent for two?")
    soon(page, lambda: heard(page), "the end")
    assert heard(page) == [["closed", {"code": 4403}]]
    page.wait_for_timeout(1500)
    tell(page, "Hello again, I still want that tent.")
    page.wait_for_timeout(500)
    assert len(opened) == 1
    assert len(told) == 1


def test_who_is_let_in_no_more_is_told_that_nothing_was_erased(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "closed")
    page.goto(shop.page(site))
    asked(page)
    server.api("PATCH", f"sites/{site.key}/", OFF)
    tell(page, "Is anybody there, with a tent for two?")
    soon(page, lambda: heard(page), "the end")
    for _ in range(2):
        assert page.evaluate("LabelHub.erase()")["ok"] is False
    server.api("PATCH", f"sites/{site.key}/", {"enabled": True})
    page.reload()
    soon(page, lambda: kept(page, site) == {}, "the erasure that waited")


def test_changed_words_are_agreed_to_anew(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    opened = sockets_of(page)
    page.goto(shop.page(site))
    asked(page)
    words = "May we read this, and may we ask you about it more often than before?"
    server.api("PUT", f"sites/{site.key}/consent/", {"texts": {"en": words}})
    page.reload()
    expect(page.locator("labelhub-widget")).to_be_attached()
    tell(page, "Do you have the warm lamp in green?", id="after")
    expect(card(page).get_by_text(words)).to_be_visible()
    assert len(opened) == 1
    assert "after" not in messages(server, site)
    agree(page)
    soon(page, lambda: "after" in messages(server, site), "the message")


@pytest.fixture
def verified(shop: Shop, server: Server) -> tuple[Site, Sign]:
    """A site that asks only signed-in people, and how its host signs for so many seconds."""
    site = shop.site(identity="verified")
    key = server.api("POST", f"sites/{site.key}/keys/", {"purpose": "sign"})

    def sign(seconds: float) -> str:
        now = int(time.time())
        claims = {"sub": "customer-1", "aud": site.key, "iat": now - 300, "exp": now + seconds}
        return jwt.encode(claims, key["secret"], algorithm="HS256", headers={"kid": key["kid"]})

    return site, sign


def identify(page: Page, token: str | None) -> None:
    """What the host's page does when it knows who somebody is."""
    page.evaluate("(token) => LabelHub.identify(token)", token)


def messages(server: Server, site: Site) -> list[str]:
    """Ids of the messages that the server has."""
    sql = (
        "SELECT ref FROM authors_message message JOIN authors_author author "
        "ON author.id = author_id JOIN authors_site site "
        "ON site.id = author.site_id WHERE public_key = ?"
    )
    return sorted(row["ref"] for row in rows(server, sql, site.key))


def test_who_is_signed_in_is_asked_as_themselves(
    open_as: OpenAs, shop: Shop, server: Server, verified: tuple[Site, Sign]
) -> None:
    site, sign = verified
    page = open_as(None)
    page.goto(shop.page(site))
    identify(page, sign(600))
    asked(page)
    sql = (
        "SELECT subject FROM authors_author author JOIN authors_site site "
        "ON site.id = author.site_id WHERE public_key = ?"
    )
    assert rows(server, sql, site.key) == [{"subject": "customer-1"}]
    assert sign(600)[:20] not in str(kept(page, site)), "no signature is kept"


def test_a_signature_that_runs_out_is_told_and_a_fresh_one_goes_on(
    open_as: OpenAs, shop: Shop, server: Server, verified: tuple[Site, Sign]
) -> None:
    site, sign = verified
    page = open_as(None)
    events(page, "ident_expired", "closed")
    page.goto(shop.page(site))
    identify(page, sign(3))
    asked(page)
    page.wait_for_timeout(3200)
    tell(page, "Does the warm lamp come in green as well?", id="late")
    soon(page, lambda: heard(page), "the event")
    assert {name for name, _ in heard(page)} == {"ident_expired"}
    assert "late" not in messages(server, site)
    identify(page, sign(600))
    soon(page, lambda: "late" in messages(server, site), "the message")
    tell(page, "And in blue, for a friend of mine?", id="later")
    soon(page, lambda: "later" in messages(server, site), "the next")


def test_a_signature_that_had_run_out_before_the_hello(
    open_as: OpenAs, shop: Shop, server: Server, verified: tuple[Site, Sign]
) -> None:
    site, sign = verified
    page = open_as(None)
    events(page, "ident_expired")
    page.goto(shop.page(site))
    identify(page, sign(-10))
    tell(page, id="first")
    agree(page)
    soon(page, lambda: heard(page), "the event")
    assert messages(server, site) == []
    identify(page, sign(600))
    tell(page, "I am back, and I still look for a warm lamp.", id="second")
    soon(page, lambda: "second" in messages(server, site), "the message")
    expect(options(page).first).to_be_visible()


def test_a_page_that_signs_anew_as_soon_as_it_is_told_loses_nothing(
    open_as: OpenAs, shop: Shop, server: Server, verified: tuple[Site, Sign]
) -> None:
    """The event comes before the end of the connection, which must not take away what is written
    in between."""
    site, sign = verified
    page = open_as(None)
    page.add_init_script(
        f"addEventListener('labelhub:ident_expired', () => {{ LabelHub.identify('{sign(600)}');"
        " LabelHub.message('I still look for a warm lamp.', { id: 'second' }); });"
    )
    page.goto(shop.page(site))
    identify(page, sign(-10))
    tell(page, id="first")
    agree(page)
    soon(page, lambda: messages(server, site) == ["first", "second"], "both messages")


def test_without_a_signature_the_page_is_told_that_one_is_needed(
    open_as: OpenAs, shop: Shop, server: Server, verified: tuple[Site, Sign]
) -> None:
    site, sign = verified
    page = open_as(None)
    events(page, "ident_required")
    page.goto(shop.page(site))
    tell(page, id="first")
    agree(page)
    soon(page, lambda: heard(page), "the event")
    assert messages(server, site) == []
    identify(page, sign(600))
    tell(page, "Now you know me; I look for a warm lamp.", id="second")
    soon(page, lambda: "second" in messages(server, site), "the message")
