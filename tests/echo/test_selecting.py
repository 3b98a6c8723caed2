"""A selection by the feature models alone, where nobody asks about the message."""

from typing import Any

import pytest

from apps.authors.models import Author
from apps.authors.services.privacy import erase_author
from apps.echo.models import Decision, Selection
from apps.echo.services import offer_decisions
from apps.echo.services.catalogue import import_catalogue
from apps.echo.services.configuration import update_echo
from apps.echo.services.offer_ranking import rank_offers
from apps.echo.services.selection import select_unasked
from apps.echo.views.offers import SAMPLE
from tests.factories.authors import message_of
from tests.factories.echo import TEXT

pytestmark = pytest.mark.django_db


def test_it_is_made_once_and_asks_nothing(author: Author) -> None:
    message = message_of(author, TEXT)
    made = select_unasked(message)
    assert made is not None
    assert select_unasked(message) == made
    assert made.selected
    assert not any(choice["asked"] for choice in made.asked.values())


def test_of_an_author_who_was_erased_meanwhile_nothing_is_selected(
    author: Author, caplog: pytest.LogCaptureFixture
) -> None:
    message = message_of(author, TEXT)
    erase_author(author)
    assert select_unasked(message) is None
    assert not Selection.objects.exists()
    assert caplog.records == []


def test_an_author_may_be_erased_while_an_offer_is_decided(
    author: Author, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = update_echo(author.site.echo, offers_on=True, offer_every_messages=1)
    import_catalogue(echo, SAMPLE.read_bytes())
    message = message_of(author, TEXT)
    message.status, message.dropped_at, message.reason = "nothing", "relevance", "none_relevant"
    message.save()
    assert offer_decisions.messages_due(message.received_at) == [message.pk]

    def erased_first(*args: Any) -> Any:
        erase_author(author)
        return rank_offers(*args)

    monkeypatch.setattr(offer_decisions, "rank_offers", erased_first)
    assert offer_decisions.decide_about(message.pk) is None
    assert not Decision.objects.exists()
    assert not Selection.objects.exists()
    assert caplog.records == []
