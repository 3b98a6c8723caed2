"""What the widget gets of an offer is what docs/widget-protocol.md says."""

import re
from pathlib import Path

import pytest
from django.utils import timezone

from apps.authors.services.site_config import next_offer
from apps.echo.services.catalogue import forget_index, import_catalogue
from apps.echo.services.configuration import update_echo
from apps.echo.services.offer_decisions import decide_about, messages_due
from tests.echo.test_offering import CATALOGUE, TEXT, offline
from tests.factories.authors import author_of
from tests.factories.echo import echo_of, processed

pytestmark = pytest.mark.django_db

GUIDE = Path(__file__).parents[2] / "docs" / "widget-protocol.md"


def test_an_offer_has_the_fields_that_the_guide_lists() -> None:
    echo = echo_of()
    import_catalogue(echo, CATALOGUE)
    forget_index(echo.pk)
    update_echo(echo, offers_on=True, offer_every_messages=1, offer_min_seconds=0)
    author = author_of(echo.site)
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    decide_about(message.pk, offline)
    sent = next_offer(author)
    assert sent is not None
    (told,) = re.findall(r"^\| `offer` \| `(.*)` \|$", GUIDE.read_text(), re.MULTILINE)
    told = told.replace("{ask yes no}", "")
    assert set(told.split()) == set(sent)
    assert set(sent["helpful"]) == {"ask", "yes", "no"}
