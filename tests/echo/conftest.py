"""A site with Echo on and two of its authors; what needs another one makes it itself."""

import pytest

from apps.authors.models import Author, Site
from apps.echo.models import Echo
from tests.factories.authors import author_of
from tests.factories.echo import echo_of


@pytest.fixture
def echo() -> Echo:
    """Of a site as it comes."""
    return echo_of()


@pytest.fixture
def author(echo: Echo) -> Author:
    """Somebody who agreed to be asked."""
    return author_of(echo.site)


@pytest.fixture
def other(echo: Echo) -> Author:
    """Somebody else who did."""
    return author_of(echo.site)


@pytest.fixture
def site(echo: Echo) -> Site:
    return echo.site
