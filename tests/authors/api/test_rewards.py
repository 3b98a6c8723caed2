"""REST: sites/{public_key}/rewards/ and payouts/."""

import csv
import io

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Payout, Site
from apps.authors.services.privacy import erase_author
from tests.authors.api.answering import answered
from tests.authors.api.calling import refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import site_with_features

pytestmark = pytest.mark.django_db
PAYOUTS = "/api/v1/sites/{public_key}/payouts/"


def rows_of(response: object) -> list[dict[str, str]]:
    content = getattr(response, "content", b"")
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_what_is_due_can_be_told_from_what_is_held(site: Site, manager: APIClient) -> None:
    answered(site, "anna")
    answered(site, "bert", due=True)

    def authors(query: str) -> list[str]:
        rows = manager.get(url(site, f"rewards/{query}")).json()["results"]
        return [row["author"] for row in rows]

    assert authors("") == ["anna", "bert"]
    assert authors("?due=1") == ["bert"]
    assert authors("?due=0") == ["anna"]


def test_each_reward_is_paid_once(site: Site, manager: APIClient) -> None:
    answered(site, "anna", due=True)
    answered(site, "bert")
    response = manager.post(url(site, "payouts/"))
    assert response.status_code == 201
    assert_matches_schema(response, "POST", PAYOUTS)
    body = response.json()
    assert (body["cents"], body["count"]) == (5, 1)
    line = {"author": "anna", "cents": 5, "currency": "USD", "answers": 1}
    assert line.items() <= body["rewards"][0].items()
    refused(manager.post(url(site, "payouts/")), 409, "conflict")
    assert Payout.objects.count() == 1


@pytest.mark.parametrize("query", ["?format=csv", ""])
def test_a_payout_as_a_file(site: Site, manager: APIClient, query: str) -> None:
    answered(site, "anna", due=True)
    headers = {} if query else {"Accept": "text/csv"}
    response = manager.post(url(site, f"payouts/{query}"), headers=headers)
    assert response.status_code == 201
    assert_matches_schema(response, "POST", PAYOUTS)
    assert "attachment" in response["Content-Disposition"]
    (row,) = rows_of(response)
    assert (row["author"], row["amount"], row["currency"]) == ("anna", "0.05", "USD")


def test_payouts_of_another_site_are_out_of_reach(site: Site, manager: APIClient) -> None:
    other = Payout.objects.create(site=site_with_features(), cents=1, rewards=1)
    refused(manager.get(url(site, f"payouts/{other.pk}/")), 404, "not_found")


def test_the_currency_changes_once_nothing_is_owed(site: Site, manager: APIClient) -> None:
    answered(site, "anna", due=True)
    refused(manager.patch(url(site), {"currency": "EUR"}), 409, "conflict")
    manager.post(url(site, "payouts/"))
    assert manager.patch(url(site), {"currency": "EUR"}).status_code == 200


def test_of_who_is_erased_the_sum_stays(site: Site, manager: APIClient) -> None:
    answer = answered(site, "anna", due=True)
    made = manager.post(url(site, "payouts/")).json()
    erase_author(answer.author)
    again = manager.get(url(site, f"payouts/{made['id']}/")).json()
    assert (again["cents"], again["rewards"]) == (5, [])
