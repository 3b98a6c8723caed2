"""What authors are told about recommendations before they agree to anything."""

import json

import pytest
from django.utils import timezone

from apps.authors.errors import ConsentOutdated
from apps.authors.selectors.sites import (
    clear_known_sites,
    consent_hash,
    consent_words,
    current_consent,
    known_site,
    widget_config,
)
from apps.authors.services.authors import Arrival, check_consent
from apps.authors.services.privacy import author_data
from apps.authors.services.sites import set_consent_text
from apps.authors.translations import CONSENT_TEXTS, RECOMMENDS
from apps.echo.models import Echo
from apps.echo.services.configuration import update_echo
from tests.factories.authors import author_of
from tests.factories.echo import echo_of
from tests.factories.offers import decision_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    return update_echo(echo_of(), offers_on=True)


def test_recommendations_are_named_in_every_language_of_the_texts() -> None:
    assert set(RECOMMENDS) == set(CONSENT_TEXTS)


def test_authors_are_asked_anew_once_something_may_be_offered() -> None:
    echo = echo_of()
    before = current_consent(echo.site)
    update_echo(echo, offers_on=True)
    now = current_consent(echo.site)
    assert (now.version, now.texts) == (before.version + 1, before.texts)
    words = consent_words(now, "en", "en")
    assert words == f"{before.texts['en']} {RECOMMENDS['en']}"
    assert "rests on what you write" in words


def test_switching_offers_off_and_on_again_asks_nobody_anew(echo: Echo) -> None:
    version = current_consent(echo.site).version
    for on in (False, True, True):
        update_echo(echo, offers_on=on)
    assert current_consent(echo.site).version == version


def test_a_text_that_is_written_while_nothing_is_offered_does_not_name_it(
    echo: Echo,
) -> None:
    texts = {"en": "May we ask you something?"}
    named = set_consent_text(site=echo.site, texts=texts, actor=None)
    assert named.recommends
    update_echo(echo, offers_on=False)
    assert not set_consent_text(site=echo.site, texts=texts, actor=None).recommends


def test_only_the_whole_text_can_be_agreed_to(echo: Echo) -> None:
    clear_known_sites()
    known = known_site(echo.site.public_key)
    shown = widget_config(known, "en")["consent"]
    assert shown["text"].endswith(RECOMMENDS["en"])
    version = known.consent.version
    check_consent(known, Arrival(consent_version=version, consent_hash=shown["hash"]))
    half = consent_hash(known.consent.texts["en"])
    with pytest.raises(ConsentOutdated):
        check_consent(known, Arrival(consent_version=version, consent_hash=half))


def test_my_data_has_the_offers_and_what_the_author_did_with_them(echo: Echo) -> None:
    author = author_of(echo.site, "customer")
    decision_of(echo, author, timezone.now(), events=["clicked"], offer={"title": "A tent"})
    (offer,) = author_data(author)["offers"]
    assert (offer["item"], offer["offer"]) == ("tent", {"title": "A tent"})
    assert [event["what"] for event in offer["events"]] == ["shown", "clicked"]
    json.dumps(offer)
