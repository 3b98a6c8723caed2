"""REST: sites/{public_key}/echo/, priors, freeze and thaw."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from apps.echo.models import Echo
from apps.echo.services.learning import keep_up_with
from tests.authors.api.calling import url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema

pytestmark = pytest.mark.django_db
ECHO = "/api/v1/sites/{public_key}/echo/"


def test_it_is_switched_on_and_set_at_once(site: Site, manager: APIClient) -> None:
    sent = {"on": True, "k": 5, "explore": 0.2, "offers_on": True, "reward_minutes": 60}
    response = manager.patch(url(site, "echo/"), sent)
    assert_matches_schema(response, "PATCH", ECHO)
    assert response.json().items() >= sent.items()
    echo = Echo.objects.get(site=site)
    assert (echo.on, echo.k, echo.offers_on) == (True, 5, True)


@all_cases(
    ("change", "field"),
    [
        ({"k": 0}, "k"),
        ({"k": 101}, "k"),
        ({"k": "many"}, "k"),
        ({"explore": 1.5}, "explore"),
        ({"explore": "nan"}, "explore"),
        ({"burden": True}, "burden"),
        ({"offer_explore": 0.6}, "offer_explore"),
        ({"offer_every_messages": 0}, "offer_every_messages"),
        ({"models_per_message": -1}, "models_per_message"),
        ({"reward_minutes": None}, "reward_minutes"),
        ({"llm_features": 21}, "llm_features"),
        ({"llm_features": -1}, "llm_features"),
        ({"example_tokens": 2001}, "example_tokens"),
        ({"search_on": True}, "search_on"),
        ({"on": "perhaps"}, "on"),
        ({"state": "x"}, "state"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_changed(
    echo: Echo, manager: APIClient, change: dict[str, Any], field: str
) -> None:
    response = manager.patch(url(echo.site, "echo/"), {"k": 7} | change)
    assert response.status_code in (400, 422), response.content
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    echo.refresh_from_db()
    assert echo.k == 10


def test_priors_are_logged_where_they_change(echo: Echo, manager: APIClient) -> None:
    logged = echo.logged
    path = url(echo.site, "echo/priors/")
    response = manager.put(path, {"priors": {"urgency": 1, "budget": None}})
    assert_matches_schema(response, "PUT", f"{ECHO}priors/")
    assert response.json() == {"priors": {"urgency": 1.0}}
    manager.put(path, {"priors": {"urgency": 1}})
    echo.refresh_from_db()
    assert echo.logged == logged + 1
    keep_up_with(echo)
    relevance = {feature["key"]: feature["relevance"] for feature in known(echo, manager)}
    assert relevance["urgency"] == max(relevance.values())
    assert manager.put(path, {"priors": {}}).json() == {"priors": {}}


def known(echo: Echo, who: APIClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get(url(echo.site, "echo/features/")).json()["results"]
    return found


@all_cases(
    ("priors", "field"),
    [
        ({"no_such": 0.5}, "no_such"),
        ({"urgency": 2}, "priors.urgency"),
        ({"urgency": "nan"}, "priors.urgency"),
        ({"urgency": "much"}, "priors.urgency"),
        ([], "priors"),
    ],
)
def test_a_wrong_prior_is_named(echo: Echo, manager: APIClient, priors: Any, field: str) -> None:
    response = manager.put(url(echo.site, "echo/priors/"), {"priors": priors})
    assert response.status_code in (400, 422)
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    assert all(row.parsed.prior is None for row in echo.site.features.asked())


def test_frozen_and_thawed_once_each(echo: Echo, manager: APIClient) -> None:
    for address, frozen in (("freeze", True), ("freeze", True), ("thaw", False), ("thaw", False)):
        response = manager.post(url(echo.site, f"echo/{address}/"))
        assert_matches_schema(response, "POST", f"{ECHO}{address}/")
        assert response.json()["frozen"] is frozen
    assert echo.log.filter(kind="frozen").count() == 2
