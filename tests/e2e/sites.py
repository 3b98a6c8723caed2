"""Sites in the states their pages show: one with messages, an answer and a payout; one without."""

import re
import time
from dataclasses import replace
from typing import Any

from playwright.sync_api import Page

from tests.e2e.server import Server
from tests.e2e.widget_steps import change

WISH = "I want to buy a quiet laptop for the train, and it must not cost too much."
GREETING = "hello there!"


def prepare_sites(server: Server, page: Page) -> dict[str, Any]:
    """Everything by the host's own REST interface; ``page`` is signed in as the manager."""
    definition = {"task": "per_item"}
    for slug in ("asked-shop", "unasked"):
        server.api("POST", "projects/", {"slug": slug, "name": slug, "schema": definition})
    member = {"username": "viewer", "role": "viewer"}
    server.api("POST", "projects/asked-shop/members/", member)
    eager = {"every_messages": 1, "min_seconds": 0, "reward_cents": 5, "reward_hold_days": 0}
    busy = _site(server, "Corner shop", **eager)
    _site(server, "Silent shop", enabled=False)
    host = replace(server, key=_key(server, busy, "server"))
    _key(server, busy, "sign")
    _write(host, busy)
    _make_due(server)
    server.api("POST", f"sites/{busy}/payouts/")
    return _places(page)


def _make_due(server: Server) -> None:
    """As if the time in which an answer can be taken back were over."""
    change(server, "UPDATE authors_reward SET due_at = credited_at")
    change(server, "UPDATE authors_author SET proven = 1")


def _site(server: Server, name: str, **fields: Any) -> str:
    plan = {"name": name, "features": {"set": "shopping"}, "consent_by": "host"}
    origins = {"allowed_origins": [server.address]}
    made = server.api("POST", "projects/asked-shop/sites/", plan | origins | fields)
    return str(made["public_key"])


def _key(server: Server, site: str, purpose: str) -> str:
    return str(server.api("POST", f"sites/{site}/keys/", {"purpose": purpose})["secret"])


def _write(host: Server, site: str) -> None:
    """A greeting, and a wish whose first question is answered as soon as it can be read."""
    for index, text in enumerate((GREETING, WISH)):
        message = {
            "author": "customer-17",
            "id": f"m-{index}",
            "conversation": "c",
            "consent": True,
        }
        host.api("POST", f"sites/{site}/messages/", message | {"text": text, "wait": 10})
    question = host.api("GET", f"sites/{site}/questions/?author=customer-17")["question"]
    address, who = f"sites/{site}/questions/{question['qid']}", {"author": "customer-17"}
    host.api("POST", f"{address}/shown/", who)
    time.sleep(question["min_ms"] / 1000 + 0.5)
    option = question["opts"][0]["id"]
    host.api("POST", f"{address}/answer/", who | {"id": "a-0", "option": option})


def _places(page: Page) -> dict[str, Any]:
    """The ids in the addresses, read from the pages."""
    page.goto("/p/asked-shop/sites/")
    names = {"site": "Corner shop", "silent_site": "Silent shop"}
    found = {}
    for place, name in names.items():
        address = str(page.get_by_role("link", name=name).get_attribute("href"))
        found[place] = re.findall(r"\d+", address)[-1]
    page.goto("/p/shop-talk/sites/")
    shop = str(page.get_by_role("link", name="Corner shop").get_attribute("href"))
    found["demo_site"] = re.findall(r"\d+", shop)[-1]
    page.goto(f"/p/asked-shop/sites/{found['site']}/authors/")
    author = page.get_by_role("link", name=re.compile("^author-")).first.get_attribute("href")
    experiment = _offer_experiment(page, found["demo_site"])
    echo = f"{shop}echo/"
    return {**found, "site_author": author, "offer_experiment": experiment, "site_echo": echo}


def _offer_experiment(page: Page, site: str) -> str:
    """The page of an experiment with the demo's offers that has just been started."""
    page.goto(f"/p/shop-talk/sites/{site}/offers/experiments/new/")
    page.get_by_label("Name").fill("Does matching pay?")
    page.get_by_role("button", name="Save the design").click()
    page.get_by_role("button", name="Start the experiment").click()
    page.get_by_text("End the experiment").wait_for()
    return page.url.removeprefix(page.url.partition("/p/")[0])
