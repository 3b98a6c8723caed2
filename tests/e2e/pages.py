"""Every page of the product in the states people meet it in, and the data that brings it there."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.e2e.server import DEMO, Server, until
from tests.e2e.sites import prepare_sites
from tests.e2e.steps import sign_in

#: Parts of pages, files, and addresses that only take a form.
NOT_PAGES = {
    "account_inactive", "account_set_password", "api_key_revoke", "api_schema",
    "agreement_annotators", "agreement_figure", "agreement_file", "agreement_over_time",
    "experiment_preview", "experiment_progress", "export_download", "health_live",
    "health_ready", "import_progress", "member_add", "member_change", "member_create",
    "member_remove", "model_forget", "project_delete", "predictivity_figure",
    "predictivity_preview", "predictivity_progress", "predictivity_steer", "provider_check",
    "review_debate", "review_next", "review_release", "review_renew", "review_skip",
    "routing_preview", "review_status", "review_submit", "review_undo", "review_unskip",
    "run_budget", "run_cancel", "run_parts", "run_pause", "run_preview", "run_progress",
    "run_resume", "run_transcripts", "run_troubles", "set_theme", "prompt_rendered",
    "prompt_trial_part", "prompt_try_preview", "variant_retire", "author_erase", "author_rule",
    "feature_add", "feature_change", "site_allow_here", "site_consent", "site_delete",
    "site_key_add", "site_key_revoke", "site_live_rows", "site_pay", "site_payout", "widget_config",
    "widget_file", "widget_script",
}  # fmt: skip

#: Pages that people work on; ``make test`` looks at these, ``make e2e`` at all.
SEEN_DAILY = {
    "account_login", "agreement", "debate_detail", "evaluation", "experiment_detail",
    "export_page", "home", "import_create", "item_detail", "item_list", "project_overview",
    "project_people", "project_schema", "project_setup", "review", "run_create", "run_detail",
    "site_live", "site_overview",
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """A page in one state: whose URL name it is, who looks, at which address."""

    name: str
    who: str | None
    address: str
    state: str = ""
    status: int = 200

    @property
    def id(self) -> str:
        """For test names and files."""
        return f"{self.name}-{self.state}" if self.state else self.name

    def at(self, places: Mapping[str, Any]) -> str:
        """The address with its ids filled in."""
        return self.address.format(**places)


IN_DEMO = f"/p/{DEMO}"
SITE, SILENT_SITE = "/p/asked-shop/sites/{site}/", "/p/asked-shop/sites/{silent_site}/"

VIEWS = (
    View("account_login", None, "/accounts/login/"),
    View("account_signup", None, "/accounts/signup/"),
    View("account_reset_password", None, "/accounts/password/reset/"),
    View("account_reset_password_done", None, "/accounts/password/reset/done/"),
    View("account_reset_password_from_key", None, "{reset}"),
    View("account_reset_password_from_key", None, "/accounts/password/reset/key/1-no/", "spoilt"),
    View("account_reset_password_from_key_done", None, "/accounts/password/reset/key/done/"),
    View("account_change_password", "manager", "/accounts/password/change/"),
    View("account_reauthenticate", "manager", "/accounts/reauthenticate/"),
    View("account_logout", "manager", "/accounts/logout/"),
    View("home", "manager", "/"),
    View("home", "stranger", "/", "empty"),
    View("home", "manager", "/?q=breakfast", "search"),
    View("home", "manager", "/?q=xyzzy", "nothing-found"),
    View("project_create", "manager", "/projects/new/"),
    View("project_overview", "manager", IN_DEMO + "/"),
    View("project_overview", "manager", "/p/{empty}/", "empty"),
    View("project_overview", "viewer", IN_DEMO + "/", "viewer"),
    View("project_setup", "manager", IN_DEMO + "/setup/"),
    View("project_schema", "manager", IN_DEMO + "/labels/"),
    View("project_schema", "viewer", IN_DEMO + "/labels/", "viewer"),
    View("project_guideline", "manager", IN_DEMO + "/guideline/"),
    View("project_people", "manager", IN_DEMO + "/people/"),
    View("project_settings", "manager", IN_DEMO + "/settings/"),
    View("import_create", "manager", IN_DEMO + "/import/"),
    View("import_detail", "manager", "/p/{empty}/import/{columns}/", "columns"),
    View("import_detail", "manager", IN_DEMO + "/import/{imported}/", "result"),
    View("import_detail", "manager", "/p/{single}/import/{faulty}/", "faults"),
    View("item_list", "manager", IN_DEMO + "/items/"),
    View("item_list", "manager", IN_DEMO + "/items/?q=xyzzy", "nothing-found"),
    View("item_list", "manager", "/p/{empty}/items/", "empty"),
    View("item_detail", "manager", IN_DEMO + "/items/{item}/"),
    View("run_list", "manager", IN_DEMO + "/runs/"),
    View("run_list", "manager", "/p/{empty}/runs/", "empty"),
    View("run_create", "manager", IN_DEMO + "/runs/new/"),
    View("run_create", "manager", "/p/{empty}/runs/new/", "empty"),
    View("run_create", "manager", "/p/{single}/runs/new/?protocol=courtroom", "courtroom"),
    View("run_create", "manager", "/p/{text}/runs/new/?protocol=cascade", "cascade"),
    View("run_detail", "manager", IN_DEMO + "/runs/{run}/"),
    View("run_detail", "manager", "/p/{going}/runs/{live}/", "live"),
    View("run_detail", "manager", "/p/{going}/runs/{paused}/", "paused"),
    View("run_debate_list", "manager", IN_DEMO + "/runs/{run}/debates/?changed=yes"),
    View("run_debate_list", "manager", IN_DEMO + "/runs/{run}/debates/?q=xyzzy", "nothing-found"),
    View("debate_detail", "manager", IN_DEMO + "/debates/{debate}/"),
    View("debate_calls", "manager", IN_DEMO + "/debates/{debate}/calls/"),
    View("prompt_list", "manager", IN_DEMO + "/prompts/"),
    View("prompt_detail", "manager", IN_DEMO + "/prompts/ecj-critic/"),
    View("prompt_detail", "manager", "{variant}", "variant"),
    View("prompt_detail", "manager", "/p/{empty}/prompts/discussion-annotator/", "empty"),
    View("prompt_diff", "manager", "{variant_diff}"),
    View("variant_create", "manager", IN_DEMO + "/prompts/ecj-critic/variant/"),
    View("prompt_try", "manager", "/p/{audited}/variants/{variant_id}/try/"),
    View("prompt_trial", "manager", "{trial}"),
    View("review", "manager", IN_DEMO + "/review/"),
    View("review", "manager", "/p/{empty}/review/", "empty"),
    View("review", "manager", "/p/{single}/review/", "single"),
    View("review", "manager", "/p/{ordinal}/review/", "ordinal"),
    View("review", "manager", "/p/{text}/review/", "text"),
    View("review", "manager", "/p/{per_item}/review/", "per-item"),
    View("review", "reviewer", "/p/{done}/review/", "done"),
    View("review_plan", "manager", IN_DEMO + "/review/plan/"),
    View("routing_rule", "manager", IN_DEMO + "/routing/"),
    View("routing_rule", "manager", "/p/{empty}/routing/", "empty"),
    View("routing_rule", "manager", "/p/{audited}/routing/", "audits"),
    View("routing_rule", "manager", "/p/{audited}/routing/?audit=10&capacity=30", "trying"),
    View("routing_rule", "viewer", IN_DEMO + "/routing/", "viewer"),
    View("evaluation", "manager", IN_DEMO + "/evaluation/"),
    View("evaluation", "manager", "/p/{empty}/evaluation/", "empty"),
    View("evaluation", "manager", "/p/{single}/evaluation/", "single"),
    View("evaluation", "manager", "/p/{ordinal}/evaluation/", "ordinal"),
    View("evaluation_items", "manager", "{cell}"),
    View("agreement", "manager", "/p/library-desk/agreement/"),
    View("agreement", "manager", "/p/library-desk/agreement/?label=Joke&kind=crowd", "slice"),
    View("agreement_items", "manager", "/p/library-desk/agreement/items/?of=llm&other=crowd"),
    View("agreement", "manager", "/p/{empty}/agreement/", "empty"),
    View("agreement", "manager", "/p/{per_item}/agreement/", "per-item"),
    View("predictivity", "manager", "/p/library-desk/agreement/predictivity/"),
    View("predictivity", "manager", "/p/{empty}/agreement/predictivity/", "empty"),
    View("experiment_list", "manager", IN_DEMO + "/experiments/"),
    View("experiment_list", "manager", "/p/{empty}/experiments/", "empty"),
    View("automation", "manager", IN_DEMO + "/automation/"),
    View("automation", "manager", "/p/{empty}/automation/", "empty"),
    View("experiment_create", "manager", IN_DEMO + "/experiments/new/"),
    View("experiment_create", "manager", "/p/{empty}/experiments/new/", "empty"),
    View("experiment_detail", "manager", IN_DEMO + "/experiments/{tried}/"),
    View("experiment_detail", "manager", "/p/{ordinal}/experiments/{court}/", "ordinal"),
    View("experiment_detail", "manager", "/p/{single}/experiments/{watched}/", "live"),
    View("experiment_debates", "manager", IN_DEMO + "/experiments/{tried}/debates/"),
    View("experiment_use", "manager", IN_DEMO + "/experiments/{tried}/use/{arm}/"),
    View("site_list", "manager", "/p/asked-shop/sites/"),
    View("site_list", "manager", "/p/unasked/sites/", "empty"),
    View("site_list", "manager", IN_DEMO + "/sites/", "other-task"),
    View("site_create", "manager", "/p/unasked/sites/new/"),
    View("site_overview", "manager", SITE),
    View("site_overview", "viewer", SITE + "?days=91", "viewer"),
    View("site_overview", "manager", SILENT_SITE, "empty"),
    View("site_live", "manager", SITE + "live/"),
    View("site_live", "manager", SILENT_SITE + "live/", "empty"),
    View("site_install", "manager", SITE + "install/"),
    View("site_preview", "manager", SITE + "preview/"),
    View("site_preview", "manager", SILENT_SITE + "preview/?mode=chat", "off"),
    View("site_console", "manager", SITE + "console/"),
    View("site_questions", "manager", SITE + "questions/"),
    View("feature_edit", "manager", SITE + "questions/urgency/edit/"),
    View("feature_create", "manager", SITE + "questions/new/"),
    View("site_authors", "manager", SITE + "authors/"),
    View("site_authors", "manager", SILENT_SITE + "authors/", "empty"),
    View("site_author", "manager", "{site_author}"),
    View("site_rewards", "manager", SITE + "rewards/"),
    View("site_rewards", "manager", SILENT_SITE + "rewards/", "empty"),
    View("site_settings", "manager", SITE + "settings/"),
    View("demo_shop", None, "/demo/shop/"),
    View("demo_chat", None, "/demo/chat/"),
    View("export_page", "manager", IN_DEMO + "/export/"),
    View("export_page", "manager", "/p/{empty}/export/", "empty"),
    View("api_keys", "manager", "/keys/"),
    View("provider_list", "operator", "/providers/"),
    View("provider_create", "operator", "/providers/new/"),
    View("provider_edit", "operator", "{provider}"),
    View("model_create", "operator", "{provider}models/new/"),
    View("model_edit", "operator", "{model}"),
    View("table_audit", "manager", "/audit/"),
    View("table_audit", "manager", "/audit/?sample=yes", "sample"),
    View("design_system", "manager", "/design/"),
    View("api_docs", None, "/api/docs/"),
    View("not_found", "manager", "/p/no-such-project/", status=404),
    View("not_found", "manager", "/no/such/page/", "unknown-address", status=404),
    View("forbidden", "viewer", IN_DEMO + "/review/", status=403),
    View("admin", None, "/admin/login/", "login"),
    View("admin", "operator", "/admin/"),
    View("admin", "operator", "/admin/projects/item/", "changelist"),
    View("admin", "operator", "/admin/labels/label/", "ledger"),
    View("admin", "operator", "/admin/accounts/user/add/", "form"),
)

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
    places["audited"] = _audited(server)
    places |= _prompts(server, browser, places["audited"])
    places["done"] = server.project("one-held", TEXTS[:1])
    places |= _runs(server) | _demo_ids(server)
    places |= _experiments(server)
    faulty = [{"text": TEXTS[0], "gold": "splendid"}, {"text": ""}, {"text": TEXTS[4]}]
    batch = server.api("POST", f"projects/{places['single']}/import/?strict=0", faulty)
    places["faulty"] = batch["id"]
    places["columns"] = _uploaded(server, browser, places["empty"], folder)
    places |= _as_manager(server, browser) | _as_operator(server, browser)
    places |= prepare_sites(server, _page(server, browser, "manager"))
    places["reset"] = _reset_address(server, browser)
    return places


def _project_of(server: Server, task: str, schema: dict[str, Any]) -> str:
    slug = f"kind-{task.replace('_', '-')}"
    server.api("POST", "projects/", {"slug": slug, "name": f"Stays, {task}", "schema": schema})
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
    server.api("POST", "projects/", {"slug": slug, "name": "Stays, audited", "schema": schema})
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


def _runs(server: Server) -> dict[str, Any]:
    slug = server.project("under-way", TEXTS)
    ids = {}
    for state in ("paused", "live"):
        plan = {"protocol": "single", "model": "silent"}
        run = server.api("POST", f"projects/{slug}/runs/", plan)
        ids[state] = run["id"]
        if state == "paused":
            server.api("POST", f"runs/{run['id']}/pause/")
    return ids | {"going": slug}


def _experiments(server: Server) -> dict[str, Any]:
    """Three protocols on the demo, a trial of few items, and one that stays under way."""
    tried = _experiment(server, DEMO, "single", "ecj", "discussion")
    court = _experiment(server, "kind-ordinal", "single", "courtroom")
    arms = [{"protocol": "single", "model": "silent"}, {"protocol": "ecj", "model": "silent"}]
    going = server.api("POST", "projects/kind-single/experiments/", {"arms": arms})
    return {
        "tried": tried["id"],
        "arm": tried["runs"][0],
        "court": court["id"],
        "watched": going["id"],
    }


def _experiment(server: Server, slug: str, *protocols: str) -> Any:
    arms = [{"protocol": name} for name in protocols]
    asked = {"title": "Which set-up?", "arms": arms}
    made = server.api("POST", f"projects/{slug}/experiments/", asked)
    at = f"experiments/{made['id']}/"
    until(lambda: not server.api("GET", at)["going"], f"the experiment of {slug}")
    return made


def _demo_ids(server: Server) -> dict[str, Any]:
    run = server.api("GET", f"projects/{DEMO}/runs/")["results"][0]
    debates = server.api("GET", f"runs/{run['id']}/debates/")["results"]
    doubtful = next(debate for debate in debates if debate["reasons"])
    return {"run": run["id"], "debate": doubtful["id"], "item": doubtful["item"]}


def _prompts(server: Server, browser: Browser, slug: str) -> dict[str, Any]:
    """A variant of a prompt, and a trial of it that has come to its end."""
    page = _page(server, browser, "manager")
    page.goto(f"/p/{slug}/prompts/ecj-critic/variant/")
    page.get_by_label("Name of the variant").fill("Kinder, and short")
    told = page.get_by_label("System message", exact=True)
    told.fill(told.input_value().replace("and its sceptic", "and a fair one") + "\nBe short.")
    page.get_by_role("button", name="Keep as a variant").click()
    variant = page.url.removeprefix(server.address)
    page.get_by_role("link", name="Try it on 10 items").click()
    found = re.search(r"/variants/(\d+)/", page.url)
    assert found
    page.get_by_role("button", name="Start the trial").click()
    page.locator("#trial:not([hx-get])").wait_for()
    trial, (address, query) = page.url.removeprefix(server.address), variant.split("?version=")
    page.context.close()
    diff = f"{address}diff/?after={query}"
    return {"variant": variant, "variant_id": found[1], "variant_diff": diff, "trial": trial}


def _page(server: Server, browser: Browser, username: str | None) -> Page:
    page = browser.new_context(base_url=server.address).new_page()
    if username:
        sign_in(page, username, server.passwords[username])
    return page


def _uploaded(server: Server, browser: Browser, slug: str, folder: Path) -> int:
    """A file whose columns nobody has chosen yet."""
    path = folder / "stays.jsonl"
    rows = [{"nr": n, "review": text, "hotel": "Harbour Lantern"} for n, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = _page(server, browser, "manager")
    page.goto(f"/p/{slug}/import/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Continue to the columns").click()
    page.wait_for_url(re.compile(r"/import/\d+/"))
    found = int(page.url.rstrip("/").rsplit("/", 1)[1])
    page.context.close()
    return found


def _as_manager(server: Server, browser: Browser) -> dict[str, Any]:
    page = _page(server, browser, "manager")
    page.goto(f"{IN_DEMO}/evaluation/")
    cell = page.locator(".matrix a").first.get_attribute("href")
    page.goto(f"{IN_DEMO}/import/")
    earlier = page.locator(f'a[href^="{IN_DEMO}/import/"]', has_text="jsonl").first
    imported = str(earlier.get_attribute("href")).rstrip("/").rsplit("/", 1)[1]
    # Held in a page that stays open: the queue of this project has nothing for others.
    page.goto("/p/one-held/review/")
    return {"cell": cell, "imported": imported}


def _as_operator(server: Server, browser: Browser) -> dict[str, Any]:
    page = _page(server, browser, "operator")
    page.goto("/providers/")
    provider = page.get_by_role("link", name="Edit").first.get_attribute("href")
    model = page.get_by_role("link", name="silent").first.get_attribute("href")
    page.context.close()
    return {"provider": provider, "model": model}


def _reset_address(server: Server, browser: Browser) -> str:
    """The link in the mail that the server's console shows."""
    server.manage("create_user", "forgetful", "--email", "forgetful@example.org")
    page = _page(server, browser, None)
    page.goto("/accounts/password/reset/")
    page.get_by_label("E-mail").or_(page.get_by_label("Email")).first.fill("forgetful@example.org")
    page.locator("main form button[type=submit]").click()
    page.context.close()
    log, link = server.folder / "server.log", re.compile(r"/accounts/password/reset/key/\S+")
    found = until(lambda: link.search(log.read_text()), "the mail")
    return str(found.group())
