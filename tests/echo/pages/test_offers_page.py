"""/sites/<id>/offers/: what is offered, what becomes of it, and the kill switch."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from apps.authors.models import Author
from apps.echo.models import Echo
from apps.echo.services.configuration import update_echo
from tests.authors.pages.reading import page, words
from tests.cases import all_cases
from tests.factories.authors import message_of
from tests.factories.offers import decision_of, event_of

pytestmark = pytest.mark.django_db

OFFER = {"title": "Storm lamp", "text": "It shines for forty hours.", "lang": "en"}


def test_managers_read_the_message_members_do_not(
    manager: Client, viewer: Client, echo: Echo, author: Author
) -> None:
    message = message_of(author, "My old lamp is dead, which one gives warm light?")
    decision_of(
        echo, author, timezone.now(), message=message, offer=OFFER,
        reasons=[{"key": "urgency", "value": "soon", "part": 0.2}],
    )  # fmt: skip
    for client, reads in ((manager, True), (viewer, False)):
        shown = words(client.get(page(echo.site, "offers/")))
        assert "Time pressure" in shown
        assert ("It shines for forty hours." in shown) is reads
        assert ("Time pressure: Fairly soon" in shown) is reads
        assert ("My old lamp is dead" in shown) is reads
        assert (author.pseudonym in shown) is reads


def test_what_is_offered_is_shown_as_text(manager: Client, echo: Echo, author: Author) -> None:
    hostile = {"title": "<script>alert(1)</script>", "text": "<img src=x onerror=alert(1)>"}
    decision_of(echo, author, timezone.now(), offer=hostile)
    source = manager.get(page(echo.site, "offers/")).content.decode()
    assert "<script>alert" not in source
    assert "<img src=x" not in source


def test_the_moving_part_is_sent_only_when_it_has_moved(
    manager: Client, echo: Echo, author: Author
) -> None:
    made = decision_of(echo, author, timezone.now(), offer=OFFER)
    rows = page(echo.site, "offers/")
    source = manager.get(rows).content.decode()
    found = re.search(r'data-state="(\w+)"', source)
    assert found is not None
    assert manager.get(rows, {"seen": found[1]}).status_code == 204
    event_of(made, "clicked", timezone.now())
    assert manager.get(rows, {"seen": found[1]}).status_code == 200


def test_the_kill_switch_acts_at_once(manager: Client, echo: Echo) -> None:
    switch = page(echo.site, "offers/switch/")
    manager.post(switch, {"do": "off"})
    assert not Echo.objects.get().offers_on
    assert "Offers are off" in words(manager.get(page(echo.site, "offers/")))
    manager.post(switch, {"do": "on"})
    assert Echo.objects.get().offers_on


def test_offers_are_not_switched_on_where_echo_is_off(manager: Client, echo: Echo) -> None:
    update_echo(echo, on=False, offers_on=False)
    assert manager.post(page(echo.site, "offers/switch/"), {"do": "on"}).status_code == 409
    assert manager.post(page(echo.site, "offers/switch/"), {"do": "off"}).status_code == 302
    assert manager.post(page(echo.site, "offers/switch/"), {"do": "maybe"}).status_code == 422
    assert not Echo.objects.get().offers_on


SETTINGS = {
    "offer_every_messages": "6",
    "offer_min_seconds": "300",
    "offer_least_match": "0.2",
    "offer_explore": "10",
    "reward_minutes": "20",
}


def test_the_settings_are_saved(manager: Client, echo: Echo) -> None:
    address = page(echo.site, "offers/settings/")
    assert 'name="offer_explore" value="5"' in manager.get(address).content.decode()
    assert manager.post(address, SETTINGS).status_code == 302
    saved = Echo.objects.get()
    assert (saved.offer_every_messages, saved.offer_explore, saved.offers_on) == (6, 0.1, True)


@all_cases(
    ("field", "value"),
    [
        pytest.param("offer_explore", "60", id="more-than-half-drawn"),
        pytest.param("offer_least_match", "2", id="match-above-1"),
        pytest.param("offer_every_messages", "0", id="no-messages"),
        pytest.param("reward_minutes", "never", id="no-number"),
    ],
)
def test_a_setting_out_of_range_is_told_beside_its_field(
    manager: Client, echo: Echo, field: str, value: str
) -> None:
    response = manager.post(page(echo.site, "offers/settings/"), SETTINGS | {field: value})
    assert response.status_code == 422
    assert f'id="id_{field}_error"' in response.content.decode()
    assert Echo.objects.get().offer_every_messages == 1
