"""Items in and out through the client, against the real application."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.exchange.api import imports
from apps.exchange.services.imports import run_import
from apps.projects.models import ImportBatch
from apps.projects.models import Project as ProjectRow
from labelhub_client import (
    AnswerLost,
    Client,
    Invalid,
    Progress,
    ProjectClient,
    UnexpectedAnswer,
    WrongUse,
    exchange,
)
from tests.client.helpers import QUICK, problem, scripted
from tests.factories.projects import member

ROWS: list[dict[str, Any]] = [
    {"id": "1", "text": "The food was good.\u2028Really.", "gold": "good"},
    {"id": "2", "text": ""},
    {"id": "3", "text": "=cmd|' /C calc'!A0"},
    {"id": "4", "text": "a\0b"},
    {"id": "5", "text": "half \ud800"},
]


def test_rows_come_in_and_faults_are_told_by_row(managed: ProjectClient) -> None:
    outcome = managed.import_items(ROWS)
    assert (outcome.rows, outcome.created, outcome.failed) == (5, 2, 3)
    assert [(fault.row, fault.field) for fault in outcome.errors] == [
        (2, "text"), (4, "text"), (5, "text"),
    ]  # fmt: skip
    again = managed.import_items(ROWS[:1])
    assert (again.created, again.unchanged, again.status) == (0, 1, "done")


def test_row_numbers_go_on_over_parts(
    managed: ProjectClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exchange, "ROWS_OF_PART", 2)
    outcome = managed.import_items(ROWS[:4])
    assert (outcome.rows, outcome.created) == (4, 2)
    assert [fault.row for fault in outcome.errors] == [2, 4]
    conflicting = [{"id": str(number), "text": f"t{number}"} for number in range(6)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n\n" + "\n".join(json.dumps(row) for row in conflicting))
    outcome = managed.import_items(path)
    assert (outcome.created, outcome.conflicts) == (4, 2)
    assert [fault.row for fault in outcome.conflict_rows] == [4, 6]


def test_what_was_sent_twice_is_in_once(managed: ProjectClient, project: ProjectRow) -> None:
    """What makes an import one that may be repeated, also with labels and without ids."""
    labels = [{"annotator": "ann", "kind": "crowd", "value": "good"}]
    made = [{"text": "a", "labels": labels, "gold": "good"}, {"text": "b", "labels": labels}]
    first, second = managed.import_items(made), managed.import_items(made)
    assert (first.created, first.labels_created) == (2, 2)
    assert (second.created, second.unchanged, second.labels_created) == (0, 2, 0)
    assert len(list(managed.labels())) == 2
    assert len(list(managed.gold())) == 1


def test_strict_keeps_everything_out(managed: ProjectClient, project: ProjectRow) -> None:
    with pytest.raises(Invalid) as raised:
        managed.import_items(ROWS, strict=True)
    assert (raised.value.code, raised.value.errors[0].row) == ("import_failed", 2)
    assert project.items.count() == 0


def test_files_and_frames_come_in_by_their_columns(managed: ProjectClient, tmp_path: Path) -> None:
    table = pd.DataFrame({"key": [1, 2], "said": ["a", "b"], "mood": ["good", None]})
    named: dict[str, Any] = {"id_column": "key", "text_column": "said", "gold_column": "mood"}
    assert managed.import_items(table, **named).created == 2
    for name in ("t.csv", "t.parquet", "t.xlsx"):
        path = tmp_path / name
        write = getattr(table, {"csv": "to_csv", "xlsx": "to_excel"}.get(name[2:], "to_parquet"))
        write(path, index=False)
        assert managed.import_items(path, **named).unchanged == 2
    assert [gold.value for gold in managed.gold()] == ["good"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.pdf", b"%PDF-", "unknown type"),
        ("rows.csv", b"PK\x03\x04", "unpack it"),
        ("rows.jsonl", b"", "nothing was sent"),
        ("r\xf6ws.jsonl", b"\n\n", "empty|no rows"),
    ],
)
def test_a_file_of_no_use_is_told(
    managed: ProjectClient, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Invalid, match=words):
        managed.import_items(path)
    with pytest.raises(WrongUse, match="no option"):
        managed.import_items(path, texts="a")


def test_no_rows_are_told(managed: ProjectClient) -> None:
    with pytest.raises(Invalid, match="nothing was sent"):
        managed.import_items([])


def test_a_large_file_is_waited_for(
    managed: ProjectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 10)
    monkeypatch.setattr("time.sleep", lambda _: run_import(ImportBatch.objects.get().pk))
    outcome = managed.import_items(ROWS[:2])
    assert (outcome.created, outcome.failed) == (1, 1)


def answer(**counts: Any) -> httpx.Response:
    """What an import answers."""
    nothing = dict.fromkeys(["id", *exchange.COUNTS], 0)
    lists: dict[str, Any] = {"errors": [], "conflict_rows": [], "status": "done", "message": ""}
    return httpx.Response(200, json=nothing | lists | counts)


def test_an_import_that_breaks_says_what_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ROWS_OF_PART", 2)
    faults = [{"row": 1, "field": "text", "message": "No."}]
    refused = problem(422, "import_failed", errors=faults)
    client, script = scripted(answer(rows=2, created=2), refused)
    with pytest.raises(Invalid) as raised:
        client.project("moods").import_items([{"text": str(number)} for number in range(5)])
    assert raised.value.errors[0].row == 3
    assert "Rows 1 to 2 are in" in raised.value.__notes__[0]
    assert len(script.seen) == 2


def test_a_row_that_cannot_be_sent_says_what_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ROWS_OF_PART", 2)
    client, _ = scripted(answer(rows=2, created=2))
    rows: list[Any] = [{"text": "a"}, {"text": "b"}, {"text": object()}]
    with pytest.raises(WrongUse, match="Row 3") as raised:
        client.project("moods").import_items(rows)
    assert "Rows 1 to 2 are in" in raised.value.__notes__[0]


def test_parts_are_sent_again_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ROWS_OF_PART", 1)
    lost, done = httpx.ReadError("broke"), answer(rows=1, created=1)
    client, script = scripted(done, lost, done, httpx.Response(503), done)
    outcome = client.project("moods").import_items([{"text": str(number)} for number in range(3)])
    assert (outcome.rows, outcome.created) == (3, 3)
    bodies = [json.loads(request.content)["text"] for request in script.seen]
    assert bodies == ["0", "1", "1", "2", "2"]


def test_a_file_is_read_anew_with_each_attempt(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"text\n" + b"a\n" * 300_000)
    reports: list[Progress] = []
    client, script = scripted(httpx.ReadError(""), answer(rows=1), progress=reports.append)
    client.project("moods").import_items(path)
    size = path.stat().st_size
    assert [len(request.content) for request in script.seen] == [size, size]
    assert script.seen[0].headers["Content-Length"] == str(size)
    assert "Transfer-Encoding" not in script.seen[0].headers
    assert script.seen[0].url.params["name"] == "rows.csv"
    assert [report.done for report in reports if report.done == 256 * 1024] == [256 * 1024] * 2
    assert (reports[-1].done, reports[-1].total, reports[-1].ended) == (size, size, True)


@pytest.mark.parametrize("status", ["failed", "queued"])
def test_a_large_import_that_fails_is_told(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    queued = answer(id=3, status="queued")
    faults = [{"row": 4, "field": "", "message": "No."}]
    failed = answer(id=3, status="failed", message="The file broke.", errors=faults)
    client, script = scripted(failed if status == "failed" else queued, failed)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(Invalid, match="file broke") as raised:
        client.project("moods").import_items([{"text": "a"}])
    assert raised.value.errors[0].row == 4
    assert script.seen[-1].url.path.endswith("/imports/3/" if status == "queued" else "/import/")


def test_an_export_comes_as_rows_a_file_and_frames(managed: ProjectClient, tmp_path: Path) -> None:
    labels = [{"annotator": "ann", "kind": "crowd", "value": "good", "seconds": 2.5}]
    managed.import_items([{**ROWS[0], "labels": labels}, {"id": "2", "text": "b"}])

    first, second = managed.export().rows()
    assert (first["id"], first["text"], first["gold"]) == ("1", ROWS[0]["text"], "good")
    assert (second["gold"], second["labels"]) == (None, [])
    path = managed.export("csv").save(tmp_path / "ledger.csv")
    assert path.read_text(encoding="utf-8-sig").startswith("text,id,gold,")
    frame = managed.export().to_dataframe()
    assert list(frame["id"]) == ["1", "2"]
    labels = managed.export().to_dataframe(per="label")
    assert labels.loc[0, ["item", "annotator", "value", "seconds"]].tolist() == [
        "1", "ann", "good", 2.5,
    ]  # fmt: skip
    assert list(managed.export(only="gold").to_dataframe()["gold"]) == ["good"]
    with pytest.raises(WrongUse, match="no rows"):
        managed.export("csv").to_dataframe()
    with pytest.raises(Invalid, match="format"):
        managed.export("xml").save(tmp_path / "ledger.xml")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.csv"]


def test_what_came_out_goes_in_again(
    managed: ProjectClient, client_of: Callable[[User], Client]
) -> None:
    managed.import_items(ROWS[:1])
    other = client_of(User.objects.get()).create_project(
        "copy", task="single", labels=["good", "bad"]
    )
    assert other.import_items(managed.export().rows()).created == 1
    assert [gold.value for gold in other.gold()] == ["good"]


def test_an_export_that_is_none_is_told() -> None:
    lines = b'{"id": 1}\n[1]\n'
    client, _ = scripted(httpx.Response(200, content=lines))
    with pytest.raises(UnexpectedAnswer, match="no JSON object"):
        list(client.project("moods").export().rows())
    client, _ = scripted(httpx.Response(200, content=b'{"id": 1}\n{"id"'))
    with pytest.raises(AnswerLost, match="middle of a row"):
        client.project("moods").export().to_dataframe()


def test_an_export_is_asked_for_again(tmp_path: Path) -> None:
    client, script = scripted(
        httpx.Response(503), httpx.ReadError(""), httpx.Response(200, content=b"{}\n")
    )
    assert list(client.project("moods").export().rows()) == [{}]
    assert len(script.seen) == 3
    assert QUICK.attempts >= 3


def test_a_viewer_exports(project: ProjectRow, client_of: Callable[[User], Client]) -> None:
    viewer = client_of(member(project, Role.VIEWER)).project(project.slug)
    assert len(viewer.export().to_dataframe()) == 0
