"""A site with Echo on whose host asks for consent itself, its manager and its server."""

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.echo.models import Echo
from tests.authors.api.calling import person, server
from tests.authors.api.fixtures import fresh_sites, host, manager, stranger, viewer
from tests.factories.authors import server_key, site_with_features
from tests.factories.echo import echo_of
from tests.factories.projects import member

__all__ = ["fresh_sites", "host", "manager", "stranger", "viewer"]


@pytest.fixture
def site(db: None) -> Site:
    """Its authors are signed in by the host."""
    return site_with_features(consent_by="host", identity="verified")


@pytest.fixture
def echo(site: Site) -> Echo:
    """Its Echo, which is on."""
    return echo_of(site)


@pytest.fixture
def reviewer(site: Site) -> APIClient:
    """Somebody who labels in the project."""
    return person(member(site.project, Role.REVIEWER))


@pytest.fixture
def other_host(db: None) -> APIClient:
    """The server of another site whose Echo is on."""
    other = site_with_features(consent_by="host", identity="verified")
    echo_of(other)
    return server(server_key(other))
