"""A site with Echo on and two of its authors; what needs another one makes it itself."""

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.authors.models import Author, Site
from apps.echo.models import Echo
from tests.factories.authors import author_of
from tests.factories.echo import echo_of
from tests.factories.projects import member_browser


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


@pytest.fixture
def manager(site: Site) -> Client:
    return member_browser(site.project)


@pytest.fixture
def viewer(site: Site) -> Client:
    return member_browser(site.project, Role.VIEWER)
