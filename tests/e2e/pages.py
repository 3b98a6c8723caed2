"""Every page of the product in the states people meet it in, and the data that brings it there."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.e2e.fought import prepare_fought
from tests.e2e.page_table import IN_DEMO
from tests.e2e.server import DEMO, Server, until
from tests.e2e.sites import prepare_sites
from tests.e2e.steps import open_page

SCHEMAS: dict[str, dict[str, Any]] = {
    "single": {
        "task": "single",
        "question": "How does the guest feel about the stay?",
        "labels": [
            {"name": "positive", "description": "The guest is content."},
            {"name": "negative", "description": "The guest is not."},
            {"name": "mixed", "description": "Both, in earnest."},
        ],
    },
    "ordinal": {
        "task": "ordinal",
        "question": "How many stars would this guest give?",
        "labels": [{"name": f"{n} of 5", "point": n} for n in range(1, 6)],
    },
    "text": {"task": "text", "question": "Sum the review up in one line."},
    "per_item": {"task": "per_item"},
}
GOLD: dict[str, list[Any]] = {
    "single": ["positive", "negative", "mixed", "positive"],
    "ordinal": [5, 1, 3, 4],
}
TEXTS = (
    "A wonderful stay: friendly people, a lovely room, and the best coffee on the coast.",
    "Terrible. Dirty towels, rude staff, and they charged us twice.",
    "Great view, awful bed. I cannot decide.",
    "Quiet, clean and close to everything. We will be back.",
    "It rained all week, which is hardly the fault of the hotel.",
)


def prepare(server: Server, browser: Browser, folder: Path) -> dict[str, Any]:
    """Bring the server's data into every state that ``VIEWS`` looks at; the ids for addresses."""
    places: dict[str, Any] = {}
    for task, schema in SCHEMAS.items():
        places[task] = _project_of(server, task, schema)
    places["empty"] = server.project("all-yours", [])
    places |= prepare_fought(server, SCHEMAS["single"])
    places["audited"] = _audited(server)
    places["renamed"] = _renamed(server, server.project("renamed-labels", TEXTS[:1]))
    places["done"] = server.project("one-held", TEXTS[:1])
    places |= _under_way(server) | _demo_ids(server) | _exchange(server)
    faulty = [{"text": TEXTS[0], "gold": "splendid"}, {"text": ""}, {"text": TEXTS[4]}]
    batch = server.api("POST", f"projects/{places['single']}/import/?strict=0", faulty)
    places["faulty"] = batch["id"]
    invitation = server.api("POST", f"projects/{DEMO}/invitations/", {"role": "reviewer"})
    places["invitation"] = invitation["link"].removeprefix(server.address)
    places["bulk"] = _in_bulk(server, places["single"])
    page = open_page(server, browser, "manager")
    places |= _prompts(server, page, places["audited"]) | prepare_sites(server, page)
    places["columns"] = _uploaded(page, places["empty"], folder)
    places |= _as_manager(page) | _as_operator(open_page(server, browser, "operator"))
    places["reset"] = _reset_address(server, open_page(server, browser, None))
    return places


def _renamed(server: Server, slug: str) -> str:
    """The page of a change of labels that is through, or on its way."""
    name = server.api("GET", f"projects/{slug}/")["schema"]["labels"][0]["name"]
    asked = {"operations": [{"op": "rename", "label": name, "to": f"{name} (renamed)"}]}
    begun = server.api("POST", f"projects/{slug}/schema-changes/", asked)
    return f"/p/{slug}/labels/changes/{begun['id']}/"


def _in_bulk(server: Server, slug: str) -> str:
    """Items put first by hand, and a saved filter; where the job's page is."""
    doubtful = {"name": "Doubtful, long", "query": {"stage": "doubtful", "q": "the"}}
    server.api("POST", f"projects/{slug}/filters/", doubtful)
    job = server.api("POST", f"projects/{slug}/bulk/", {"action": "promote"})["id"]
    path = f"projects/{slug}/bulk/{job}/"
    until(lambda: server.api("GET", path)["status"] == "done", "the bulk job")
    return f"/p/{slug}/bulk/{job}/"


def _project_of(server: Server, task: str, schema: dict[str, Any]) -> str:
    slug = f"kind-{task.replace('_', '-')}"
    plan = {"slug": slug, "name": f"Stays, {task}", "schema": schema, "blind_share": 0}
    server.api("POST", "projects/", plan)
    rows: list[dict[str, Any]] = [{"id": f"{task}-{n}", "text": t} for n, t in enumerate(TEXTS)]
    for row, gold in zip(rows, GOLD.get(task, []), strict=False):
        row["gold"] = gold
    if task == "per_item":
        for row in rows:
            row |= {"question": "Will this guest come back?", "options": ["Yes", "No", "Unclear"]}
    server.api("POST", f"projects/{slug}/import/", rows)
    server.run(slug)
    return slug


def _audited(server: Server) -> str:
    """People see only what is in doubt; half of the rest is audited, and answered."""
    slug, texts, golds = "audited-stays", TEXTS[:4], GOLD["single"]
    schema = SCHEMAS["single"]
    plan = {"slug": slug, "name": "Stays, audited", "schema": schema, "blind_share": 0}
    server.api("POST", "projects/", plan)
    rows = [
        {"id": f"stay-{n}", "text": f"{texts[n % 4]} Room {n}.", "gold": golds[n % 4]}
        for n in range(120)
    ]
    server.api("POST", f"projects/{slug}/import/", rows)
    server.run(slug)
    server.api("PATCH", f"projects/{slug}/plan/", {"review_scope": "doubtful"})
    rule = {"flags": ["unparsed"], "bounds": {"uncertainty": 0.6}, "audit": 0.5}
    server.api("PUT", f"projects/{slug}/routing/", {"rule": rule, "apply": True})
    return slug


