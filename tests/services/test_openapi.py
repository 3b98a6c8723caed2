"""The server keeps every promise of its OpenAPI document: schemathesis asks, PostgreSQL answers.

There is no worker, so nothing is sent to the addresses that schemathesis makes up for webhooks.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.common.api.docs import openapi_document
from tests.fakes.stack import Redis, Stack, own_database

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

#: One of everything that an address can name, and the keys of who asks for it.
WORLD = """
import json
from apps.accounts.services import create_api_key
from apps.common.commands import prepare_database
from tests.architecture.access_world import build_world
prepare_database()
world = build_world()
keys = {name: create_api_key(user=world.people[name], name="test").plain
        for name in ("operator", "manager")}
told = {"ids": world.ids | {"id": world.ids["pk"]}, "keys": keys, "server": world.server_key}
print(json.dumps(told, default=str))
"""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
#: They would take the rest of the world with them: tried on what is not there.
DESTRUCTIVE = ("DELETE /api/v1/projects/{slug}/", "DELETE /api/v1/sites/{public_key}/")
EXAMPLES = os.environ.get("LABELHUB_OPENAPI_EXAMPLES", "6")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Redis and PostgreSQL for a server; no worker."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        pytest.skip("needs PostgreSQL: make test-services")
    folder: Path = tmp_path_factory.mktemp("openapi")
    redis = Redis(folder)
    with (
        own_database(url) as database,
        Stack(folder, DATABASE_URL=database, REDIS_URL=redis.url) as running,
    ):
        yield running
    redis.kill()


@pytest.fixture(scope="module")
def world(stack: Stack) -> dict[str, Any]:
    """Ids and keys; see WORLD."""
    return dict(json.loads(stack.manage("shell", "-v", "0", "-c", WORLD).splitlines()[-1]))


def configuration(world: dict[str, Any], person: str, known: set[str]) -> str:
    """What schemathesis reads, as TOML: who asks, and names of things that are there."""
    ids = {name: world["ids"][name] for name in known}
    lines = [
        "[headers]",
        f'Authorization = "Bearer {world["keys"][person]}"',
        "[phases.coverage]",
        "unexpected-methods = []",
        "[parameters]",
        *(f'"path.{name}" = {json.dumps(value)}' for name, value in ids.items()),
    ]
    for label, operation in operations():
        if "siteKey" in json.dumps(operation["security"]):
            key = f'headers = {{ Authorization = "Bearer {world["server"]}" }}'
            lines += ["[[operations]]", f'include-name = "{label}"', key]
        if label in DESTRUCTIVE:
            absent = 'parameters = { "path.slug" = "nowhere", "path.public_key" = "nowhere" }'
            lines += ["[[operations]]", f'include-name = "{label}"', absent]
    return "\n".join(lines)


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """``GET /api/v1/…/`` and what the document says of it."""
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def path_names() -> set[str]:
    """The names of all places in addresses."""
    return {
        parameter["name"]
        for _, operation in operations()
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "path"
    }


def hasty_document() -> str:
    """The document as JSON, in which a message's sender hardly ever asks the server to wait."""
    document = json.loads(json.dumps(openapi_document(), default=str))
    document["components"]["schemas"]["PostedMessageRequest"]["properties"]["wait"]["maximum"] = 0.1
    return json.dumps(document).replace('"wait": 5', '"wait": 0')


@pytest.mark.parametrize(
    ("person", "made_up", "phases"),
    [("operator", False, "examples,coverage,fuzzing"), ("manager", True, "fuzzing")],
    ids=["operator-names-what-is-there", "manager-names-anything"],
)
def test_every_operation_answers_as_documented(
    stack: Stack,
    world: dict[str, Any],
    person: str,
    made_up: bool,
    phases: str,
    tmp_path: Path,
) -> None:
    known = {"slug", "public_key"} if made_up else path_names()
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(configuration(world, person, known))
    document = tmp_path / "openapi.json"
    document.write_text(hasty_document())
    server, address = stack.server()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", f"--config-file={settings}", "run"),
            *(str(document), "--url", address, "--checks", ",".join(CHECKS)),
            *("--phases", phases, "--max-examples", EXAMPLES),
            *("--seed", "19", "--generation-deterministic"),
            *("--workers", "1", "--request-timeout", "60", "--continue-on-failure"),
            *("--no-color", "--warnings", "off", "--no-shrink"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=stack.env,
    )
    server.stop()
    assert done.returncode == 0, done.stdout[-200_000:] + done.stderr[-2000:]
