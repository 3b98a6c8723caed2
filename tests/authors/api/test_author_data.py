"""REST: sites/{public_key}/authors/{subject}/ and …/optout/."""

from urllib.parse import quote

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Author, Site
from tests.authors.api.answering import answered
from tests.authors.api.calling import message, refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import TEXT, author_of, site_with_features

pytestmark = pytest.mark.django_db
ONE = "/api/v1/sites/{public_key}/authors/{subject}/"


def test_an_author_is_shown_all_that_is_kept(site: Site, host: APIClient) -> None:
    answered(site, "anna")
    response = host.get(url(site, "authors/anna/"))
    assert_matches_schema(response, "GET", ONE)
    body = response.json()
    assert body["known_to_the_host_as"] == "anna"
    assert body["conversations"][0]["messages"][0]["text"] == TEXT
    assert body["questions"][0]["answers"][0]["outcome"] == "answer"
    assert body["rewards"][0]["cents"] == 5


def test_whoever_was_deleted_is_somebody_new(site: Site, host: APIClient) -> None:
    first = author_of(site, "anna")
    host.delete(url(site, "authors/anna/"))
    # What was agreed to before the deletion counts no more.
    refused(host.post(url(site, "messages/"), message(author="anna")), 409, "erased")
    assert not Author.objects.exists()
    now = timezone.now().isoformat()
    host.post(url(site, "messages/"), message(author="anna", consented_at=now))
    assert Author.objects.get(subject="anna").uid != first.uid


@pytest.mark.thorough
def test_nobody_and_authors_of_other_sites_are_unknown(site: Site, host: APIClient) -> None:
    author_of(site_with_features(), "anna")
    anonymous = author_of(site)
    for name in ("anna", "nobody", anonymous.uid, anonymous.pk):
        refused(host.get(url(site, f"authors/{name}/")), 404, "not_found")
        refused(host.delete(url(site, f"authors/{name}/")), 404, "not_found")
    assert Author.objects.count() == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["tenant/42", "anna@example.org", "ann a", "Änne", "?a=1&b", "a%2Fb", "x/optouts"]
)
def test_a_hosts_ids_may_be_odd(site: Site, host: APIClient, name: str) -> None:
    host.post(url(site, "messages/"), message(author=name))
    address = url(site, f"authors/{quote(name, safe='/')}/")
    assert host.get(address).json()["known_to_the_host_as"] == name
    assert host.post(f"{address}optout/").status_code == 200
    assert host.delete(address).status_code == 200


def test_an_opt_out_is_remembered_of_who_has_written_nothing(site: Site, host: APIClient) -> None:
    assert host.post(url(site, "authors/anna/optout/")).status_code == 200
    refused(host.post(url(site, "messages/"), message(author="anna")), 409, "opted_out")
