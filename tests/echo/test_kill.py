"""What was acknowledged is learnt, once, whatever was killed meanwhile; and the state stays what
its log makes of it."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.common import jobs
from apps.echo.services import offer_decisions
from tests.bench.widget_kill import Served
from tests.fakes.client import wait_for
from tests.fakes.stack import Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(480)]

PEOPLE, EACH, KILLS = 6, 10, 3
#: Seconds that anything may take: a killed server is back in about ten, and what it had at hand is
#: taken up once its lease has lapsed.
PATIENCE = max(jobs.LEASE, offer_decisions.LEASE).total_seconds() + 30
TEXT = "I need a light tent for my first trip, by Friday, and it must be cheap. Number {}."

_SITE = """
import json
from apps.common.commands import prepare_database
prepare_database()
from apps.accounts.models import User
from apps.accounts.services import create_api_key
from tests.factories.authors import server_key, site_with_features
from tests.factories.echo import echo_of
site = site_with_features(
    consent_by="host", identity="verified", per_day=10_000, per_conversation=10_000
)
echo_of(site)
boss = User.objects.create(username="boss", is_superuser=True)
print(json.dumps([site.public_key, server_key(site), create_api_key(user=boss, name="kill").plain]))
"""


def persistently(call: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer that is not a failure of the server, as a host would try."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            answer = call()
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code < 500 and answer.status_code != 429:
            return answer.raise_for_status()
        time.sleep(0.1)
    raise AssertionError("the server did not come back")


def talk(address: str, key: str, person: int, acknowledged: dict[str, float]) -> None:
    """One author's messages, one after the other, and what became of each."""
    headers = {"Authorization": f"Token {key}"}
    with httpx.Client(base_url=address, headers=headers, timeout=20) as host:
        for number in range(EACH):
            name = f"{person}-{number}"
            message = {
                "author": f"author-{person}", "id": f"m-{name}", "conversation": "talk",
                "text": TEXT.format(number), "consent": True, "wait": 5,
            }  # fmt: skip
            path = f"selections/{selected(host, message)}/rewards/"
            outcome = {"id": f"order-{name}", "value": float(number % 2)}
            persistently(partial(host.post, path, json=outcome))
            acknowledged[f"order-{name}"] = float(number % 2)


def selected(host: httpx.Client, message: dict[str, Any]) -> str:
    """The id of the message's selection, asked for until there is one."""

    def ask() -> Any:
        return persistently(partial(host.post, "messages/", json=message)).json()["selection"]

    return str(wait_for(ask, seconds=PATIENCE, what=f"a selection for {message['id']}")["id"])


def go_on_until(acknowledged: dict[str, float], count: int) -> None:
    """Wait for so many acknowledged rewards."""
    wait_for(lambda: len(acknowledged) >= count, seconds=PATIENCE, what=f"{count} rewards")


def test_what_was_acknowledged_is_learnt_once_through_three_kills(data_folder: Path) -> None:
    with Stack(data_folder) as stack:
        site, key, boss = json.loads(stack.manage("shell", "-v", "0", "-c", _SITE).splitlines()[-1])
        served = Served(stack)
        acknowledged: dict[str, float] = {}
        served.start()
        address = f"http://127.0.0.1:{served.port}/api/v1/sites/{site}/echo/"
        with ThreadPoolExecutor(PEOPLE) as people:
            talks = [people.submit(talk, address, key, n, acknowledged) for n in range(PEOPLE)]
            for kill in range(1, KILLS + 1):
                go_on_until(acknowledged, PEOPLE * EACH * kill // (KILLS + 1))
                served.kill()
            for talking in talks:
                talking.result()
        # Every reward stands in the log once, as it was told; all of it is learnt.
        rows = stack.rows("SELECT data FROM echo_logevent WHERE kind = 'rewarded'")
        logged = sorted(json.loads(data)["value"] for (data,) in rows)
        assert len(acknowledged) == PEOPLE * EACH
        assert logged == sorted(acknowledged.values())
        messages = stack.rows("SELECT count(*) FROM authors_message WHERE role = 'author'")
        selections = stack.rows("SELECT count(*) FROM echo_selection")
        assert messages == selections == [(PEOPLE * EACH,)]
        headers = {"Authorization": f"Token {boss}"}
        with httpx.Client(base_url=address, headers=headers, timeout=30) as manager:

            def level() -> bool:
                now = manager.get("").raise_for_status().json()
                return bool(now["learnt"] == now["logged"] >= PEOPLE * EACH)

            wait_for(level, seconds=PATIENCE, what="everything to be learnt")
        assert json.loads(stack.manage("rebuild_echo", site, "--json"))["same"] is True
