"""Import, run, wait, export and the queue against a real server with its worker and the offline
model; and the guide's examples."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from labelhub_client import Client, NotAuthenticated, Progress, exchange
from tests.client.helpers import KEY, Served
from tests.fakes.texts import reviews

pytestmark = pytest.mark.timeout(120)

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "client.md"
LABELS = ["Food", "Service", "Price", "Cleanliness"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test works; with a file of items."""
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(row) for row in reviews(6)]
    (tmp_path / "reviews.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.mark.thorough
def test_from_a_file_to_a_dataframe_in_five_lines(served: Served, folder: Path) -> None:
    served.client().create_project("five", task="multi", labels=LABELS)
    address, key = served.address, served.key

    client = Client(address, key)
    project = client.project("five")
    project.import_items("reviews.jsonl")
    project.preannotate(protocol="vote").wait()
    frame = project.export().to_dataframe()

    assert len(frame) == 6
    assert frame["text"].notna().all()
    labels = project.export().to_dataframe(per="label")
    assert set(labels["kind"]) == {"llm"}
    assert labels["offline"].all()
    client.close()


@pytest.mark.thorough
def test_a_run_tells_how_far_it_is_and_people_answer(served: Served, folder: Path) -> None:
    reports: list[Progress] = []
    with Client(served.address, served.key, progress=reports.append) as client:
        project = client.create_project("people", task="multi", labels=LABELS)
        assert project.import_items(folder / "reviews.jsonl").created == 6
        run = project.preannotate(protocol="single", limit=4)
        assert run.wait(timeout=100).progress.done == 4
        answered = 0
        while task := project.next():
            assert project.submit(task, ["Food"]).value == ["Food"]
            answered += 1
        assert answered >= 2
        assert len(project.export(only="gold").to_dataframe()) == answered
        path = project.export("parquet").save(folder / "all.parquet")
    assert path.read_bytes().startswith(b"PAR1")
    assert {report.what for report in reports if report.ended} == {
        "Import",
        "Export",
        f"Run {run.id}",
    }


@pytest.mark.thorough
def test_many_rows_come_in_parts(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ROWS_OF_PART", 500)
    reports: list[Progress] = []
    with Client(served.address, served.key, progress=reports.append) as client:
        project = client.create_project("many", task="text")
        made = (
            {"id": f"{number}", "text": f"Text {number}" if number % 100 else ""}
            for number in range(1100)
        )
        outcome = project.import_items(made)
        assert (outcome.rows, outcome.created, outcome.failed) == (1100, 1089, 11)
        assert [fault.row for fault in outcome.errors] == [
            number + 1 for number in range(0, 1100, 100)
        ]
        assert [report.done for report in reports] == [0, 500, 1000, 1100, 1100]
        assert sum(1 for _ in project.export().rows()) == 1089


@pytest.mark.thorough
def test_a_wrong_key_is_told_by_a_real_server(served: Served) -> None:
    with Client(served.address, KEY) as client, pytest.raises(NotAuthenticated) as raised:
        list(client.projects())
    assert KEY not in str(raised.value)


@pytest.mark.thorough
def test_the_guides_examples_work(
    served: Served, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, Any] = {"key": served.key}
    for block in blocks:
        code = block.replace("http://127.0.0.1:8000", served.address)
        exec(compile(code, GUIDE.name, "exec"), names)  # noqa: S102 - our own guide
    printed = capsys.readouterr().out
    assert "1 created; [(2, 'The text is empty.')]" in printed
    assert "2 of 2" in printed
    assert "boss manager" in printed
    assert "[('value'," in printed
    assert (folder / "gold.csv").read_text(encoding="utf-8-sig").count("\n") > 5
