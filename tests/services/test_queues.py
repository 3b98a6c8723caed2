"""Long imports and what somebody waits for do not share a worker, if operators wish so."""

import pytest

from tests.fakes.client import wait_for
from tests.services.conftest import Site

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]


def test_imports_wait_for_a_worker_of_their_queue_and_messages_do_not(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, slug = site.stack, site.project(2)
    queued = stack.manage(
        "shell", "-v", "0", "-c",
        f"""
from apps.exchange.services.imports import queue_import, receive_upload, store_upload
from apps.projects.models import Project
project = Project.objects.get(slug={slug!r})
path = store_upload([b'{{"text": "row"}}'])
queue_import(receive_upload(project=project, actor=None, path=path, file_name="m.jsonl"))
from tests.factories.authors import PER_ITEM, author_of, message_of, site_with_features
from tests.factories.projects import ProjectFactory
from apps.authors.tasks import launch_asking
asks = ProjectFactory.create(slug="asks", definition=PER_ITEM)
message = message_of(author_of(site_with_features(asks)))
launch_asking(message.pk)
print(message.pk)
""",
    )  # fmt: skip
    message = int(queued.splitlines()[-1])
    done = f"SELECT 1 FROM authors_message WHERE id = {message} AND status <> 'received'"  # noqa: S608
    imports = "SELECT status FROM projects_importbatch WHERE file_name = 'm.jsonl'"
    monkeypatch.setitem(stack.env, "LABELHUB_QUEUES", "interactive,runs")
    interactive = stack.worker()
    heavy = None
    try:
        wait_for(lambda: stack.rows(done), seconds=200, what="the message")
        interactive.stop(seconds=100)
        assert stack.rows(imports) == [("queued",)]
        monkeypatch.setitem(stack.env, "LABELHUB_QUEUES", "heavy")
        heavy = stack.worker()
        wait_for(lambda: stack.rows(imports) == [("done",)], seconds=200, what="the import")
    finally:
        for worker in filter(None, (interactive, heavy)):
            worker.kill()
