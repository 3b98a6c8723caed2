"""Sign-in at the real, certified ``oidc-provider`` of npm (make test-peers)."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.services import create_api_key
from tests.fakes.stack import free_port

pytestmark = [pytest.mark.peers, pytest.mark.django_db, pytest.mark.timeout(120)]
SCRIPT = Path(__file__).with_name("oidc_provider.mjs")
CALLBACK = "http://testserver/accounts/oidc/callback/"


@pytest.fixture
def issuer(tmp_path: Path, settings: LazySettings) -> Iterator[str]:
    """A provider that runs while the test does."""
    peers = os.environ.get("LABELHUB_PEERS")
    if not peers:
        pytest.skip("needs the real provider: make test-peers")
    (tmp_path / "node_modules").symlink_to(Path(peers).resolve() / "node_modules")
    (tmp_path / "groups.json").write_text(json.dumps(["labelers"]))
    script, port = shutil.copy(SCRIPT, tmp_path), free_port()
    command = ["node", script, str(port), CALLBACK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        while b"ready" not in (line := process.stdout.readline()):
            assert line, "the provider ended"
        cache.clear()
        address = f"http://127.0.0.1:{port}"
        settings.LABELHUB_OIDC = {
            "issuer": address,
            "client_id": "labelhub",
            "secret": "of-the-test-client",
            "name": "Peer",
            "scopes": ["openid", "profile", "email"],
        }
        yield address
        process.terminate()


def returned_to(issuer: str, start: str, name: str) -> str:
    """Where the provider sends the browser, after its two pages: who one is, and consent."""
    browser = requests.Session()
    page = browser.get(start, timeout=10)
    while True:
        action = re.findall(r'<form[^>]+action="([^"]+)"', page.text)[0]
        prompt = re.findall(r'name="prompt" value="(\w+)"', page.text)[0]
        sent = {"prompt": prompt, "login": name, "password": "any"}
        page = browser.post(action, sent, allow_redirects=False, timeout=10)
        while page.is_redirect:
            there = page.headers["Location"]
            if there.startswith(CALLBACK):
                return there
            page = browser.get(urljoin(issuer, there), allow_redirects=False, timeout=10)


def signed_in(browser: Client, issuer: str) -> Any:
    """What Ada's browser gets here when she comes from the provider."""
    start = browser.get("/accounts/oidc/login/?next=/keys/")["Location"]
    assert start.startswith(f"{issuer}/auth?")
    return browser.get(returned_to(issuer, start, "ada"))


def test_a_person_of_the_real_provider_signs_in(client: Client, issuer: str) -> None:
    assert signed_in(client, issuer)["Location"] == "/keys/"
    ada = User.objects.get()
    assert (ada.username, ada.email) == ("ada", "ada@example.org")
    assert SocialAccount.objects.get().provider == issuer
    assert [row.group.name for row in ada.group_members.all()] == ["labelers"]


def test_who_left_the_groups_loses_sessions_and_keys_at_the_next_sign_in(
    client: Client, issuer: str, tmp_path: Path, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_ALLOWED_GROUPS = ["labelers"]
    signed_in(client, issuer)
    key = create_api_key(user=User.objects.get(), name="script").plain
    script = APIClient(HTTP_X_API_KEY=key)
    assert client.get("/keys/").status_code == script.get("/api/v1/projects/").status_code == 200
    (tmp_path / "groups.json").write_text(json.dumps(["former"]))
    assert signed_in(Client(), issuer).status_code == 403
    assert client.get("/keys/").status_code == 302
    assert script.get("/api/v1/projects/").status_code == 401
