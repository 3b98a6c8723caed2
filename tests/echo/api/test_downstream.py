"""REST: sites/{public_key}/echo/messages/ and selections/{uid}/, for a site's own server."""

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from apps.authors.models import Message, Question, Site
from apps.authors.services.privacy import erase_author
from apps.authors.services.questions import ask_now
from apps.echo.models import Echo, Selection
from apps.echo.services import selection
from apps.echo.services.configuration import switch_echo, update_echo
from apps.echo.services.selection import EchoChooser, forget_known, select_unasked
from tests.authors.api.calling import message, refused, server, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of, message_of, server_key
from tests.factories.echo import TEXT, ask_author
from tests.services.threads import together

pytestmark = pytest.mark.django_db
MESSAGES = "/api/v1/sites/{public_key}/echo/messages/"
ONE = "/api/v1/sites/{public_key}/echo/selections/{selection_uid}/"
ANNA = {"author": "anna"}


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages wait until a test asks about them."""
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", lambda _id: None)


def throttled(site: Site, text: str = TEXT, subject: str = "anna") -> Message:
    """A message that its author is not asked about."""
    found = message_of(author_of(site, subject), text)
    Message.objects.filter(pk=found.pk).update(status="dropped", dropped_at="throttle")
    return found


@pytest.mark.django_db(transaction=True)
def test_a_message_comes_back_with_its_features_and_questions(
    monkeypatch: pytest.MonkeyPatch, echo: Echo, host: APIClient
) -> None:
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", ask_now)
    update_echo(echo, k=3)
    sent = message(**ANNA, text=TEXT, wait=10)
    response = host.post(url(echo.site, "echo/messages/"), sent)
    assert_matches_schema(response, "POST", MESSAGES)
    body = response.json()
    assert body["message"]["status"] == "asked", body
    assert body["questions"]
    chosen = Selection.objects.get()
    assert body["selection"]["id"] == str(chosen.uid)
    assert body["selection"]["number"] == chosen.number
    features = body["selection"]["features"]
    assert [feature["key"] for feature in features] == chosen.selected
    assert 1 <= len(features) <= 3
    assert all(feature["name"] and feature["value"] for feature in features)
    assert all(0 < feature["probability"] < 1 for feature in features)
    again = host.post(url(echo.site, "echo/messages/"), sent)
    assert again.status_code == 200
    assert_matches_schema(again, "POST", MESSAGES)
    assert again.json()["selection"] == body["selection"]
    assert Selection.objects.count() == Message.objects.count() == 1


def test_what_is_not_asked_about_has_features_too(echo: Echo, host: APIClient) -> None:
    found = throttled(echo.site)
    response = host.get(url(echo.site, "echo/messages/"), {"id": found.ref, **ANNA})
    assert_matches_schema(response, "GET", MESSAGES)
    body = response.json()
    assert body["selection"]["features"]
    assert body["message"]["dropped_at"] == "throttle"
    shown = host.get(url(echo.site, f"echo/selections/{body['selection']['id']}/"))
    assert_matches_schema(shown, "GET", ONE)
    assert shown.json() == body["selection"]
    assert not any(choice["asked"] for choice in Selection.objects.get().asked.values())


@pytest.mark.parametrize("stage", ["screen", "sensitive", "left", "interrupted"])
def test_of_what_is_nobodys_business_there_is_no_selection(
    echo: Echo, host: APIClient, stage: str
) -> None:
    found = throttled(echo.site)
    Message.objects.filter(pk=found.pk).update(dropped_at=stage)
    body = host.get(url(echo.site, "echo/messages/"), {"id": found.ref}).json()
    assert (body["selection"], body["message"]["dropped_at"]) == (None, stage)
    assert not Selection.objects.exists()


def test_of_words_that_are_not_kept_there_is_no_selection(echo: Echo, host: APIClient) -> None:
    found = throttled(echo.site)
    Message.objects.filter(pk=found.pk).update(text="")
    body = host.get(url(echo.site, "echo/messages/"), {"id": found.ref}).json()
    assert (body["selection"], Selection.objects.count()) == (None, 0)


def test_where_echo_is_off_nothing_is_stored(site: Site, echo: Echo, host: APIClient) -> None:
    switch_echo(site, on=False)
    refused(host.post(url(site, "echo/messages/"), message()), 409, "conflict")
    assert not Message.objects.exists()
    switch_echo(site, on=True)
    assert host.post(url(site, "echo/messages/"), message()).status_code == 201


def test_what_is_not_there_is_not_found(echo: Echo, host: APIClient, other_host: APIClient) -> None:
    found = throttled(echo.site)
    path = url(echo.site, "echo/messages/")
    refused(host.get(path, {"id": "unknown"}), 404, "not_found")
    refused(host.get(path, {"id": found.ref, "author": "bert"}), 404, "not_found")
    refused(host.get(path), 422, "bad_field")
    selection = host.get(path, {"id": found.ref}).json()["selection"]["id"]
    address = url(echo.site, f"echo/selections/{selection}/")
    refused(other_host.get(address), 401, "not_authenticated")
    other = Echo.objects.exclude(pk=echo.pk).get().site
    own = server(server_key(other))
    refused(own.get(url(other, f"echo/selections/{selection}/")), 404, "not_found")
    refused(own.get(url(other, "echo/messages/"), {"id": found.ref}), 404, "not_found")
    erase_author(found.author)
    refused(host.get(address), 404, "not_found")


def test_when_an_offer_was_first_what_is_asked_is_added(echo: Echo) -> None:
    author = author_of(echo.site, "anna")
    found = message_of(author, TEXT)
    forget_known(echo.pk)
    select_unasked(found)
    before = Selection.objects.get()
    Message.objects.filter(pk=found.pk).delete()
    before.refresh_from_db()
    questions = ask_author(author, TEXT + " Please.")
    asked = Selection.objects.exclude(pk=before.pk).get()
    first = select_unasked(questions[0].message)
    assert first == asked
    assert any(choice["asked"] for choice in Selection.objects.get(pk=asked.pk).asked.values())


def test_asking_keeps_what_was_handed_out_before(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(chooser: EchoChooser, store: Any = EchoChooser.store) -> None:
        select_unasked(chooser._message)
        store(chooser)

    monkeypatch.setattr(selection.EchoChooser, "store", meanwhile)
    questions = ask_author(author_of(echo.site, "anna"), TEXT)
    chosen = Selection.objects.get()
    assert Question.objects.count() == len(questions) > 0
    assert {question.feature.key for question in questions} <= {
        key for key, choice in chosen.asked.items() if choice["asked"]
    }


def test_a_message_takes_few_queries(
    echo: Echo, host: APIClient, django_assert_num_queries: Any
) -> None:
    path = url(echo.site, "echo/messages/")
    host.post(path, message())
    with django_assert_num_queries(14):
        host.post(path, message(id="message-2"))
    asked = {"id": throttled(echo.site).ref, **ANNA}
    host.get(path, asked)
    with django_assert_num_queries(5):  # key, author, message, selection, questions
        host.get(path, asked)


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_selection(echo: Echo) -> None:
    found = throttled(echo.site)
    key = server_key(echo.site)
    path = url(echo.site, "echo/messages/")
    responses = together(
        [lambda: server(key).get(path, {"id": found.ref}).json()["selection"]["id"]] * 3
    )
    assert len(set(responses)) == 1
    assert Selection.objects.count() == 1
    connection.close()


def test_what_the_widget_sent_is_found_by_its_id(echo: Echo, host: APIClient) -> None:
    author = author_of(echo.site)
    (question, *_) = ask_author(author, TEXT)
    asked = {"id": question.message.ref}
    body = host.get(url(echo.site, "echo/messages/"), asked).json()
    assert body["selection"]["id"] == str(Selection.objects.get().uid)
    assert body["questions"][0]["qid"] == str(question.uid)
    throttled_twin = message_of(author_of(echo.site, "bert"), TEXT, ref=question.message.ref)
    refused(host.get(url(echo.site, "echo/messages/"), asked), 409, "conflict")
    named = asked | {"author": "bert"}
    found = host.get(url(echo.site, "echo/messages/"), named).json()
    assert found["message"]["id"] == throttled_twin.ref
