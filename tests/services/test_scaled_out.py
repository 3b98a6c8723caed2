"""Two servers, worker processes, PostgreSQL and Redis work as one."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import websockets

from tests.fakes.client import Client
from tests.fakes.stack import Program, run_of, wait_until_done
from tests.services.conftest import Site

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

PEOPLE, ITEMS = 8, 80


async def changes_until_done(site: Site, run: int, work: Callable[[], Program]) -> int:
    """How many wake-ups server B sends a page on its way through the run; ``work`` begins it."""
    cookie = await asyncio.to_thread(Client(site.b.address).sign_in, "boss", "boss")
    address = f"{site.b.address.replace('http', 'ws', 1)}/ws/v1/runs/{run}/"
    heard = 0
    async with websockets.connect(
        address, additional_headers={"Cookie": cookie, "Origin": site.b.address}
    ) as socket:
        first = json.loads(await asyncio.wait_for(socket.recv(), 10))
        assert first == {"type": "changed"}
        await asyncio.to_thread(work)
        while (await asyncio.to_thread(run_of, site.b, run))["status"] != "done":
            assert json.loads(await asyncio.wait_for(socket.recv(), 40)) == {"type": "changed"}
            heard += 1
    return heard


def work_through(slug: str, client: Client) -> list[int]:
    """Take and answer items until the queue is empty for this person; the items' ids."""
    mine: list[int] = []
    for _ in range(10 * ITEMS):
        task = client.post(f"projects/{slug}/next/")
        if task is None:
            return mine
        item = task["item"]["id"]
        value = task["suggestion"]["value"] if task["suggestion"] else []
        body = {"item": item, "value": value, "lease": task["lease"]["token"], "seconds": 1.5}
        client.post(f"projects/{slug}/labels/", body)
        mine.append(item)
    raise AssertionError("the queue has no end")


async def test_a_run_started_on_one_server_is_seen_live_on_the_other(
    site: Site, new_worker: Callable[[], Program]
) -> None:
    slug = site.project(ITEMS)
    run = site.run(slug, "ecj", "offline")

    heard = await changes_until_done(site, run, new_worker)

    assert heard >= 1
    for client in (site.a, site.b):
        progress = run_of(client, run)["progress"]
        assert (progress["done"], progress["failed"], progress["turns"]) == (ITEMS, 0, 3 * ITEMS)


def test_eight_people_on_two_servers_share_one_queue(
    site: Site, new_worker: Callable[[], Program]
) -> None:
    slug = site.project(ITEMS)
    new_worker()
    wait_until_done(site.a, site.run(slug, "ecj", "offline"))
    names = [f"{slug}-person-{number}" for number in range(PEOPLE)]
    keys = site.stack.people(*names, slug=slug)
    addresses = (site.a.address, site.b.address)
    clients = [Client(addresses[index % 2], keys[name]) for index, name in enumerate(names)]

    with ThreadPoolExecutor(PEOPLE) as pool:
        answered = list(pool.map(partial(work_through, slug), clients))

    everything = [item for mine in answered for item in mine]
    assert len(everything) == len(set(everything)) == ITEMS
    stored = [
        label["item"]
        for label in site.a.every(f"projects/{slug}/labels/?page_size=200")
        if label["annotator"]["kind"] == "expert"
    ]
    assert sorted(stored) == sorted(everything)
    same_on_both(site, slug)


def same_on_both(site: Site, slug: str) -> None:
    """Evaluation and every export are the same, byte for byte, whichever server is asked."""
    for path in (
        "evaluation/",
        *(f"export/?format={name}" for name in ("jsonl", "json", "csv", "labelstudio")),
    ):
        from_a, from_b = (client.get(f"projects/{slug}/{path}") for client in (site.a, site.b))
        assert from_a == from_b
        assert from_a
