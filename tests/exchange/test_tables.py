"""The two tables for people: CSV with one row per item, and with one row per annotation."""

import csv
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command

from apps.accounts.roles import ReviewerKind
from apps.exchange.readers.base import UnreadableFile
from apps.labels.models import Gold, Label
from apps.labels.services import record_label
from apps.projects.models import Item, Project
from tests.exchange.helpers import exported, imported, lines, written
from tests.factories.labels import draft, machine, person
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "researchers.md"
ASPECTS = {"task": "multi", "labels": ["food", "room, view"]}
SCALE = {"task": "ordinal", "labels": [{"name": "low", "point": -1}, {"name": "high", "point": 1}]}


def table(project: Project, name: str, only: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(exported(project, name, only=only).decode().splitlines()))


def cells(row: dict[str, str], *names: str) -> list[str]:
    return [row[name] for name in names]


def aspects() -> Project:
    """A decided item with three opinions of people, an empty set and an unsure one; a bare item."""
    project = ProjectFactory.create(definition=ASPECTS, overlap=5)
    rows = [{"id": "=1+1", "text": "one", "gold": [], "stars": 4}, {"id": "b", "text": "two"}]
    imported(project, lines(*rows))
    item = Item.objects.filter(project=project).order_by("pk")[0]
    record_label(draft(item, machine(project), ["food", "room, view"]))
    record_label(draft(item, person(project), ["food"]))
    record_label(draft(item, person(project), []))
    record_label(draft(item, person(project), ["food"]))
    record_label(draft(item, person(project), None, abstained=True))
    return project


def scale() -> Project:
    """An item with the lowest point by a person, and gold."""
    project = ProjectFactory.create(definition=SCALE)
    imported(project, lines({"id": "1", "text": "a", "gold": -1}))
    record_label(draft(Item.objects.get(project=project), person(project), -1))
    return project


def test_a_set_is_a_column_of_true_and_false_per_label() -> None:
    first, second = table(aspects(), "csv")
    assert list(first) == [
        "text", "id", "gold_food", "gold_room, view",
        "llm_food", "llm_room, view", "labels_llm", "unsure_llm",
        "crowd_food", "crowd_room, view", "labels_crowd", "unsure_crowd",
        "meta_stars", "labelhub",
    ]  # fmt: skip
    assert cells(first, "id", "gold_food", "gold_room, view") == ["'=1+1", "false", "false"]
    assert cells(first, "llm_food", "llm_room, view", "labels_llm") == ["true", "true", "1"]
    assert cells(first, "crowd_food", "crowd_room, view") == ["true", "false"]
    assert cells(first, "labels_crowd", "unsure_crowd", "meta_stars") == ["3", "1", "4"]
    assert cells(second, "gold_food", "llm_food", "labels_crowd") == ["", "", "0"]


def test_a_tie_within_a_kind_is_no_answer() -> None:
    project = ProjectFactory.create(overlap=5)
    imported(project, lines({"id": "1", "text": "a"}))
    item = Item.objects.get(project=project)
    record_label(draft(item, person(project), "good"))
    record_label(draft(item, person(project), "bad"))
    (row,) = table(project, "csv")
    assert cells(row, "crowd", "labels_crowd") == ["", "2"]
    record_label(draft(item, person(project), "bad"))
    assert table(project, "csv")[0]["crowd"] == "bad"


def test_in_the_long_form_bars_separate_labels_and_an_empty_set_is_not_unsure() -> None:
    rows = table(aspects(), "csv_long")
    assert [cells(row, "annotator_type", "label", "unsure") for row in rows] == [
        ["llm", "food|room, view", "false"],
        ["crowd", "food", "false"],
        ["crowd", "", "false"],
        ["crowd", "food", "false"],
        ["crowd", "", "true"],
    ]
    assert {(row["item_id"], row["gold"], row["has_gold"]) for row in rows} == {
        ("'=1+1", "", "true")
    }


def test_each_current_label_is_a_row_with_the_gold_of_its_item() -> None:
    project = ProjectFactory.create(overlap=3)
    imported(project, lines({"id": "=1+1", "text": "a", "gold": "good"}, {"id": "b", "text": "b"}))
    first, second = Item.objects.filter(project=project).order_by("pk")
    record_label(draft(first, machine(project), "good", cost_nanousd=1_500_000, seconds=0.5))
    ada = person(project)
    old = record_label(draft(first, ada, "good"))
    record_label(draft(first, ada, "bad", supersedes_id=old.pk))
    record_label(draft(second, ada, None, abstained=True))
    llm, own, unsure = table(project, "csv_long")
    shown = ("item_id", "annotator_type", "label", "gold", "seconds", "cost_usd")
    assert cells(llm, *shown) == ["'=1+1", "llm", "good", "good", "0.5", "0.0015"]
    assert cells(own, "annotator_type", "label", "cost_usd") == ["crowd", "bad", ""]
    assert cells(unsure, "item_id", "label", "unsure") == ["b", "", "true"]
    (row,) = table(project, "csv_long", only="gold")
    assert cells(row, "item_id", "label", "gold") == ["'=1+1", "", "good"]
    assert exported(ProjectFactory.create(), "csv_long").startswith(b"excerpt,annotator_id,")


