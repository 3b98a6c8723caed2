"""A client that openapi-python-client makes of our document imports whole and works.

The tool is in the environment that ``LABELHUB_PEERS`` names (make test-peers). That the document
keeps the rules it needs is tested daily by tests/common/test_openapi_document.py.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.common.api.docs import openapi_document
from tests.fakes.stack import Stack

pytestmark = [pytest.mark.peers, pytest.mark.timeout(300)]

IMPORT_ALL = """
import importlib, pkgutil
import labelhub_api
found = [module.name for module in pkgutil.walk_packages(labelhub_api.__path__, "labelhub_api.")]
for name in found:
    importlib.import_module(name)
print(*(name.rpartition(".")[2] for name in found if name.startswith("labelhub_api.api.")))
"""
TEN_CALLS = """
import io, sys
from labelhub_api import AuthenticatedClient, models, types
from labelhub_api.api.projects import (
    agreement, evaluation, label_create, project_export, project_import, projects_create,
    projects_gold_list, projects_items_list, queue_next, webhook_create, webhook_list,
)
from labelhub_api.api.runs import run_list, run_start

client = AuthenticatedClient(sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)
here = dict(slug="hotel", client=client)

made = projects_create.sync(
    client=client,
    body=models.NewProjectRequest(
        slug="hotel", task=models.TaskEnum.SINGLE, labels=["good", "bad"], overlap=1
    ),
)
assert made.schema.task == "single", made
rows = io.BytesIO(b'{"id": "a", "text": "Fine."}\\n{"id": "b", "text": "Loud."}\\n')
file = models.UploadRequest(file=types.File(payload=rows, file_name="rows.jsonl"))
assert project_import.sync(body=file, **here).created == 2
items = projects_items_list.sync(**here, page_size=1)
assert (items.count, len(items.results)) == (2, 1), items
handed = queue_next.sync(**here)
answer = models.AnswerRequest(item=handed.item.id, value="good", lease=handed.lease.token)
assert label_create.sync(body=answer, **here).value == "good"
assert [row.value for row in projects_gold_list.sync(**here).results] == ["good"]
run = run_start.sync(body=models.RunRequest(protocol=models.RunProtocolEnum.SINGLE), **here)
assert run.id in {row.id for row in run_list.sync(**here).results}
assert agreement.sync(**here).items >= 1
assert evaluation.sync(**here).project == "hotel"
told = project_export.sync_detailed(format_=models.ProjectExportFormat.JSON, **here)
assert {row["id"] for row in told.parsed} == {"a", "b"}
hook = models.NewWebhookRequest(url="https://example.com/hook")
assert webhook_create.sync(body=hook, **here).secret
assert webhook_list.sync(**here).count == 1
lost = queue_next.sync(slug="nowhere", client=client)
assert (lost.status, lost.code) == (404, "not_found"), lost
"""


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder with the peers' Python and tools."""
    peers = os.environ.get("LABELHUB_PEERS")
    if not peers:
        pytest.skip("needs openapi-python-client: make test-peers")
    return Path(peers).resolve() / "bin"


@pytest.fixture(scope="module")
def folder(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the generated package is."""
    folder = tmp_path_factory.mktemp("generated")
    document = folder / "openapi.json"
    document.write_text(json.dumps(openapi_document(), default=str))
    package = str(folder / "labelhub_api")
    order = ["generate", "--path", str(document), "--meta", "none", "--output-path", package]
    # It formats what it makes with the ruff beside it.
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    tool = programs / "openapi-python-client"
    subprocess.run([str(tool), *order], check=True, env={**os.environ, "PATH": path})
    return folder


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The embedded default; it sends webhooks nowhere: their worker has nothing to tell."""
    with Stack(tmp_path_factory.mktemp("server")) as running:
        yield running


def python(programs: Path, folder: Path, script: str, *arguments: str) -> str:
    """What a script in the peers' Python prints."""
    done = subprocess.run(
        [str(programs / "python"), "-c", script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_every_module_imports_and_every_operation_has_one(programs: Path, folder: Path) -> None:
    modules = set(python(programs, folder, IMPORT_ALL).split())
    wanted = {
        operation["operationId"]
        for methods in openapi_document()["paths"].values()
        for operation in methods.values()
    }
    assert wanted - modules == set()


def test_what_everybody_does_works(programs: Path, folder: Path, stack: Stack) -> None:
    key = stack.people("boss")["boss"]
    _, address = stack.server()
    python(programs, folder, TEN_CALLS, address, key)
