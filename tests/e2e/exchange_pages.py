"""Webhooks and saved exports among the pages of ``pages``: what is none, what is looked at."""

from typing import Any

from tests.e2e.server import DEMO, Server, until

NOT_PAGES = {
    "saved_create", "saved_delete", "saved_file", "saved_manifest", "saved_verify",
    "webhook_delete", "webhook_deliveries", "webhook_ping", "webhook_replay", "webhook_secret",
    "webhook_switch",
}  # fmt: skip

#: Name, who looks, address, state.
VIEWS = (
    ("saved_list", "manager", f"/p/{DEMO}/export/saved/"),
    ("saved_list", "manager", "/p/{empty}/export/saved/", "empty"),
    ("webhook_list", "manager", f"/p/{DEMO}/webhooks/"),
    ("webhook_list", "manager", "/p/{empty}/webhooks/", "empty"),
    ("webhook_create", "manager", f"/p/{DEMO}/webhooks/new/"),
    ("webhook_detail", "manager", f"/p/{DEMO}/webhooks/" + "{hook}/"),
    ("webhook_detail", "manager", f"/p/{DEMO}/webhooks/" + "{quiet_hook}/", "empty"),
)


def prepare_exchange(server: Server) -> dict[str, Any]:
    """A saved export, a webhook whose receiver is away, and one that was sent nothing."""
    hooks, exports = f"projects/{DEMO}/webhooks/", f"projects/{DEMO}/exports/"
    asked = {"url": "http://127.0.0.1:9/training?site=hotel", "description": "Nightly training"}
    hook = server.api("POST", hooks, asked)["id"]
    server.api("POST", f"{hooks}{hook}/ping/")
    server.api("POST", f"{hooks}{hook}/replay/", {"since": "2020-01-01T00:00:00Z"})
    quiet = server.api("POST", hooks, {"url": "http://localhost:9/", "events": ["run.finished"]})
    saved = server.api("POST", exports, {"format": "jsonl"})["id"]
    until(lambda: server.api("GET", f"{exports}{saved}/")["status"] == "done", "the saved export")
    tried = f"{hooks}{hook}/deliveries/?status=failed"
    until(lambda: server.api("GET", tried)["count"], "the test message")
    return {"hook": hook, "quiet_hook": quiet["id"]}
