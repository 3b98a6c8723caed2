"""Columns of Label Studio's tasks beside the answers of people: neither labels nor gold."""

import json
from typing import Any

import pytest

from apps.exchange.columns import ColumnMap
from apps.exchange.readers.base import RawRow
from apps.exchange.rows import ItemRow, read_row
from apps.exchange.shapes.label_studio_min import merge_tasks
from labelhub.core.schema import parse_schema
from tests.exchange.helpers import imported, ledger
from tests.factories.projects import ProjectFactory

FEELINGS = {"task": "single", "labels": ["Positive", "Negative"]}
SET = {**FEELINGS, "task": "multi"}
SAID = {
    "annotator": 1, "annotation_id": 1, "created_at": "2026-11-20T10:00:00Z",
    "updated_at": "2026-11-20T10:00:00Z", "lead_time": 1.0,
}  # fmt: skip
#: As JSON_MIN writes it: the task's data, its id, what was answered, by whom.
ROW = {"text": "a", "label": "Negative", "id": 1, "sentiment": "Positive", **SAID}
#: As tables are written: all columns in the order of the alphabet.
TABLE = """annotation_id,annotator,created_at,id,label,lead_time,sentiment,text,updated_at
1,1,2026-11-20T10:00:00Z,1,Negative,,Positive,a,2026-11-20T10:00:00Z
,,,2,Negative,,,b,
"""
QUOTE = {"start": 0, "end": 1, "text": "a", "labels": ["Negative"]}


def answers_of(*rows: dict[str, Any], schema: Any = FEELINGS, **chosen: str) -> Any:
    """What the task's annotations say, and where and why it was refused else."""
    (joined,) = merge_tasks(RawRow(number, row) for number, row in enumerate(rows, 1))
    found = read_row(joined, ColumnMap(chosen), parse_schema(schema))
    if isinstance(found, ItemRow):
        return [label.value for label in found.labels]
    return found.field, found.message


def test_the_order_of_json_min_tells_answers_from_data() -> None:
    empty = {"text": "a", "label": "Negative", "id": 1, **SAID}
    two = [{**ROW, "annotation_id": 2}, {**empty, "created_at": "2026-11-19T10:00:00Z"}]
    odd = {"text": "a", "confidence": 0.1, "quotes": [QUOTE], "meta": "m", "id": 1,
           "sentiment": "Positive"}  # fmt: skip
    cases: list[tuple[str, Any, Any]] = [
        ("a column named label", answers_of(ROW), ["Positive"]),
        ("nothing answered", answers_of(empty), [None]),
        ("one of two answered", answers_of(*two), [None, "Positive"]),
        ("no answer to a set", answers_of(empty, schema=SET), [None]),
        ("an answer named as a field",
         answers_of({"text": "a", "id": 1, "choices": "Positive", **SAID}),
         ["Positive"]),
        ("the time of the task", answers_of({"created_at": 1, **ROW}), ["Positive"]),
        ("an id of the task's own", answers_of({"id": 1, "text": "a", "label": "Positive", **SAID}),
         ["Positive"]),
        ("data before the text", answers_of({"id": 1, "lang": "Negative", "text": "a",
                                       "label": "Positive", **SAID}), ["Positive"]),
        ("a chosen column", answers_of(ROW, answer="label"), ["Negative"]),
    ]  # fmt: skip
    assert [(name, found) for name, found, wanted in cases if found != wanted] == []
    found = read_row(RawRow(1, {**odd, **SAID}), ColumnMap(), parse_schema(FEELINGS))
    assert isinstance(found, ItemRow)
    (label,) = found.labels
    assert (label.value, label.confidence, label.evidence) == ("Positive", None, {})
    assert found.meta == {"confidence": 0.1, "quotes": [QUOTE], "meta": "m"}


def test_between_two_columns_nobody_guesses() -> None:
    own_id = {"id": 1, "text": "a", "label": "Negative", "sentiment": "Positive", **SAID}
    in_order = dict(sorted(ROW.items()))
    cases = {
        "an id of the task's own": answers_of(own_id),
        "one column that our export does not have": answers_of(
            {"id": 1, "text": "a", "stars": "Negative", **SAID}
        ),
        "names in order": answers_of(in_order),
        "two controls": answers_of({**ROW, "topic": "Negative"}),
    }
    assert [name for name, found in cases.items() if "Which column" not in found[1]] == []
    assert "--answer" in cases["names in order"][1]
    assert "label, sentiment" in cases["names in order"][1]
    assert (
        answers_of(in_order, answer="sentiment")
        == answers_of(own_id, answer="sentiment")
        == ["Positive"]
    )


@pytest.mark.django_db
def test_gold_is_what_was_chosen_as_such() -> None:
    task = {"id": 1, "data": {"text": "a", "label": "Negative"}}
    chosen = {"answer": "sentiment", "gold": "label"}
    cases = [
        (json.dumps([task]), "x.json", {}, None),
        (json.dumps([task]), "x.json", chosen, "Negative"),
        (json.dumps([ROW]), "x.json", {}, None),
        (json.dumps([ROW]), "x.json", chosen, "Negative"),
        (TABLE, "x.csv", chosen, "Negative"),
    ]
    for content, name, columns, gold in cases:
        project = ProjectFactory.create(definition=FEELINGS)
        imported(project, content.encode(), name, columns=columns)
        rows = ledger(project)
        assert [row["gold"] for row in rows] == [gold] * len(rows), (content, columns)
        assert (rows[0]["meta"].get("label") == "Negative") == (gold is None), (content, columns)
