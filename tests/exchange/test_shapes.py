"""Rows of doccano, Argilla and Label Studio's JSON_MIN: known by their shape, faults by place."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.exchange.rows import ItemRow
from apps.exchange.selectors import preview_batch
from apps.exchange.services.imports import receive_upload, store_upload
from apps.exchange.shapes import SHAPES, shape_of
from apps.labels.models import Label
from tests.exchange.helpers import counts, fault, good, imported, lines, read
from tests.factories.projects import ProjectFactory

TAGS = {"task": "multi", "labels": ["PER", "LOC"]}


def title_of(row: dict[str, Any]) -> str:
    """Whose row it is."""
    shape = shape_of(row)
    return shape.title if shape else ""


DOCCANO: dict[str, Any] = {
    "id": 3,
    "text": "Ann is in Rome",
    "label": ["good"],
    "Comments": ["hm"],
    "src": "x",
}


def test_doccanos_categories_are_what_was_decided() -> None:
    found = good(DOCCANO)
    assert title_of(DOCCANO) == "doccano"
    assert (found.external_id, found.gold, found.labels) == ("3", "good", ())
    assert found.meta == {"Comments": ["hm"], "src": "x"}
    assert good({**DOCCANO, "label": []}).gold is None
    assert good({**DOCCANO, "label": " "}).gold is None
    assert good({**DOCCANO, "user": "anna"}).labels[0].annotator.name == "anna"


@pytest.mark.parametrize(
    "spans",
    [
        {"label": [[0, 3, "PER"], [10, 14, "LOC"]]},
        {"labels": [[0, 3, "per"], [10, 14, "LOC"]]},
        {
            "entities": [
                {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3},
                {"id": 2, "label": "LOC", "start_offset": 10, "end_offset": 14},
            ],
            "relations": [],
        },
    ],
)
def test_doccanos_spans_are_evidence_with_their_places(spans: dict[str, Any]) -> None:
    found = good({"text": "Ann is in Rome", **spans}, TAGS)
    (label,) = found.labels
    assert (found.gold, label.value) == (["PER", "LOC"], ["PER", "LOC"])
    assert label.evidence == {"PER": ["Ann"], "LOC": ["Rome"]}
    assert label.provenance["spans"][0] == {"label": "PER", "start": 0, "end": 3}


def test_doccanos_faults_name_the_place() -> None:
    assert fault({**DOCCANO, "label": ["ugly"]})[0] == "label"
    row = {"text": "Ann"}
    assert fault({**row, "label": [[0, 9, "PER"]]}, TAGS)[0] == "label[0]"
    assert fault({**row, "entities": [[0, 1, "X"]]}, TAGS)[0] == "entities[0]"
    assert fault({**row, "entities": [[0, 1]]}, TAGS)[0] == "entities[0]"
    assert fault({**row, "cats": ["good"], "label": ["bad"]})[0] == "cats"
    assert good({**row, "cats": ["good"], "label": ["ugly"]}, answer="cats").gold == "good"


ARGILLA: dict[str, Any] = {
    "id": "r1",
    "fields": {"review": "Fine 👍 room"},
    "metadata": {"split": "train"},
    "suggestions": {
        "mood": {"value": "good", "score": 0.75, "agent": "m1"},
        "why": {"value": "Because.", "score": None, "agent": "m1"},
    },
    "responses": {
        "mood": [
            {"value": "bad", "user_id": "u1", "status": "submitted"},
            {"value": "good", "user_id": "u2", "status": "discarded"},
            {"value": "good", "user_id": "u3", "status": "draft"},
        ],
        "evidence": [
            {"value": [{"label": "bad", "start": 0, "end": 4}], "user_id": "u1",
             "status": "submitted"}
        ],
    },
    "vectors": {},
    "_server_id": "s1",
}  # fmt: skip
OVER_REST: dict[str, Any] = {
    "external_id": "r1",
    "fields": {"review": "Fine 👍 room"},
    "suggestions": [
        {"question_name": "mood", "value": "good", "score": 0.75, "agent": "m1", "type": "model"},
        {"question_name": "why", "value": "Because.", "agent": "m1", "type": "model"},
    ],
    "responses": [
        {"user_id": "u1", "status": "submitted",
         "values": {"mood": {"value": "bad"},
                    "evidence": {"value": [{"label": "bad", "start": 0, "end": 4}]}}},
        {"user_id": "u2", "status": "discarded", "values": {"mood": {"value": "good"}}},
        {"user_id": "u3", "status": "draft", "values": None},
    ],
    "metadata": {"split": "train"},
}  # fmt: skip


@pytest.mark.parametrize("row", [ARGILLA, OVER_REST])
def test_argillas_suggestions_and_responses_are_labels(row: dict[str, Any]) -> None:
    found = good(row)
    assert title_of(row) == "Argilla"
    assert (found.external_id, found.text, found.gold) == ("r1", "Fine 👍 room", None)
    assert found.meta["split"] == "train"
    suggested, submitted, discarded, begun = found.labels
    assert (suggested.annotator.kind, suggested.annotator.name, suggested.value) == (
        "model",
        "m1",
        "good",
    )
    assert (suggested.confidence, suggested.rationale) == (0.75, "Because.")
    assert (submitted.annotator.name, submitted.value, submitted.evidence) == (
        "Argilla user u1", "bad", {"bad": ["Fine"]}
    )  # fmt: skip
    assert [label.role for label in (discarded, begun)] == ["skip", "draft"]
    assert discarded.withdrawn


def test_argillas_faults_name_the_place() -> None:
    suggestion = {"value": "ugly", "agent": "m"}
    row = {"fields": {"text": "a"}, "suggestions": {"mood": suggestion}}
    assert fault(row)[0] == "suggestions.mood.value"
    two = {"mood": {"value": "good"}, "topic": {"value": "x"}}
    where, message = fault({**row, "suggestions": two})
    assert (where, "choose which one" in message) == ("suggestions.topic.value", True)
    assert good({**row, "suggestions": two}, answer="mood").labels[0].value == "good"
    row = {"fields": {"text": "a"}, "metadata": {}}
    assert fault({**row, "responses": {"mood": "good"}})[0] == "responses.mood"
    ranked = {"rank": {"value": [{"value": "a", "rank": 1}]}}
    assert "Rankings" in fault({**row, "suggestions": ranked})[1]


MIN: dict[str, Any] = {
    "text": "Ann is in Rome", "id": 4, "mood": "good", "lang": "en", "annotator": 1,
    "annotation_id": 9, "created_at": "2024-05-01T08:00:00Z", "updated_at": "2024-05-01T08:00:00Z",
    "lead_time": 2.5, "quotes": [{"start": 0, "end": 3, "text": "Ann", "labels": ["good"]}],
    "rationale": "Because.",
}  # fmt: skip


@pytest.mark.django_db
def test_a_row_per_annotation_is_an_item_with_them_all() -> None:
    project = ProjectFactory.create()
    other = {**MIN, "annotator": "b@example.org", "annotation_id": 10, "mood": {"choices": ["bad"]}}
    rows = [MIN, other, {**MIN, "id": 5, "annotation_id": 11}]
    batch = imported(project, json.dumps(rows).encode(), "min.json", columns={"answer": "mood"})
    assert (counts(batch), batch.labels_created, batch.errors) == ((2, 0, 0, 0), 3, [])
    labels = Label.objects.filter(item__external_id="4").order_by("pk")
    assert list(labels.values_list("annotator__name", "value")) == [
        ("Label Studio user 1", "good"),
        ("b@example.org", "bad"),
    ]
    first = labels[0]
    assert (first.seconds, first.rationale, first.evidence) == (2.5, "Because.", {"good": ["Ann"]})
    assert first.item.meta == {"lang": "en"}


@pytest.mark.django_db
def test_the_preview_says_what_was_detected_and_what_may_be_chosen() -> None:
    project = ProjectFactory.create()
    path = store_upload([lines(ARGILLA)])
    batch = receive_upload(project=project, actor=None, path=path, file_name="x.jsonl")
    preview = preview_batch(batch)
    assert (preview.detected, preview.choices, preview.questions) == (
        "Argilla", ("review",), ("mood",)
    )  # fmt: skip
    cells = dict(zip(preview.columns, preview.rows[0][1], strict=True))
    assert cells["text"] == "Fine 👍 room"
    assert cells["labels"].startswith("m1: good; Argilla user u1: bad")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.floats(allow_nan=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["value", "choices", "start", "end", "labels", "id"]), inner),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.thorough
@settings(max_examples=150)
@given(data=st.data())
def test_no_shape_of_a_row_is_more_than_a_fault(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from([DOCCANO, ARGILLA, OVER_REST, MIN, STUDIO]))
    name = data.draw(st.sampled_from(sorted(row)))
    changed: dict[str, Any] = {**row, name: data.draw(VALUES)}
    if isinstance(row[name], dict) and row[name]:
        inner = data.draw(st.sampled_from(sorted(row[name])))
        changed[name] = {**row[name], inner: data.draw(VALUES)}
    if isinstance(row[name], list) and isinstance(row[name][0], dict):
        inner = data.draw(st.sampled_from(sorted(row[name][0])))
        changed[name] = [{**row[name][0], inner: data.draw(VALUES)}]
    found = read(changed)
    assert isinstance(found, ItemRow) or "fault of the server" not in found.message


STUDIO: dict[str, Any] = {
    "id": 1,
    "data": {"text": "Ann"},
    "meta": {"a": 1},
    "predictions": [{"id": 3, "model_version": "m", "score": 0.5, "result": []}],
    "annotations": [
        {"id": 2, "completed_by": 1, "ground_truth": True, "lead_time": 2, "was_cancelled": False,
         "parent_prediction": 3, "created_at": "2024-05-01T08:00:00Z", "prediction": {},
         "result": [{"from_name": "m", "type": "choices", "value": {"choices": ["good"]}}]}
    ],
    "drafts": [{"user": "a@example.org", "result": []}],
}  # fmt: skip


def test_every_tool_knows_its_own_rows_only() -> None:
    rows = [STUDIO, MIN, ARGILLA, DOCCANO]
    assert [title_of(row) for row in rows] == [shape.title for shape in SHAPES]
    others: list[dict[str, Any]] = [{"text": "a", "label": ["x"]}, {"fields": {}}, {}]
    assert not any(title_of(row) for row in others)


def test_a_chat_of_argilla_is_its_last_turn_after_its_context() -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    found = good({"fields": {"chat": chat}, "metadata": {}})
    assert (found.text, found.context) == ("Yes?", [{"role": "user", "text": "Hi"}])
    assert good({"fields": {"chat": chat}, "metadata": {}}, text="chat") == found
