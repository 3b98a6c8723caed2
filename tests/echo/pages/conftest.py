"""A site with Echo and a catalogue, and a browser of somebody who manages it or may look at it."""

import pytest

from apps.authors.models import Author, Site
from apps.echo.models import Echo
from apps.echo.services.catalogue import import_catalogue
from apps.echo.services.configuration import update_echo
from apps.echo.views.offers import SAMPLE
from tests.factories.authors import author_of, site_with_features
from tests.factories.echo import echo_of


@pytest.fixture
def site() -> Site:
    return site_with_features(name="Corner shop")


@pytest.fixture
def echo(site: Site) -> Echo:
    """On, with the sample's catalogue, and offers on."""
    echo = echo_of(site)
    import_catalogue(echo, SAMPLE.read_bytes())
    return update_echo(echo, offers_on=True, offer_every_messages=1, offer_min_seconds=0)


@pytest.fixture
def author(site: Site) -> Author:
    return author_of(site)
