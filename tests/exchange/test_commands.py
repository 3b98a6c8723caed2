"""import_items, import_labels and export_labels on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.labels.models import Gold, Label
from tests.exchange.helpers import imported, ledger, lines, written
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def run(capsys: pytest.CaptureFixture[str], *args: Any, **options: Any) -> dict[str, Any]:
    call_command(*map(str, args), json=True, **options)
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_import_items_prints_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = ProjectFactory.create()
    path = written(tmp_path, b"key;said;mood\n1;a;good\n2;;bad\n", "x.csv")
    result = run(
        capsys, "import_items", project.slug, path,
        text_column="said", id_column="key", gold_column="mood",
    )  # fmt: skip
    assert (result["created"], result["failed"], result["errors"][0]["row"]) == (1, 1, 3)
    assert ledger(project)[0]["gold"] == "good"
    columns = {"text_column": "said", "id_column": "key", "gold_column": "mood"}
    call_command("import_items", project.slug, str(path), **columns)
    words = capsys.readouterr().out
    assert "Read 2 rows: 0 created, 1 unchanged" in words
    assert "row 3, text: " in words


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "x.csv", "empty"),
        (b"a^b\n1^2\n", "x.csv", "The only row could not be used"),
        (b"a^b\n1^2\n3^4\n", "x.csv", "None of 2 rows could be used"),
        (b"x", "x.doc", "unknown type"),
        (b'{"text": "a", "gold": "ugly"}', "x.jsonl", r"'ugly' \(1\)"),
    ],
)
def test_bad_input_ends_in_one_line(
    tmp_path: Path, content: bytes, name: str, message: str
) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(CommandError, match=message) as raised:
        call_command("import_items", ProjectFactory.create().slug, str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("command", ["import_items", "import_labels"])
def test_a_missing_file_or_project_is_told(command: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no file"):
        call_command(command, ProjectFactory.create().slug, str(tmp_path / "none.csv"))
    with pytest.raises(CommandError, match="no project"):
        call_command(command, "nowhere", str(tmp_path / "none.csv"))


def test_export_labels_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a", "gold": "good"}, {"id": "2", "text": "b"}))
    target = tmp_path / "out"
    result = run(capsys, "export_labels", project.slug, format="csv", output=str(target))
    assert (result["items"], result["bytes"]) == (2, target.stat().st_size)
    result = run(capsys, "export_labels", project.slug, output=str(target), only="gold")
    assert result["items"] == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out"]


def test_an_export_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    slug = ProjectFactory.create().slug
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_labels", slug, output=str(tmp_path / "no" / "out"))
    with pytest.raises(CommandError, match="'xml'"):
        call_command("export_labels", slug, format="xml", output=str(tmp_path / "out"))


def label_row(item: str, who: str, kind: str, label: str, **more: str) -> dict[str, str]:
    return {"item_id": item, "annotator_id": who, "annotator_type": kind, "label": label, **more}


LONG = lines(
    label_row("1", "w1", "human", "good", gold="good"),
    label_row("1", "w1", "human", "bad", gold="good"),
    label_row("1", "g4", "llm", "bad", gold="good"),
    label_row("2", "w1", "crowd", "good", gold="bad"),
    label_row("2", "w2", "expert", "ugly"),
    label_row("9", "w2", "expert", "good"),
    label_row("2", "w3", "martian", "good"),
    {"annotator_id": "w3", "label": "good"},
)


def test_import_labels_reads_the_long_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a"}, {"id": "2", "text": "b"}))
    path = written(tmp_path, LONG, "labels.jsonl")
    result = run(capsys, "import_labels", project.slug, path)
    assert (result["created"], result["unchanged"], result["conflicts"], result["failed"]) == (
        3,
        0,
        1,
        4,
    )
    assert result["gold_created"] == 2
    assert [(error["row"], error["field"]) for error in result["errors"]] == [
        (5, "label.value"), (6, "item_id"), (7, "label.kind"), (8, "item_id"),
    ]  # fmt: skip
    assert result["conflict_rows"][0]["row"] == 2
    kinds = Label.objects.order_by("pk").values_list("annotator__kind", "value")
    assert list(kinds) == [("crowd", "good"), ("llm", "bad"), ("crowd", "good")]
    assert list(Gold.objects.order_by("pk").values_list("value", flat=True)) == ["good", "bad"]
    result = run(capsys, "import_labels", project.slug, path)
    assert (result["created"], result["unchanged"], result["gold_created"]) == (0, 3, 0)


@pytest.mark.parametrize("word", ["true", "TRUE", "yes", "1"])
def test_a_row_may_say_that_it_revises_whatever_its_annotator_said_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a"}))
    head = "item_id,annotator_id,annotator_type,label,supersedes\n"
    content = f"{head}1,w,crowd,good,\n1,w,crowd,bad,{word}\n1,w,crowd,good,{word}\n".encode()
    path = written(tmp_path, content, "again.csv")

    result = run(capsys, "import_labels", project.slug, path)

    assert (result["created"], result["conflicts"], result["failed"]) == (3, 0, 0)
    values = Label.objects.order_by("pk").values_list("value", flat=True)
    assert list(values) == ["good", "bad", "good"]
    first, second, third = Label.objects.order_by("pk")
    assert (second.supersedes, third.supersedes) == (first, second)

    result = run(capsys, "import_labels", project.slug, path)
    assert (result["created"], result["unchanged"], result["conflicts"]) == (0, 3, 0)


def test_labels_of_items_that_are_not_there_are_bad_input(tmp_path: Path) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "another", "text": "a"}))
    path = written(tmp_path, LONG, "labels.jsonl")
    with pytest.raises(CommandError, match="import it first"):
        call_command("import_labels", project.slug, str(path))


@pytest.mark.parametrize("named", [" 1 ", 1, 1.0])
def test_labels_find_their_item_by_the_id_that_items_keep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], named: object
) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": named, "text": "a"}))
    label = {"item_id": named, "annotator_id": "w", "label": "good"}
    result = run(capsys, "import_labels", project.slug, written(tmp_path, lines(label), "l.jsonl"))
    assert (result["created"], result["failed"]) == (1, 0)