@pytest.mark.parametrize(
    ("name", "columns", "wanted"),
    [
        ("csv", ["gold", "gold_name", "crowd", "crowd_name"], ["-1", "low", "-1", "low"]),
        ("csv_long", ["label", "label_name", "gold", "gold_name"], ["-1", "low", "-1", "low"]),
    ],
)
def test_a_scale_point_has_its_number_and_its_name(
    name: str, columns: list[str], wanted: list[str]
) -> None:
    (row,) = table(scale(), name)
    assert cells(row, *columns) == wanted


@pytest.mark.parametrize("name", ["csv", "csv_long"])
@pytest.mark.parametrize("only", ["", "gold"])
def test_no_cell_is_json_and_none_is_a_formula(name: str, only: str) -> None:
    project = aspects()
    context = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi"}]
    meta = {"tags": ["a"], "nested": {"b": 1}, "flag": True, "note": "@x"}
    imported(project, lines({"id": "c", "text": "-3", "context": context, "meta": meta}))
    for row in table(project, name, only):
        assert not [cell for cell in row.values() if cell.startswith(("[", "{", "=", "+", "@"))]


def test_a_conversation_is_a_text_with_a_turn_per_line() -> None:
    project = ProjectFactory.create()
    context = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi"}]
    imported(project, lines({"id": "c", "text": "a", "context": context}))
    (row,) = csv.DictReader(exported(project, "csv").decode().splitlines(keepends=True))
    assert row["context"] == "user: Hello\nassistant: Hi"


def test_the_table_of_items_is_no_import(tmp_path: Path) -> None:
    """Its answers would become metadata, which reviewers see."""
    batch = imported(ProjectFactory.create(), exported(aspects(), "csv"), "x.csv")
    assert (batch.status, "JSON Lines" in batch.message) == ("failed", True)
    path = written(tmp_path, exported(aspects(), "csv"), "x.csv")
    with pytest.raises(Exception, match="JSON Lines") as raised:
        call_command("import_labels", ProjectFactory.create().slug, str(path))
    assert isinstance(raised.value.__cause__, UnreadableFile)


def test_the_long_form_of_sets_and_roles_comes_in_again(tmp_path: Path) -> None:
    project, other = aspects(), ProjectFactory.create(definition=ASPECTS)
    rows = [{"id": "=1+1", "text": "one"}, {"id": "b", "text": "two"}]
    imported(other, lines(*rows))
    expert = person(project, kind=ReviewerKind.EXPERT)
    item = Item.objects.filter(project=project).order_by("pk")[1]
    vote = record_label(draft(item, expert, []))
    record_label(draft(item, expert, ["food"], role="adjudication", supersedes_id=vote.pk))
    path = written(tmp_path, exported(project, "csv_long"), "labels.csv")

    def labels_of(of: Project) -> list[Any]:
        rows = Label.objects.filter(item__project=of).order_by("created_at", "pk")
        names = "annotator__name", "value", "abstained", "role", "supersedes__value"
        return list(rows.values_list(*names))

    given = labels_of(project)
    # Again, and into the project that it came from: nothing changes.
    for target in (other, other, project):
        call_command("import_labels", target.slug, str(path))
        assert labels_of(target) == given
    assert Gold.objects.get(item__project=other).value == []


@pytest.mark.parametrize("value", ["good", "bad"])
def test_a_ruling_stands_beside_the_vote_of_the_same_person(value: str) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a"}))
    expert = person(project, kind=ReviewerKind.EXPERT)
    vote = record_label(draft(Item.objects.get(project=project), expert, "good"))
    ruling = draft(vote.item, expert, value, role="adjudication", supersedes_id=vote.pk)
    record_label(ruling)

    rows = table(project, "csv_long")
    assert [cells(row, "label", "role") for row in rows] == [
        ["good", "vote"],
        [value, "adjudication"],
    ]
    assert cells(table(project, "csv")[0], "gold", "expert", "labels_expert") == [
        value,
        "good",
        "1",
    ]


def test_the_pandas_lines_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = GUIDE.read_text().partition("### Tables for people")[2].partition("\n### ")[0]
    code, *_ = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    project = aspects()
    for name, file in (("csv", "items.csv"), ("csv_long", "annotations.csv"),
                       ("parquet", "project.parquet")):  # fmt: skip
        written(tmp_path, exported(project, name), file)
    found: dict[str, Any] = {"pd": pd}
    exec(code, found)  # noqa: S102 - the guide's own lines
    assert found["items"]["id"].tolist() == ["=1+1", "b"]
    assert set(found["annotations"]["item_id"]) == {"=1+1"}
    assert found["gold"].columns.tolist() == ["gold_food", "gold_room, view"]
    assert found["sets"]["food"].tolist() == [1, 1, 0, 1]
    assert found["matrix"].shape == (1, 4)
    assert found["labels"]["value"].map(list).tolist() == [
        ["food", "room, view"], ["food"], [], ["food"],
    ]  # fmt: skip
