"""Killed while it writes or loads an archive, a worker loses and doubles nothing."""

import subprocess
from pathlib import Path

import pytest

from tests.fakes.stack import MANAGE, ROOT, Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

FILL = """
from tests.factories.archive import FilledProject
FilledProject()
"""
#: Dies in the transaction of a chunk; each chunk is one row.
DIE = """
import os, signal
from apps.exchange.archive import loader, services
loader.CHUNK = 1
calls, insert = 0, loader.Loader._insert
def insert_and_die(self, table, rows):
    global calls
    insert(self, table, rows)
    calls += 1
    if calls == {calls}:
        os.kill(os.getpid(), signal.SIGKILL)
loader.Loader._insert = insert_and_die
"""
REQUEST = """
from pathlib import Path
from apps.exchange.archive.services import request_import, run_import
from apps.exchange.services.imports import store_upload
stored = store_upload([Path({path!r}).read_bytes()])
run_import(request_import(path=stored, file_name="a.zip", actor=None, slug="moved", send=False))
"""
#: As when its lease has lapsed.
RESUME = """
from apps.common.models import Job
from apps.exchange.archive.services import run_import
from apps.exchange.models import ProjectImport
Job.objects.update(lease_until=None, lease_token=None)
row = run_import(ProjectImport.objects.get())
print(row.status, row.message)
"""
#: Dies while it writes the sixth table, then writes the file anew.
SAVE = """
import os, signal
from apps.exchange.archive.export import ProjectArchive
from apps.exchange.saved.services import KIND, save_export
from apps.common.jobs import work_on
from apps.common.models import Job
from apps.exchange.models import SavedExport
from apps.projects.models import Project
calls, read = 0, ProjectArchive._read
def read_and_die(self, table, keys):
    global calls
    calls += 1
    if {die} and calls == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(self, table, keys)
ProjectArchive._read = read_and_die
project = Project.objects.get(slug="filled-0")
export = SavedExport.objects.first() or save_export(
    project=project, actor=None, format_name="archive")
Job.objects.update(lease_until=None, lease_token=None)
work_on(KIND, export.pk)
export.refresh_from_db()
print(export.status, export.stored_name)
"""
COMPARE = """
from pathlib import Path
from apps.projects.models import Project
from tests.factories.archive import content_of, written_archive
there, moved = content_of(Path({path!r})), Project.objects.get(slug="moved")
found = content_of(written_archive(moved, Path({path!r} + "2")))
UIDS = ("uid", "public_key", "receipt", "slug", "run_uid")
for content in (there, found):
    for rows in content.values():
        for row in rows:
            for name in UIDS:
                row.pop(name, None)
print({{name for name in there if there[name] != found[name]}})
"""


def run(stack: Stack, script: str) -> subprocess.CompletedProcess[str]:
    """A process with the script."""
    return subprocess.run(
        [*MANAGE, "shell", "-v", "0", "-c", script],
        cwd=ROOT, env=stack.env | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_a_killed_export_and_a_killed_import_are_whole_in_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with Stack(folder) as stack:
        stack.manage("migrate")
        assert run(stack, FILL).returncode == 0

        assert run(stack, SAVE.format(die=True)).returncode == -9
        saved = run(stack, SAVE.format(die=False))
        assert saved.stdout.startswith("done "), saved.stderr[-2000:]
        path = str(folder / "saved-exports" / saved.stdout.split()[1])

        assert run(stack, DIE.format(calls=7) + REQUEST.format(path=path)).returncode == -9
        assert run(stack, DIE.format(calls=30) + RESUME).returncode == -9
        done = run(stack, DIE.format(calls=0) + RESUME)
        assert done.stdout.startswith("done "), done.stdout + done.stderr[-2000:]
        compared = run(stack, COMPARE.format(path=path))
        assert compared.stdout.strip() == "set()", compared.stdout + compared.stderr[-2000:]
