"""Where we keep things of our own, files may hold anything: it is taken, and given back."""

import json
from typing import Any

import pytest

from apps.exchange.exporters import FORMATS
from apps.exchange.readers.base import RawRow
from apps.exchange.shapes import label_studio_min
from apps.exchange.shapes.label_studio_min import merge_tasks
from tests.exchange.helpers import exported, fault, imported, ledger, lines
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
    for format_name in FORMATS:
        assert exported(project, format_name)
    (task,) = json.loads(exported(project, "labelstudio"))
    other = ProjectFactory.create()
    imported(other, json.dumps([task]).encode(), "tasks.json")
    assert ledger(other) == ledger(project)


@pytest.mark.parametrize("odd", [7, "x", {"a": 1}, ["x"], [{"uid": "a", "provenance": "x"}]])
def test_odd_rows_of_ours_are_told(odd: Any) -> None:
    row = {"text": "Fine.", "labels": odd}
    task = {"id": 1, "data": {"text": "Fine."}, "meta": {"labelhub": row}}
    assert "labels" in fault(task)[0]


def test_rows_of_one_task_are_held_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio_min, "MOST_CHARS", 1000)
    row = {"annotation_id": 1, "annotator": 1, "lead_time": 1.0, "id": 5, "sentiment": "good"}
    made = (RawRow(number, {**row, "text": chr(65 + number) * 600}) for number in range(5))
    assert [len(row.data.get(label_studio_min.ALL, "x")) for row in merge_tasks(made)] == [3, 2]
