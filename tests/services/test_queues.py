"""Long imports and what somebody waits for do not share a worker, if operators wish so."""

import pytest

from tests.fakes.client import wait_for
from tests.services.conftest import Site

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

#: More than a worker has threads.
IMPORTS = 10
ROWS = 3000


def test_imports_that_fill_a_worker_delay_no_message(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, slug = site.stack, site.project(2)
    path = stack.folder / "many.jsonl"
    path.write_text("".join(f'{{"text": "row {row}"}}\n' for row in range(ROWS)))
    queued = stack.manage(
        "shell", "-v", "0", "-c",
        f"""
from pathlib import Path
from apps.exchange.services.imports import queue_import, receive_upload, store_upload
from apps.projects.models import Project
from apps.projects.notifications import notify_end
project = Project.objects.get(slug={slug!r})
content = Path({str(path)!r}).read_bytes()
for number in range({IMPORTS}):
    stored = store_upload([content])
    batch = receive_upload(project=project, actor=None, path=stored, file_name="m.jsonl")
    queue_import(batch)
from tests.factories.authors import author_of, message_of, site_with_features
from apps.authors.tasks import launch_asking
message = message_of(author_of(site_with_features(project=project)))
launch_asking(message.pk)
print(message.pk)
""",
    )  # fmt: skip
    message = int(queued.splitlines()[-1])
    monkeypatch.setitem(stack.env, "LABELHUB_QUEUES", "heavy")
    heavy = stack.worker()
    monkeypatch.setitem(stack.env, "LABELHUB_QUEUES", "interactive,runs")
    interactive = stack.worker()
    try:
        # The broker has given each task to a worker of its queue.
        done = f"SELECT 1 FROM authors_message WHERE id = {message} AND status <> 'received'"  # noqa: S608
        unended = "SELECT count(*) FROM projects_importbatch WHERE status IN ('queued', 'running')"
        wait_for(lambda: stack.rows(done), seconds=60, what="the message")
        assert stack.rows(unended) != [(0,)]
        assert "exchange.import" not in interactive.printed
        wait_for(lambda: stack.rows(unended) == [(0,)], seconds=120, what="the imports")
    finally:
        heavy.kill()
        interactive.kill()
