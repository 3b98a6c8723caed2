"""A site, an author of it, and a server that answers real websockets at its ``address``."""

from collections.abc import Iterator

import pytest

from apps.authors.models import Author, Site
from tests.authors.live import served
from tests.factories.authors import author_of, site_with_features


@pytest.fixture
def site() -> Site:
    return site_with_features()


@pytest.fixture
def author(site: Site) -> Author:
    return author_of(site)


@pytest.fixture
def address() -> Iterator[str]:
    """``127.0.0.1:PORT``."""
    with served() as found:
        yield found
