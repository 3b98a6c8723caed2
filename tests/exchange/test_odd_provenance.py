"""Where we keep things of our own, files may hold anything: it is taken, and given back."""

import json
from typing import Any

import pytest

from apps.exchange.exporters import FORMATS
from apps.exchange.readers.base import RawRow
from apps.exchange.rows import RowError
from apps.exchange.shapes import gathered, label_studio_min
from tests.exchange.helpers import exported, imported, ledger, lines
from tests.exchange.test_shapes import fault, good, read
from tests.factories.projects import ProjectFactory

ODD: list[Any] = ["x", 3, None, [], ["x"], {}, {"a": 1}, {"annotation": 4, "at": "b"}, [{"a": []}]]


@pytest.mark.thorough
@pytest.mark.django_db
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["spans", "label_studio", "aside", "comment"])
def test_odd_provenance_keeps_no_export_from_being_made(name: str, odd: Any) -> None:
    project = ProjectFactory.create()
    label = {"annotator": "a", "kind": "crowd", "value": "good", "provenance": {name: odd}}
    label["evidence"] = {"good": ["Fine"]}
    batch = imported(project, lines({"id": "1", "text": "Fine.", "labels": [label]}))
    assert batch.created == 1
    for each in FORMATS:
        assert exported(project, each)
    (task,) = json.loads(exported(project, "labelstudio"))
    other = ProjectFactory.create()
    imported(other, json.dumps([task]).encode(), "tasks.json")
    assert ledger(other) == ledger(project)


@pytest.mark.django_db
@pytest.mark.parametrize("odd", [*ODD, {"columns": 3}, {"columns": {}, "task": 1}])
def test_odd_metadata_hides_no_text(odd: Any) -> None:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "Fine.", "meta": {"label_studio": odd}}))
    (task,) = json.loads(exported(project, "labelstudio"))
    assert task["data"] == {"id": "1", "text": "Fine."}


@pytest.mark.parametrize("odd", [7, "x", {"a": 1}, ["x"], [{"uid": "a", "provenance": "x"}]])
def test_odd_rows_of_ours_are_told(odd: Any) -> None:
    row = {"text": "Fine.", "labels": odd}
    task = {"id": 1, "data": {"text": "Fine."}, "meta": {"labelhub": row}}
    assert "labels" in fault(task)[0]


@pytest.mark.parametrize("number", [None, [1], {"a": 1}, True])
def test_odd_numbers_are_nobodys(number: Any) -> None:
    said = {"type": "choices", "value": {"choices": ["good"]}}
    row = {"text": "Fine.", "labels": []}
    made = {"id": number, "import_id": number, "result": [said]}
    task = {"id": 1, "data": {}, "meta": {"labelhub": row}, "annotations": [made]}
    assert [label.value for label in good(task).labels] == ["good"]


def rows(count: int, **fields: Any) -> list[RawRow]:
    """Annotations of one task, as JSON_MIN has them."""
    told = {"annotation_id": 1, "annotator": 1, "lead_time": 1.0, "id": 5, "sentiment": "good"}
    return [RawRow(at, {**told, **fields}) for at in range(count)]


def test_rows_of_one_task_are_held_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio_min, "MOST_CHARS", 1000)
    made = (RawRow(at, {**rows(1)[0].data, "text": chr(65 + at) * 600}) for at in range(5))
    assert [len(one.data.get(label_studio_min.ALL, "x")) for one in gathered(made)] == [3, 2]


def test_what_a_task_repeats_is_held_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio_min, "MOST_CHARS", 1000)
    same = [*rows(1, text="x" * 900), *rows(9, text="".join(["x"] * 900))]
    (joined,) = gathered(same)
    parts = joined.data[label_studio_min.ALL]
    assert len(parts) == 10
    assert all(part["text"] is parts[0]["text"] for part in parts)


@pytest.mark.parametrize("odd", [7, "abc", {}])
def test_a_column_of_the_name_of_ours_is_a_column(odd: Any) -> None:
    row = {**rows(1)[0].data, "text": "Fine.", label_studio_min.ALL: odd}
    assert good(row, answer="sentiment").labels[0].value == "good"


@pytest.mark.parametrize("odd", [3, [3], [None], [{"value": 3}], [{}], {"a": 1}])
def test_odd_options_are_told_wherever_labels_are_read_by_them(odd: Any) -> None:
    part = {"start": 0, "end": 4, "text": "Fine", "labels": ["x"]}
    said = {"result": [{"type": "labels", "value": part}]}
    task = {"id": 1, "data": {"text": "Fine.", "choices": odd}, "annotations": [said]}
    record = {"fields": {"text": "Fine.", "choices": odd}, "suggestions": {"q": {"value": "x"}}}
    for row in (task, record):
        assert isinstance(read(row, {"task": "per_item"}), RowError)
