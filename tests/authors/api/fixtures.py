"""Who calls the REST addresses of a ``site``: fixtures for every folder that tests some of them."""

from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.authors.selectors.sites import clear_known_sites
from tests.authors.api.calling import person, server
from tests.factories.authors import server_key, site_with_features
from tests.factories.projects import member


@pytest.fixture(autouse=True)
def fresh_sites() -> Iterator[None]:
    """What a process remembers of sites must not outlive their test."""
    clear_known_sites()
    yield
    clear_known_sites()


@pytest.fixture
def manager(site: Site) -> APIClient:
    """A manager of the site's project, by API key."""
    return person(member(site.project, Role.MANAGER))


@pytest.fixture
def viewer(site: Site) -> APIClient:
    """Somebody who may look at the project."""
    return person(member(site.project, Role.VIEWER))


@pytest.fixture
def stranger(db: None) -> APIClient:
    """A manager of another project."""
    return person(member(site_with_features().project, Role.MANAGER))


@pytest.fixture
def host(site: Site) -> APIClient:
    """The site's own server."""
    return server(server_key(site))
