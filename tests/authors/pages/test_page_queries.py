"""A site's pages take no more queries however much there is on them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.authors.models import Site
from tests.authors.pages.reading import page
from tests.common.test_rest_contract import add_to_site
from tests.factories.authors import site_with_features
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db
PAGES = [
    "", "authors/", "live/rows/", "questions/", "rewards/", "settings/", "install/", "echo/",
    "echo/features/urgency/", "offers/", "offers/catalogue/",
    "offers/experiments/",
]  # fmt: skip


def queries(client: Client, site: Site) -> dict[str, int]:
    """How many each page takes."""
    counts = {}
    for rest in PAGES:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page(site, rest)).status_code == 200
        counts[rest] = len(captured)
    return counts


def test_a_longer_list_takes_no_more_queries() -> None:
    site = site_with_features(consent_by="host", identity="verified", reward_cents=5)
    client = member_browser(site.project)
    for _ in range(2):
        add_to_site(site)
    queries(client, site)  # fills caches
    few = queries(client, site)
    for _ in range(4):
        add_to_site(site)
    many = queries(client, site)
    assert {rest: (few[rest], many[rest]) for rest in PAGES if many[rest] > few[rest]} == {}
