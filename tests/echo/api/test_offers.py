"""REST: sites/{public_key}/echo/offers/, for sites that show offers themselves."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Author
from apps.authors.services.authors import opt_out
from apps.authors.services.sites import update_site
from apps.echo.models import Decision, Echo, OfferEvent
from apps.echo.services import offer_decisions
from apps.echo.services.catalogue import forget_index, import_catalogue
from apps.echo.services.configuration import update_echo
from apps.echo.services.learning import keep_up_with
from apps.echo.services.offer_decisions import decide_about, messages_due
from tests.authors.api.calling import refused, server, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.echo.test_offering import CATALOGUE, TEXT, offline
from tests.factories.authors import author_of, server_key
from tests.factories.echo import processed

pytestmark = pytest.mark.django_db
OFFERS = "/api/v1/sites/{public_key}/echo/offers/"
ANNA = {"author": "anna"}


@pytest.fixture
def author(echo: Echo) -> Author:
    import_catalogue(echo, CATALOGUE)
    forget_index(echo.pk)
    update_echo(
        echo, offers_on=True, offer_every_messages=1, offer_min_seconds=0, offer_explore=0.0
    )
    return author_of(echo.site, "anna")


@pytest.fixture
def offer(author: Author) -> Decision:
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    decision = decide_about(message.pk, offline)
    assert decision is not None
    return decision


@pytest.fixture
def events(echo: Echo, offer: Decision) -> str:
    return url(echo.site, f"echo/offers/{offer.uid}/events/")


def told(what: Any = "click", ref: Any = "c-1", author: Any = "anna") -> dict[str, Any]:
    return {"author": author, "id": ref, "what": what}


def test_the_offer_that_waits_is_fetched_once(echo: Echo, host: APIClient, offer: Decision) -> None:
    response = host.get(url(echo.site, "echo/offers/"), ANNA)
    assert_matches_schema(response, "GET", OFFERS)
    body = response.json()["offer"]
    assert (body["oid"], body["label"]) == (str(offer.uid), "Recommendation")
    assert (body["title"], body["link"]) == ("Two-person tent", "/shop/#tent")
    again = host.get(url(echo.site, "echo/offers/"), ANNA)
    assert_matches_schema(again, "GET", OFFERS)
    assert again.json() == {"offer": None}


def test_what_became_of_it_is_told_and_learnt(
    echo: Echo, host: APIClient, offer: Decision, events: str
) -> None:
    for what in ("shown", "click", "helpful", "close"):
        response = host.post(events, told(what, what))
        assert_matches_schema(response, "POST", f"{OFFERS}{{offer_uid}}/events/")
        assert response.json() == {"oid": str(offer.uid), "status": "shown"}
    assert [event.kind for event in OfferEvent.objects.all()] == [
        "shown", "clicked", "helpful", "dismissed",
    ]  # fmt: skip
    assert keep_up_with(echo) == 2


def test_what_mattered_most_is_asked_and_told_once(
    echo: Echo, host: APIClient, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offer_decisions, "MATTERED_SHARE", 1.0)
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    decide_about(message.pk, offline)
    response = host.get(url(echo.site, "echo/offers/"), ANNA)
    assert_matches_schema(response, "GET", OFFERS)
    body = response.json()["offer"]
    keys = [key for key, _name in body["helpful"]["mattered"]["options"]]
    events = url(echo.site, f"echo/offers/{body['oid']}/events/")
    odd = told("mattered", "m-0") | {"feature": "nobody_knows"}
    refused(host.post(events, odd), 422, "bad_field")
    for ref, key in (("m-1", keys[1]), ("m-2", keys[0]), ("m-3", "")):
        response = host.post(events, told("mattered", ref) | {"feature": key})
        assert_matches_schema(response, "POST", f"{OFFERS}{{offer_uid}}/events/")
        assert response.json()["status"] == "shown"
    assert OfferEvent.objects.get().feature == keys[1]
    assert keep_up_with(echo) == 1


@all_cases(
    ("change", "field"),
    [
        ({"what": "bought"}, "what"),
        ({"what": "mattered"}, "feature"),
        ({"what": "mattered", "feature": None}, "feature"),
        ({"what": "mattered", "feature": ["budget"]}, "feature"),
        ({"what": "mattered", "feature": "x" * 41}, "feature"),
        ({"feature": "budget"}, "feature"),
        ({"what": None}, "what"),
        ({"id": "x" * 65}, "id"),
        ({"id": ""}, "id"),
        ({"author": " "}, "author"),
        ({"author": None}, "author"),
    ],
)
def test_a_wrong_field_is_named(
    host: APIClient, events: str, change: dict[str, Any], field: str
) -> None:
    body = refused(host.post(events, told() | change), 422, "bad_field")
    assert [fault["field"] for fault in body["errors"]] == [field]
    assert not OfferEvent.objects.exists()


def test_of_others_and_unknown_offers_nothing_is_told(
    echo: Echo, host: APIClient, other_host: APIClient, manager: APIClient, offer: Decision,
    events: str,
) -> None:  # fmt: skip
    author_of(echo.site, "bert")
    refused(host.post(events, told(author="bert")), 403, "not_yours")
    refused(host.post(events, told(author="nobody")), 404, "not_found")
    unknown = url(echo.site, f"echo/offers/{uuid4()}/events/")
    refused(host.post(unknown, told()), 404, "not_found")
    refused(other_host.post(events, told()), 401, "not_authenticated")
    other = Echo.objects.exclude(pk=echo.pk).get().site
    author_of(other, "anna")
    theirs = url(other, f"echo/offers/{offer.uid}/events/")
    refused(server(server_key(other)).post(theirs, told()), 404, "not_found")
    refused(manager.post(events, told()), 401, "not_authenticated")
    refused(manager.get(url(echo.site, "echo/offers/"), ANNA), 401, "not_authenticated")
    assert not OfferEvent.objects.exists()


def test_nothing_is_offered_to_who_left_or_where_it_is_off(
    echo: Echo, host: APIClient, author: Author, offer: Decision
) -> None:
    update_echo(echo, offers_on=False)
    assert host.get(url(echo.site, "echo/offers/"), ANNA).json() == {"offer": None}
    update_echo(echo, offers_on=True)
    opt_out(author)
    assert host.get(url(echo.site, "echo/offers/"), ANNA).json() == {"offer": None}
    update_site(site=echo.site, enabled=False)
    refused(host.get(url(echo.site, "echo/offers/"), ANNA), 403, "disabled")


def test_an_offer_takes_few_queries(
    echo: Echo, host: APIClient, events: str, django_assert_num_queries: Any
) -> None:
    host.get(url(echo.site, "echo/offers/"), ANNA)
    with django_assert_num_queries(3):  # key, author, offer
        host.get(url(echo.site, "echo/offers/"), ANNA)
    host.post(events, told())
    with django_assert_num_queries(10):
        host.post(events, told(ref="c-2"))
