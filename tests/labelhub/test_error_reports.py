"""What Sentry really gets: a fake server on this machine reads the envelope."""

import json
import subprocess
import sys
from pathlib import Path

from tests.fakes.receiver import Receiver
from tests.fakes.stack import ROOT, Stack

TEXT = "The breakfast was cold and the room smelled of smoke."
#: Must not leave the machine.
SECRETS = (
    "breakfast", "lh_secret-key", "the-cookie", "hunter2", "ann@example.org", "203.0.113.5",
    "the-query", "the-path",
)  # fmt: skip
PROGRAM = """
import django
django.setup()
import logging
from django.conf import settings
settings.ALLOWED_HOSTS = ["*"]
from apps.common.commands import prepare_database
prepare_database()
from django.urls import path
from labelhub import urls
from apps.accounts.services import create_user
from django.test import Client

text = {text!r}

def page(request, name):
    local = request.POST["text"]
    try:
        {{}}[local]
    except KeyError as error:
        raise ValueError(f"cannot read {{local!r}}") from error

urls.urlpatterns.insert(0, path("<str:name>/", page))
django.urls.clear_url_caches()
user = create_user(username="hunter2", email="ann@example.org", password="long-enough-1").user
client = Client(raise_request_exception=False)
client.force_login(user)
client.cookies["other"] = "the-cookie"
answer = client.post(
    "/the-path/?q=the-query", {{"text": text}}, REMOTE_ADDR="203.0.113.5",
    headers={{"Authorization": "Token lh_secret-key", "X-Request-ID": "the-request-id"}},
)
assert answer.status_code == 500, answer.status_code
logging.getLogger("apps.x").error("no exception, and {{}}".format(text))
client.get("/api/v1/projects/", REMOTE_ADDR="203.0.113.5")
import sentry_sdk
sentry_sdk.flush(5)
"""


def test_only_type_place_and_id_of_an_error_are_reported(
    data_folder: Path, collector: Receiver
) -> None:
    dsn = collector.address.replace("//", "//public@") + "/1"
    stack = Stack(data_folder, SENTRY_DSN=dsn)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(text=TEXT)],
        cwd=ROOT, env=stack.env, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    sent = "".join(request.content.decode() for request in collector.received)
    assert [secret for secret in SECRETS if secret in sent] == []
    events = [json.loads(line) for line in sent.splitlines() if '"exception"' in line]
    (event,) = events
    assert event["tags"] == {"request_id": "the-request-id"}
    kinds = {value["type"]: value["value"] for value in event["exception"]["values"]}
    assert kinds == {
        "KeyError": "KeyError: '…'", "ValueError": "ValueError: cannot read '…'",
    }  # fmt: skip
    frame = event["exception"]["values"][-1]["stacktrace"]["frames"][-1]
    assert frame["function"] == "page"
    assert "vars" not in frame
    assert not {"request", "user", "breadcrumbs", "extra", "logentry"} & set(event)
