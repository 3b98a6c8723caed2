"""A run's debates word for word, as a file: on the page, by REST and by command."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.roles import Role
from apps.debates.models import Run
from tests.factories.debates import finished_debate, project_with_items, started_run
from tests.factories.projects import member_api

pytestmark = pytest.mark.django_db
HOSTILE = 'Line\none "quoted"\u2028 <script>'


@pytest.fixture(autouse=True)
def no_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test database is there already."""
    monkeypatch.setattr("apps.common.commands.prepare_database", lambda: None)


def ended(count: int = 3) -> Run:
    """A run whose first item was debated; the others wait."""
    run = started_run(project_with_items(count), "ecj")
    answers = {"extractor": "good", "critic": "bad", "judge": "good"}
    finished_debate(run, answers, text=HOSTILE)
    return run


def parsed(file: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.decode().split("\n")[:-1]]


def test_each_line_is_a_debate_as_rest_gives_it_with_the_text() -> None:
    run = ended()
    client = member_api(run.project, Role.VIEWER)
    answer = client.get(f"/api/v1/runs/{run.pk}/transcripts/", HTTP_ACCEPT="application/x-ndjson")
    assert answer["Content-Type"] == "application/x-ndjson"
    rows = parsed(b"".join(answer))
    first = run.debates.select_related("item").order_by("pk")[0]
    shown = json.loads(client.get(f"/api/v1/debates/{first.pk}/").content)
    assert rows[0] == shown | {"text": first.item.text}
    assert [turn["text"] for turn in rows[0]["turns"]] == [HOSTILE] * 3
    assert [row["status"] for row in rows] == ["done", "waiting", "waiting"]


def test_the_command_writes_the_same(tmp_path: Path) -> None:
    run, target, out = ended(), tmp_path / "debates.jsonl", io.StringIO()
    call = ("export_debates", run.project.slug, "--run", str(run.pk), "--output", str(target))
    call_command(*call, "--json", stdout=out)
    assert json.loads(out.getvalue())["debates"] == len(parsed(target.read_bytes())) == 3
