"""REST: sites/{public_key}/echo/searches/ and features/{key}/instruction/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from apps.echo.models import Echo
from apps.echo.services.choosing import known_echo
from apps.echo.services.instructions import instructions_of
from tests.authors.api.calling import refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.echo import HINT, echo_of, search_of

pytestmark = pytest.mark.django_db
ECHO = "/api/v1/sites/{public_key}/echo/"
SEARCHES = "echo/searches/"
INSTRUCTION = "echo/features/urgency/instruction/"


def test_a_search_is_told_with_its_figures(echo: Echo, manager: APIClient) -> None:
    search_of(echo, active=True, present="What stood there before, in the same place.")
    response = manager.get(url(echo.site, SEARCHES))
    assert_matches_schema(response, "GET", f"{ECHO}searches/")
    (row,) = response.json()["results"]
    assert (row["feature"], row["status"], row["active"]) == ("urgency", "better", True)
    assert row["instruction"] == HINT
    assert row["figures"]["best"] == {
        "value": 0.75, "low": 0.66, "high": 0.83, "n": 80, "method": "Wilson",
    }  # fmt: skip
    assert (row["chance"], row["level"], row["labels"]) == (0.001, 0.00625, {"kept_back": 80})
    assert (row["calls"], row["most_calls"], row["cost_usd"]) == (402, 664, 0.2)


def test_one_under_way_has_no_figures_yet(echo: Echo, manager: APIClient) -> None:
    search_of(echo, status="running", why="", instruction="", found={}, ended_at=None)
    response = manager.get(url(echo.site, SEARCHES))
    assert_matches_schema(response, "GET", f"{ECHO}searches/")
    (row,) = response.json()["results"]
    assert (row["figures"], row["labels"], row["chance"], row["level"]) == ({}, {}, None, None)
    assert (row["status"], row["ended_at"]) == ("running", None)


def test_they_come_newest_first_page_by_page_and_by_feature(echo: Echo, manager: APIClient) -> None:
    made = [search_of(echo, key).pk for key in ("urgency", "budget", "urgency")]
    search_of(echo_of())

    def ids(**given: Any) -> list[int]:
        rows = manager.get(url(echo.site, SEARCHES), given).json()["results"]
        return [row["id"] for row in rows]

    assert ids() == made[::-1]
    assert ids(feature="urgency") == [made[2], made[0]]
    assert ids(feature="nothing") == []
    assert ids(page=2, page_size=2) == made[:1]
    too_long = manager.get(url(echo.site, SEARCHES), {"feature": "x" * 61})
    assert too_long.status_code == 400


def test_of_a_site_that_never_had_it_on_there_are_none(site: Site, manager: APIClient) -> None:
    assert manager.get(url(site, SEARCHES)).json()["results"] == []
    refused(manager.post(url(site, INSTRUCTION), {"search": None}), 409, "conflict")
    assert not Echo.objects.exists()


def test_one_is_put_back_and_taken_out_at_once(echo: Echo, manager: APIClient) -> None:
    search = search_of(echo)
    assert known_echo(echo.site).instructions == {}
    response = manager.post(url(echo.site, INSTRUCTION), {"search": search.pk})
    assert_matches_schema(response, "POST", f"{ECHO}features/{{feature_key}}/instruction/")
    assert response.json() == {"feature": "urgency", "search": search.pk, "instruction": HINT}
    # A process that has read it a moment ago reads it anew.
    assert known_echo(echo.site).instructions == {"urgency": HINT}
    for _ in range(2):
        response = manager.post(url(echo.site, INSTRUCTION), {"search": None})
        assert response.json() == {"feature": "urgency", "search": None, "instruction": ""}
    assert known_echo(echo.site).instructions == {}


@pytest.mark.parametrize("body", [{}, {"search": "first"}, {"search": 0}, {"search": 2**70}, []])
def test_it_wants_a_search_or_null(echo: Echo, manager: APIClient, body: Any) -> None:
    search_of(echo, active=True)
    response = manager.post(url(echo.site, INSTRUCTION), body)
    assert response.status_code == 400, response.content
    assert instructions_of(echo) == {"urgency": HINT}


def test_what_found_nothing_cannot_be_put_back(echo: Echo, manager: APIClient) -> None:
    search = search_of(echo, status="unchanged", instruction="")
    response = manager.post(url(echo.site, INSTRUCTION), {"search": search.pk})
    refused(response, 409, "conflict")


def test_what_is_not_there_is_not_found(echo: Echo, manager: APIClient) -> None:
    others, of_another = search_of(echo_of()), search_of(echo, "budget")
    for search in (others, of_another):
        response = manager.post(url(echo.site, INSTRUCTION), {"search": search.pk})
        refused(response, 404, "not_found")
    strange = url(echo.site, "echo/features/nothing/instruction/")
    refused(manager.post(strange, {"search": None}), 404, "not_found")
