"""REST: sites/{public_key}/echo/searches/ and features/{key}/instruction/."""

import pytest
from rest_framework.test import APIClient

from apps.echo.models import Echo
from apps.echo.services.selection import known_echo
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


def test_what_is_not_there_is_not_found(echo: Echo, manager: APIClient) -> None:
    others, of_another = search_of(echo_of()), search_of(echo, "budget")
    for search in (others, of_another):
        response = manager.post(url(echo.site, INSTRUCTION), {"search": search.pk})
        refused(response, 404, "not_found")
    strange = url(echo.site, "echo/features/nothing/instruction/")
    refused(manager.post(strange, {"search": None}), 404, "not_found")
