"""A site whose host asks for consent itself, its manager and its server."""

import pytest

from apps.authors.models import Site
from tests.authors.api.fixtures import fresh_sites, host, manager, stranger, viewer
from tests.factories.authors import site_with_features

__all__ = ["fresh_sites", "host", "manager", "stranger", "viewer"]


@pytest.fixture
def site(db: None) -> Site:
    """Its authors are signed in by the host, and it rewards answers."""
    return site_with_features(consent_by="host", identity="verified", reward_cents=5)
