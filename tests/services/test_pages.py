"""Every page and every list of REST can be asked for on PostgreSQL: no query is SQLite's own."""

from typing import Any

import pytest
from django.urls import reverse

from tests.architecture.access_table import PAGES, REST
from tests.architecture.access_world import build_world
from tests.architecture.test_access import PARTS

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def test_every_address_answers() -> None:
    world = build_world()
    asked, faults = 0, []
    for name, row in {**PAGES, **REST}.items():
        if "GET" not in row.levels:
            continue
        client: Any = world.rest_client if name in REST else world.page_client
        actor = "server" if row.levels["GET"].name == "SERVER" else "operator"
        kwargs = world.kwargs(PARTS[name], actor, row.levels["GET"])
        response = client(actor).get(reverse(name, kwargs=kwargs))
        if response.streaming:
            list(response.streaming_content)
        asked += 1
        if response.status_code >= 500:
            faults.append(f"{name}: {response.status_code}")
    assert faults == []
    assert asked > 200
