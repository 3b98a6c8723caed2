"""A site, and a browser of somebody who manages its project or may only look at it."""

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.authors.models import Site
from tests.factories.authors import site_with_features
from tests.factories.projects import member_browser


@pytest.fixture
def site() -> Site:
    return site_with_features(name="Corner shop")


@pytest.fixture
def manager(site: Site) -> Client:
    return member_browser(site.project)


@pytest.fixture
def viewer(site: Site) -> Client:
    return member_browser(site.project, Role.VIEWER)
