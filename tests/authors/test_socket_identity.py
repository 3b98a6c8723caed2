"""Authors whom their host has signed in: the signature counts with every message."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.authors.models import Author, Event, Site
from tests.authors.live import Page, hello_for, token, write
from tests.factories.authors import (
    site_with_features,
)

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site() -> Site:
    return site_with_features()


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
        ({"sub": ""}, "ident_invalid"),
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


def test_a_signature_is_looked_at_with_every_message_and_answer(address: str, site: Site) -> None:
    short = token(site, seconds=2)
    with Page.open(address, site, ident=short) as page:
        assert page.outcome(write(page))["t"] == "ack"
        time.sleep(2.1)
        refused = page.outcome(write(page, "And a tent for two people, please."))
        assert (refused["d"]["code"], refused["d"]["retry"]) == ("ident_expired", True)
        assert page.outcome(page.say("ident", ident=token(site)))["t"] == "ack"
        assert page.outcome(write(page, "And a rope."))["t"] == "ack"


def test_a_fresh_signature_of_somebody_else_is_refused(address: str, site: Site) -> None:
    with Page.open(address, site, ident=token(site)) as page:
        refused = page.outcome(page.say("ident", ident=token(site, "customer-2")))
        assert refused["d"]["code"] == "not_yours"