def _under_way(server: Server) -> dict[str, Any]:
    """A run and an experiment that stay under way, and an experiment on the demo that has ended."""
    slug = server.project("under-way", TEXTS)
    silent = {"protocol": "single", "model": "silent"}
    run = server.api("POST", f"projects/{slug}/runs/", silent)
    arms = [silent, silent | {"protocol": "ecj"}]
    going = server.api("POST", "projects/kind-single/experiments/", {"arms": arms})
    arms = [{"protocol": name} for name in ("single", "ecj")]
    asked = {"title": "Which set-up?", "arms": arms}
    made = server.api("POST", f"projects/{DEMO}/experiments/", asked)
    path = f"experiments/{made['id']}/"
    until(lambda: not server.api("GET", path)["going"], "the experiment")
    found = {"going": slug, "live": run["id"], "watched": going["id"]}
    return found | {"tried": made["id"], "arm": made["runs"][0]}


def _exchange(server: Server) -> dict[str, Any]:
    """A saved export, and a webhook whose receiver is away."""
    hooks, exports = f"projects/{DEMO}/webhooks/", f"projects/{DEMO}/exports/"
    asked = {"url": "http://127.0.0.1:9/training?site=hotel", "description": "Nightly training"}
    hook = server.api("POST", hooks, asked)["id"]
    server.api("POST", f"{hooks}{hook}/ping/")
    saved = server.api("POST", exports, {"format": "jsonl"})["id"]
    until(lambda: server.api("GET", f"{exports}{saved}/")["status"] == "done", "the saved export")
    tried = f"{hooks}{hook}/deliveries/?status=failed"
    until(lambda: server.api("GET", tried)["count"], "the test message")
    return {"hook": hook}


def _demo_ids(server: Server) -> dict[str, Any]:
    run = server.api("GET", f"projects/{DEMO}/runs/")["results"][0]
    debates = server.api("GET", f"runs/{run['id']}/debates/")["results"]
    doubtful = next(debate for debate in debates if debate["reasons"])
    person = server.api("GET", f"projects/{DEMO}/quality/")["people"][0]["user"]
    ids = {"run": run["id"], "debate": doubtful["id"], "item": doubtful["item"]}
    return ids | {"person": person}


def _prompts(server: Server, page: Page, slug: str) -> dict[str, Any]:
    """A variant of a prompt, and a trial of it that has come to its end."""
    page.goto(f"/p/{slug}/prompts/ecj-critic/variant/")
    page.get_by_label("Name of the variant").fill("Kinder, and short")
    system = page.get_by_label("System message", exact=True)
    system.fill(
        system.input_value().replace("and the one who disagrees", "and a fair one") + "\nBe short."
    )
    page.get_by_role("button", name="Save as a variant").click()
    variant = page.url.removeprefix(server.address)
    page.get_by_role("link", name="Try it on 10 items").click()
    found = re.search(r"/variants/(\d+)/", page.url)
    assert found
    page.get_by_role("button", name="Start the trial").click()
    page.locator("#trial:not([hx-get])").wait_for()
    trial, (address, query) = page.url.removeprefix(server.address), variant.split("?version=")
    return {
        "variant_id": found[1],
        "variant_diff": f"{address}diff/?after={query}",
        "trial": trial,
    }


def _uploaded(page: Page, slug: str, folder: Path) -> int:
    """A file whose columns nobody has chosen yet."""
    path = folder / "stays.jsonl"
    rows = [{"nr": n, "review": text, "hotel": "Harbour Lantern"} for n, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page.goto(f"/p/{slug}/import/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.wait_for_url(re.compile(r"/import/\d+/"))
    return int(page.url.rstrip("/").rsplit("/", 1)[1])


def _as_manager(page: Page) -> dict[str, Any]:
    page.goto(f"{IN_DEMO}/evaluation/")
    cell = page.locator(".matrix a").first.get_attribute("href")
    page.goto(f"{IN_DEMO}/import/")
    earlier = page.locator(f'a[href^="{IN_DEMO}/import/"]', has_text="jsonl").first
    imported = str(earlier.get_attribute("href")).rstrip("/").rsplit("/", 1)[1]
    # Not in the demo, whose experiments and runs would ask this model.
    page.goto("/p/one-held/providers/new/?kind=ollama")
    page.get_by_label("Model", exact=True).fill("llama")
    page.get_by_role("button", name="Save").click()
    edit = page.get_by_role("link", name="Edit").get_attribute("href")
    model = page.get_by_role("link", name="llama", exact=True).get_attribute("href")
    # Held in a page that stays open: the queue of this project has nothing for others.
    page.goto("/p/one-held/review/")
    return {"cell": cell, "imported": imported, "own_provider": edit, "own_model": model}


def _as_operator(page: Page) -> dict[str, Any]:
    page.goto("/providers/")
    provider = page.get_by_role("link", name="Edit").first.get_attribute("href")
    model = page.get_by_role("link", name="silent").first.get_attribute("href")
    return {"provider": provider, "model": model}


def _reset_address(server: Server, page: Page) -> str:
    """The link in the mail that the server's console shows."""
    server.manage("create_user", "forgetful", "--email", "forgetful@example.org")
    page.goto("/accounts/password/reset/")
    page.get_by_label("E-mail").or_(page.get_by_label("Email")).first.fill("forgetful@example.org")
    page.locator("main form button[type=submit]").click()
    log, link = server.folder / "server.log", re.compile(r"/accounts/password/reset/key/\S+")
    found = until(lambda: link.search(log.read_text()), "the mail")
    return str(found.group())
