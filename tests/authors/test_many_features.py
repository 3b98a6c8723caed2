"""Hundreds of features: written and read at a cost that does not grow with each of them."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.authors.models import Feature, Site
from apps.authors.services.site_config import config_of
from apps.authors.services.sites import MOST_FEATURES, set_features
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import parse_feature
from tests.authors.pages.reading import page
from tests.factories.authors import site_with_features

pytestmark = pytest.mark.django_db


def many(count: int) -> list[Definition]:
    return [
        parse_feature(
            {"key": f"f{index}", "name": f"Name {index}", "definition": f"It is {index}."}
        )
        for index in range(count)
    ]


def queries(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as found:
        assert client.get(address).status_code == 200
    return len(found)


def test_a_thousand_are_taken_and_one_more_is_not(site: Site) -> None:
    set_features(site=site, features=many(MOST_FEATURES))
    assert site.features.asked().count() == MOST_FEATURES
    with pytest.raises(InvalidInput, match="between 1 and 1,000"):
        set_features(site=site, features=many(MOST_FEATURES + 1))


def test_moving_one_writes_no_other(site: Site, django_assert_max_num_queries: Any) -> None:
    features = many(300)
    set_features(site=site, features=features)
    features[0], features[1] = features[1], features[0]
    with django_assert_max_num_queries(9):
        rows = set_features(site=site, features=features)
    assert [row.key for row in rows] == [row.key for row in site.features.asked()]
    assert [row.key for row in rows][:3] == ["f1", "f0", "f2"]


@pytest.mark.thorough
@pytest.mark.parametrize("rest", ["questions/", "", "questions/f7/edit/", "console/"])
def test_pages_ask_the_database_no_more_for_300_than_for_10(
    rest: str, admin_client: Client
) -> None:
    few, lots = site_with_features(), site_with_features()
    Feature.objects.filter(site__in=[few, lots]).delete()
    set_features(site=few, features=many(10))
    set_features(site=lots, features=many(300))
    assert queries(admin_client, page(lots, rest)) == queries(admin_client, page(few, rest))


def test_definitions_that_stayed_are_not_read_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = config_of(site).definitions
    Feature.objects.filter(site=site, key="urgency").update(
        definition=many(1)[0].to_json() | {"key": "urgency"}
    )
    monkeypatch.setattr("apps.authors.services.site_config.FRESH", -1.0)
    again = config_of(site).definitions
    changed = [new.key for old, new in zip(first, again, strict=True) if new is not old]
    assert changed == ["urgency"]


def test_one_of_them_is_moved_first_and_the_page_stays(admin_client: Client, site: Site) -> None:
    set_features(site=site, features=many(60))
    sent = {"do": "first", "page": "2", "q": "name"}
    response = admin_client.post(page(site, "questions/f30/change/"), sent)
    assert response.headers["Location"] == page(site, "questions/?page=2&q=name")
    assert site.features.asked()[0].key == "f30"
