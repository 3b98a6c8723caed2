"""A site, and a browser of somebody who manages its project or may only look at it."""

import pytest

from apps.authors.models import Site
from tests.factories.authors import site_with_features


@pytest.fixture
def site() -> Site:
    return site_with_features(name="Corner shop")
