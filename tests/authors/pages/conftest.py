"""A site, and a browser of somebody who manages its project or may only look at it."""

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.authors.models import Site
from tests.factories.authors import site_with_features
from tests.factories.projects import member


@pytest.fixture
def site() -> Site:
    return site_with_features(name="Corner shop")


@pytest.fixture
def manager(site: Site) -> Client:
    return browser(site, Role.MANAGER)


@pytest.fixture
def viewer(site: Site) -> Client:
    return browser(site, Role.VIEWER)


def browser(site: Site, role: Role) -> Client:
    """Somebody of that role, signed in."""
    client = Client()
    client.force_login(member(site.project, role))
    return client
