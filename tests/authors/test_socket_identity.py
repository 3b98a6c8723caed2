"""Authors whom their host has signed in: the signature counts with every message."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from websockets.exceptions import ConnectionClosed

from apps.authors.models import Author, Event, Message, Site, SiteKey
from apps.authors.selectors.sites import clear_known_sites
from tests.authors.live import Page, hello_for, pass_time, token, write
from tests.factories.authors import (
    site_with_features,
)

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_signature_names_the_author(address: str, site: Site) -> None:
    with Page.open(address, site, ident=token(site)) as page:
        assert page.heard[0]["d"]["verified"]
        assert page.heard[0]["d"]["tok"] == ""
    assert Author.objects.get().subject == "customer-1"


LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"aud": "pk_other"}, "ident_invalid"),
        ({"iat": LONG_AGO, "exp": LONG_AGO + timedelta(minutes=30)}, "ident_expired"),
    ],
)
def test_a_wrong_signature_lets_nobody_in(
    address: str, site: Site, claims: dict[str, Any], code: str
) -> None:
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, ident=token(site, **claims)))
        assert page.closed_with() == 4401
        assert page.heard[-1]["d"]["code"] == code
    assert not Author.objects.exists()
    assert Event.objects.get().kind == Event.Kind.IDENT


def test_another_sites_signature_is_none_here(address: str, site: Site) -> None:
    other = site_with_features()
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, ident=token(other, aud=site.public_key)))
        assert page.closed_with() == 4401


def test_a_site_for_known_people_hears_nobody_else(address: str) -> None:
    site = site_with_features(identity=Site.Identity.VERIFIED)
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site))
        assert page.closed_with() == 4401
        assert page.heard[-1]["d"]["code"] == "ident_required"
    assert not Author.objects.exists()


def test_a_signature_is_looked_at_with_every_message_and_answer(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Page.open(address, site, ident=token(site, seconds=600)) as page:
        assert page.outcome(write(page))["t"] == "ack"
        pass_time(monkeypatch, 601)
        refused = page.outcome(write(page, "And a tent for two people, please."))
        assert (refused["d"]["code"], refused["d"]["retry"]) == ("ident_expired", True)
        assert page.outcome(page.say("ident", ident=token(site)))["t"] == "ack"
        assert page.outcome(write(page, "And a rope."))["t"] == "ack"


def test_somebody_elses_signature_ends_the_connection(address: str, site: Site) -> None:
    with Page.open(address, site, ident=token(site)) as page:
        page.say("ident", ident=token(site, "customer-2"))
        with suppress(ConnectionClosed):  # sent before it is known that nobody listens any more
            write(page)
        assert page.closed_with() == 4401
        assert page.heard[-1]["d"]["code"] == "not_yours"
    assert not Message.objects.exists()


def test_who_signs_in_while_connected_comes_back_as_they_are(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        page.say("ident", ident=token(site))
        assert page.closed_with() == 4401


def test_a_revoked_key_ends_what_it_has_signed(address: str, site: Site) -> None:
    with Page.open(address, site, ident=token(site)) as page:
        SiteKey.objects.update(revoked_at=timezone.now())
        clear_known_sites()
        for _ in range(2):
            assert page.outcome(write(page))["d"]["code"] == "ident_invalid"
    assert not Message.objects.exists()


def test_an_expired_signature_shows_nobodys_data_and_still_deletes_it(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Page.open(address, site, ident=token(site, seconds=600)) as page:
        pass_time(monkeypatch, 601)
        for kind, more in (("export", {}), ("dismiss", {"qid": str(uuid4()), "how": "skip"})):
            assert page.outcome(page.say(kind, **more))["d"]["code"] == "ident_expired"
        assert page.outcome(page.say("erase"))["t"] == "ack"
    assert not Author.objects.exists()


def test_who_only_chats_is_signed_in_too_where_the_site_wants_it(address: str) -> None:
    site = site_with_features(identity=Site.Identity.VERIFIED)
    chat_only = {"mode": "chat", "consent": {"scope": ["chat"]}}
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, **chat_only))
        assert page.closed_with() == 4401
    with Page.open(address, site, ident=token(site), **chat_only) as page:
        assert page.outcome(write(page))["t"] == "ack"
        assert page.outcome(page.say("ident", ident=token(site)))["t"] == "ack"
    assert not Author.objects.exists()
