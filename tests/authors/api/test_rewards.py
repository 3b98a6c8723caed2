"""REST: sites/{public_key}/rewards/ and payouts/."""

import csv
import io
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.authors.models import Author, Payout, Reward, Site
from apps.authors.services.privacy import erase_author
from tests.authors.api.answering import answered
from tests.authors.api.calling import person, refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import site_with_features
from tests.factories.projects import member

pytestmark = pytest.mark.django_db
REWARDS = "/api/v1/sites/{public_key}/rewards/"
PAYOUTS = "/api/v1/sites/{public_key}/payouts/"


def rows_of(response: object) -> list[dict[str, str]]:
    content = getattr(response, "content", b"")
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_rewards_name_the_author_as_the_host_does(site: Site, manager: APIClient) -> None:
    answered(site, "anna")
    response = manager.get(url(site, "rewards/"))
    assert_matches_schema(response, "GET", REWARDS)
    (row,) = response.json()["results"]
    assert (row["author"], row["cents"], row["currency"]) == ("anna", 5, "USD")
    assert (row["payout"], row["void_at"]) == (None, None)


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


def test_a_payout_can_be_fetched_again(site: Site, manager: APIClient) -> None:
    answered(site, "anna", due=True)
    made = manager.post(url(site, "payouts/")).json()
    listed = manager.get(url(site, "payouts/"))
    assert_matches_schema(listed, "GET", PAYOUTS)
    assert [row["id"] for row in listed.json()["results"]] == [made["id"]]
    again = manager.get(url(site, f"payouts/{made['id']}/"))
    assert_matches_schema(again, "GET", f"{PAYOUTS}{{payout_id}}/")
    assert again.json() == made


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


@pytest.mark.parametrize("subject", ["=1+1", "+49", "-x", "@SUM(A1)", "'=1+1"])
def test_no_spreadsheet_runs_an_authors_name(site: Site, manager: APIClient, subject: str) -> None:
    answered(site, subject, due=True)
    (row,) = rows_of(manager.post(url(site, "payouts/?format=csv")))
    assert row["author"] == f"'{subject}"


def test_what_is_voided_is_not_paid(site: Site, manager: APIClient) -> None:
    answered(site, "anna", due=True)
    Reward.objects.update(void_at=timezone.now())
    refused(manager.post(url(site, "payouts/")), 409, "conflict")
    assert not Payout.objects.exists()


def test_of_who_is_erased_the_sum_stays(site: Site, manager: APIClient) -> None:
    answer = answered(site, "anna", due=True)
    made = manager.post(url(site, "payouts/")).json()
    erase_author(answer.author)
    again = manager.get(url(site, f"payouts/{made['id']}/")).json()
    assert (again["cents"], again["rewards"]) == (5, [])


def test_payouts_of_another_site_are_out_of_reach(site: Site, manager: APIClient) -> None:
    other = Payout.objects.create(site=site_with_features(), cents=1, rewards=1)
    refused(manager.get(url(site, f"payouts/{other.pk}/")), 404, "not_found")


def test_the_currency_changes_once_nothing_is_owed(site: Site, manager: APIClient) -> None:
    answered(site, "anna", due=True)
    refused(manager.patch(url(site), {"currency": "EUR"}), 409, "conflict")
    manager.post(url(site, "payouts/"))
    assert manager.patch(url(site), {"currency": "EUR"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_payouts_at_once_pay_once() -> None:
    site = site_with_features(consent_by="host", identity="verified", reward_cents=5)
    for name in ("anna", "bert"):
        answered(site, name)
    Reward.objects.update(due_at=timezone.now() - timedelta(days=1))
    Author.objects.update(proven=True)
    manager, barrier = member(site.project, Role.MANAGER), Barrier(3)
    clients = [person(manager) for _ in range(3)]
    codes: list[int] = []

    def pay(client: APIClient) -> None:
        barrier.wait()
        codes.append(client.post(url(site, "payouts/")).status_code)
        connection.close()

    threads = [Thread(target=pay, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [201, 409, 409]
    assert Payout.objects.get().cents == 10
