"""REST: sites/{public_key}/echo/selections/{uid}/rewards/."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Author
from apps.authors.services.privacy import erase_author
from apps.authors.services.trust import set_ruling
from apps.echo.models import Echo, LogEvent, Selection
from apps.echo.services.configuration import freeze
from apps.echo.services.learning import keep_up_with, rebuild_state
from apps.echo.states import stored_state
from tests.authors.api.calling import refused, server, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of, server_key
from tests.factories.echo import TEXT, answer, ask_author, learnt_digest
from tests.services.threads import together

pytestmark = pytest.mark.django_db
REWARDS = "/api/v1/sites/{public_key}/echo/selections/{selection_uid}/rewards/"


@pytest.fixture
def author(echo: Echo) -> Author:
    return author_of(echo.site, "anna")


@pytest.fixture
def selection(author: Author) -> Selection:
    ask_author(author, TEXT)
    return Selection.objects.get()


@pytest.fixture
def path(echo: Echo, selection: Selection) -> str:
    return url(echo.site, f"echo/selections/{selection.uid}/rewards/")


def told(value: Any = 1, ref: Any = "order-1") -> dict[str, Any]:
    return {"id": ref, "value": value}


def expected(echo: Echo) -> list[float]:
    echo.refresh_from_db()
    found: list[float] = stored_state(echo).relevance.expected.tolist()
    return found


def test_a_reward_is_credited_to_the_features_shown(
    echo: Echo, host: APIClient, path: str, selection: Selection
) -> None:
    response = host.post(path, told(0.75))
    assert response.status_code == 201
    assert_matches_schema(response, "POST", REWARDS)
    assert response.json() == {"id": "order-1", "value": 0.75}
    event = LogEvent.objects.get(kind="rewarded")
    assert event.data["value"] == 0.75
    assert [key for key, _ in event.data["shown"]] == selection.selected
    assert (event.author, event.data["trusted"]) == (selection.author, True)
    assert keep_up_with(echo) == 1
    echo.refresh_from_db()
    assert stored_state(echo).models == {}
    assert set(stored_state(echo).features) == set(selection.selected)
    assert rebuild_state(echo)


def test_told_twice_the_first_stands(echo: Echo, host: APIClient, path: str) -> None:
    host.post(path, told(1))
    again = host.post(path, told(0))
    assert again.status_code == 200
    assert_matches_schema(again, "POST", REWARDS)
    assert again.json() == {"id": "order-1", "value": 1.0}
    assert LogEvent.objects.filter(kind="rewarded").count() == 1
    keep_up_with(echo)
    before = learnt_digest(echo)
    host.post(path, told(0))
    assert keep_up_with(echo) == 0
    assert learnt_digest(echo) == before


@all_cases(
    ("change", "field"),
    [
        ({"value": -0.1}, "value"),
        ({"value": 1.1}, "value"),
        ({"value": "nan"}, "value"),
        ({"value": "inf"}, "value"),
        ({"value": True}, "value"),
        ({"value": None}, "value"),
        ({"value": [1]}, "value"),
        ({"id": ""}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"id": None}, "id"),
        ({"id": {"a": 1}}, "id"),
    ],
)
def test_a_wrong_reward_is_named(
    host: APIClient, path: str, change: dict[str, Any], field: str
) -> None:
    body = refused(host.post(path, told() | change), 422, "bad_field")
    assert [fault["field"] for fault in body["errors"]] == [field]
    assert not LogEvent.objects.exists()


def test_only_selections_of_the_site_are_rewarded(
    echo: Echo, host: APIClient, other_host: APIClient, manager: APIClient, path: str,
    selection: Selection,
) -> None:  # fmt: skip
    unknown = url(echo.site, f"echo/selections/{uuid4()}/rewards/")
    refused(host.post(unknown, told()), 404, "not_found")
    refused(other_host.post(path, told()), 401, "not_authenticated")
    other = Echo.objects.exclude(pk=echo.pk).get().site
    theirs = url(other, f"echo/selections/{selection.uid}/rewards/")
    refused(server(server_key(other)).post(theirs, told()), 404, "not_found")
    refused(manager.post(path, told()), 401, "not_authenticated")
    assert not LogEvent.objects.exists()


def test_who_was_erased_is_not_rewarded(host: APIClient, path: str, author: Author) -> None:
    erase_author(author)
    refused(host.post(path, told()), 404, "not_found")
    assert not LogEvent.objects.exists()


def test_erased_at_that_moment(
    host: APIClient, path: str, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.echo.services.events.lock_author", lambda _pk: None)
    refused(host.post(path, told()), 404, "not_found")
    assert not LogEvent.objects.exists()


def test_of_who_is_not_believed_it_is_logged_and_teaches_nothing(
    echo: Echo, host: APIClient, path: str, author: Author
) -> None:
    set_ruling(author, trusted=False, reason="A robot.")
    assert host.post(path, told()).status_code == 201
    before = expected(echo)
    keep_up_with(echo)
    assert LogEvent.objects.get(kind="rewarded").data["trusted"] is False
    assert expected(echo) == before


def test_while_it_is_frozen_it_is_logged_and_never_learnt(
    echo: Echo, host: APIClient, path: str
) -> None:
    freeze(echo, on=True)
    assert host.post(path, told()).status_code == 201
    freeze(echo, on=False)
    keep_up_with(echo)
    assert expected(echo) == []
    assert Echo.objects.get(pk=echo.pk).learnt == 3


def test_after_a_week_it_is_too_late(host: APIClient, path: str, selection: Selection) -> None:
    host.post(path, told())
    late = timezone.now() - timedelta(days=7, seconds=1)
    Selection.objects.filter(pk=selection.pk).update(at=late)
    refused(host.post(path, told(ref="order-2")), 409, "too_late")
    assert host.post(path, told()).status_code == 200
    assert LogEvent.objects.filter(kind="rewarded").count() == 1


def test_one_selection_does_not_drown_the_others(host: APIClient, path: str) -> None:
    for number in range(10):
        assert host.post(path, told(ref=str(number))).status_code == 201
    refused(host.post(path, told(ref="one more")), 409, "conflict")
    assert host.post(path, told(ref="3")).status_code == 200


def test_a_reward_takes_few_queries(
    host: APIClient, path: str, django_assert_num_queries: Any
) -> None:
    host.post(path, told())
    with django_assert_num_queries(13):
        host.post(path, told(ref="order-2"))


@pytest.mark.django_db(transaction=True)
def test_the_same_in_two_threads_is_one_reward(echo: Echo, path: str) -> None:
    key = server_key(echo.site)
    codes = together([lambda: server(key).post(path, told()).status_code] * 4)
    assert sorted(codes) == [200, 200, 200, 201]
    assert LogEvent.objects.filter(kind="rewarded").count() == 1
    keep_up_with(echo)
    echo.refresh_from_db()
    assert (echo.logged, echo.learnt) == (1, 1)


def test_what_its_author_answered_is_known(
    echo: Echo, host: APIClient, path: str, author: Author, selection: Selection
) -> None:
    question = next(asked for asked in author.questions.order_by("number") if asked.options)
    answer(author, question, nofit=True, option="")
    host.post(path, told())
    shown = dict(LogEvent.objects.get(kind="rewarded").data["shown"])
    assert shown[question.feature.key] == 0.0
