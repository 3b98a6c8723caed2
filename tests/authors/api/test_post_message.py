"""REST: POST sites/{public_key}/messages/."""

from threading import Thread
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from apps.authors.models import Author, Consent, Message, Site
from apps.authors.services.authors import opt_out
from apps.authors.services.messages import Incoming, StoredMessage, store_message
from apps.authors.services.privacy import erase_author
from apps.authors.services.questions import ask_now
from tests.authors.api.calling import message, refused, server, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of, server_key, site_with_features
from tests.threads import at_once

pytestmark = pytest.mark.django_db
MESSAGES = "/api/v1/sites/{public_key}/messages/"


def test_a_message_is_stored_and_a_worker_told(
    site: Site, host: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    result: list[int] = []
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", result.append)
    response = host.post(url(site, "messages/"), message(country="de", lang="en-GB"))
    assert response.status_code == 201
    assert_matches_schema(response, "POST", MESSAGES)
    assert response.json() == {
        "message": {"id": "message-1", "status": "received", "dropped_at": "", "reason": ""},
        "questions": [],
    }
    stored = Message.objects.get()
    assert result == [stored.pk]
    assert (stored.country, stored.author.subject) == ("DE", "customer-17")
    consent = Consent.objects.get(author=stored.author)
    assert (consent.by, consent.text.version) == ("host", 1)


@all_cases("consent", [None, False, 0, 1, "yes", [], {}, {"version": "1"}, {"v": 1}])
def test_without_consent_nothing_is_stored(site: Site, host: APIClient, consent: Any) -> None:
    sent = message() | {"consent": consent}
    refused(host.post(url(site, "messages/"), sent), 422, "consent_required")
    del sent["consent"]
    refused(host.post(url(site, "messages/"), sent), 422, "consent_required")
    assert not Author.objects.exists()


@all_cases("version", [0, 2, -1, 10**18])
def test_consent_to_another_text_is_none(site: Site, host: APIClient, version: int) -> None:
    sent = message(consent={"version": version})
    refused(host.post(url(site, "messages/"), sent), 409, "consent_outdated")
    assert not Author.objects.exists()


def test_where_the_widget_asks_for_consent_a_server_has_none_to_give() -> None:
    site = site_with_features(consent_by="widget")
    response = server(server_key(site)).post(url(site, "messages/"), message())
    refused(response, 409, "consent_outdated")
    assert not Author.objects.exists()


def test_nothing_is_kept_of_who_opted_out(site: Site, host: APIClient) -> None:
    opt_out(author_of(site, "customer-17"))
    refused(host.post(url(site, "messages/"), message()), 409, "opted_out")
    assert not Message.objects.exists()
    assert not Consent.objects.filter(withdrawn_at__isnull=True).exists()


def test_who_was_erased_at_that_moment_is_told(
    site: Site, host: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(site: Site, author_id: int, incoming: Incoming) -> StoredMessage:
        erase_author(Author.objects.get(pk=author_id))
        return store_message(site, author_id, incoming)

    monkeypatch.setattr("apps.authors.services.authors.store_message", meanwhile)
    refused(host.post(url(site, "messages/"), message()), 409, "erased")
    assert not Author.objects.exists()
    assert not Message.objects.exists()


@pytest.mark.parametrize("long", ["x" * 8001, "é" * 8001, "🙂 " * 4001])
def test_a_message_can_be_too_long(site: Site, host: APIClient, long: str) -> None:
    refused(host.post(url(site, "messages/"), message(text=long)), 422, "too_long")
    assert not Author.objects.exists()
    assert host.post(url(site, "messages/"), message(text="é" * 8000)).status_code == 201


@pytest.mark.thorough
@all_cases(
    ("change", "field"),
    [
        ({"author": None}, "author"),
        ({"author": ""}, "author"),
        ({"author": "  "}, "author"),
        ({"author": "x" * 201}, "author"),
        ({"author": "line\nbreak"}, "author"),
        ({"author": ["customer-17"]}, "author"),
        ({"author": True}, "author"),
        ({"id": None}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"conversation": None}, "conversation"),
        ({"text": None}, "text"),
        ({"text": ""}, "text"),
        ({"text": {"deep": "text"}}, "text"),
        ({"role": "system"}, "role"),
        ({"country": "GER"}, "country"),
        ({"country": "1'"}, "country"),
        ({"lang": "<script>"}, "lang"),
        ({"consented_at": "2999-01-01T00:00:00Z"}, "consented_at"),
        ({"wait": -1}, "wait"),
        ({"wait": 10.1}, "wait"),
        ({"wait": "inf"}, "wait"),
        ({"wait": "soon"}, "wait"),
    ],
)
def test_a_bad_field_is_named(
    site: Site, host: APIClient, change: dict[str, Any], field: str
) -> None:
    body = refused(host.post(url(site, "messages/"), message(**change)), 422, "bad_field")
    assert [fault["field"] for fault in body["errors"]] == [field]
    assert not Author.objects.exists()


def test_a_message_takes_few_queries(
    site: Site, host: APIClient, django_assert_num_queries: Any
) -> None:
    host.post(url(site, "messages/"), message())
    with django_assert_num_queries(13):
        host.post(url(site, "messages/"), message(id="message-2"))


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_one_message_one_author_and_one_consent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", lambda _id: None)
    site = site_with_features(consent_by="host")
    key = server_key(site)

    def post(_: int) -> int:
        return server(key).post(url(site, "messages/"), message()).status_code

    assert sorted(at_once(post)) == [200, 200, 200, 201]
    assert (Message.objects.count(), Author.objects.count(), Consent.objects.count()) == (1, 1, 1)


@pytest.mark.django_db(transaction=True)
def test_who_waits_gets_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[Thread] = []

    def worker(message_id: int) -> None:
        def work() -> None:
            ask_now(message_id)
            connection.close()

        threads.append(Thread(target=work))
        threads[0].start()

    monkeypatch.setattr("apps.authors.api.messages.launch_asking", worker)
    site = site_with_features(consent_by="host")
    sent = message(
        text="I am looking for a quiet laptop for my studies, and it must not cost too much.",
        wait=10,
    )
    response = server(server_key(site)).post(url(site, "messages/"), sent)
    threads[0].join()
    assert_matches_schema(response, "POST", MESSAGES)
    body = response.json()
    assert body["message"]["status"] == "asked", body
    assert [question["status"] for question in body["questions"]] == ["waiting"] * len(
        body["questions"]
    )
    first = body["questions"][0]
    assert (first["re"], first["survey"]["n"]) == ("message-1", 1)
    assert "predicted" not in str(body)


@pytest.mark.thorough
def test_waiting_ends_when_the_time_is_over(site: Site, host: APIClient) -> None:
    response = host.post(url(site, "messages/"), message(wait=0.3))
    assert response.json() == {
        "message": {"id": "message-1", "status": "received", "dropped_at": "", "reason": ""},
        "questions": [],
    }
