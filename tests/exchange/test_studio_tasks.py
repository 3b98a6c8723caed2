"""Label Studio's results one by one, and what is refused by name."""

import json
from typing import Any

import pytest

from apps.labels.models import Label
from tests.exchange.helpers import MOOD, counts, fault, good, imported
from tests.factories.projects import ProjectFactory

CHOICE = {"from_name": "mood", "to_name": "text", "type": "choices"}
TEXT = "Fine 👍 room"


def annotated(*results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A task with one annotation."""
    return {"id": 1, "data": {"text": TEXT}, "annotations": [{"result": [*results], **fields}]}


def chosen(*names: str, **fields: Any) -> dict[str, Any]:
    """A result of a choice."""
    return {**CHOICE, **fields, "value": {"choices": [*names]}}


def quoted(start: Any, end: Any, text: str | None, label: str = "good") -> dict[str, Any]:
    """A result of a marked part of the text."""
    value = {"start": start, "end": end, "labels": [label]}
    quote = value if text is None else {**value, "text": text}
    return {"from_name": "parts", "to_name": "text", "type": "labels", "value": quote}


SCALE = {"task": "ordinal", "labels": ["1", "2", "3"]}
WORDS = {"from_name": "comment", "type": "textarea", "value": {"text": "a"}}


@pytest.mark.parametrize(
    ("definition", "result", "expected"),
    [
        (SCALE, {"type": "rating", "value": {"rating": 2}}, 2),
        (SCALE, {"type": "number", "value": {"number": 2}}, 2),
        ({"task": "text"}, {"type": "textarea", "value": {"text": ["a", "b"]}}, "a\nb"),
        ({"task": "text"}, WORDS, "a"),
        ({"task": "multi", "labels": ["a", "b"]}, chosen("b", "a"), ["a", "b"]),
    ],
)  # fmt: skip
def test_every_kind_of_answer(definition: Any, result: dict[str, Any], expected: Any) -> None:
    assert good(annotated(result), definition).labels[0].value == expected


@pytest.mark.parametrize(
    ("ends", "text", "spans"),
    [
        ((5, 6), "👍", [(5, 6)]),
        ((7, 11), "room", [(7, 11)]),
        ((8, 12), "room", [(7, 11)]),  # counted in UTF-16, as older ones did
        ((0, 4), None, [(0, 4)]),
        ((0, 4), "elsewhere", []),
    ],
)
def test_quotes_are_evidence_wherever_they_are_counted(
    ends: tuple[int, int], text: str | None, spans: list[tuple[int, int]]
) -> None:
    (label,) = good(annotated(chosen("good"), quoted(*ends, text))).labels
    assert label.evidence == {"good": [text or "Fine"]}
    found = label.provenance.get("spans", [])
    assert [(span["start"], span["end"]) for span in found] == spans


def test_words_and_sureness_beside_the_answer() -> None:
    (label,) = good(
        annotated(
            {**chosen("good"), "meta": {"text": ["noted"]}},
            {"from_name": "rationale", "type": "textarea", "value": {"text": ["Because."]}},
            {"from_name": "Comment", "type": "textarea", "value": {"text": ["Hm."]}},
            {"from_name": "confidence", "type": "number", "value": {"number": 0.25}},
            {"from_name": "x", "parentID": "r", "type": "textarea", "value": {"text": ["part"]}},
        )
    ).labels
    assert label.rationale == "noted\nBecause.\npart"
    assert (label.provenance["comment"], label.confidence) == ("Hm.", 0.25)


@pytest.mark.parametrize(
    ("results", "where"),
    [
        ([chosen("ugly")], "result[0].value.choices"),
        ([chosen("good"), chosen("bad", from_name="topic")], "result[1].value.choices"),
        ([chosen("good"), chosen("bad")], "result[1].value.choices"),
        ([quoted(0, 4, None, "PER")], "result[0].value"),
        ([quoted(0, 99, None)], "result[0].value"),
        ([quoted("0", 4, None)], "result[0].value"),
        ([{"type": "relation", "from_id": "a"}], "result[0]"),
        ([{**CHOICE, "type": "taxonomy", "value": {"taxonomy": [["a"]]}}], "result[0]"),
        ([chosen("good", parentID="r1")], "result[0].value.choices"),
        (["good"], "result[0]"),
    ],
)
def test_what_is_not_offered_here_is_refused_where_it_stands(results: Any, where: str) -> None:
    assert fault(annotated(*results))[0] == f"annotations[0].{where}"


SET = {"task": "multi", "labels": ["good", "bad"]}
NOTED = {"from_name": "comment", "type": "textarea", "value": {"text": ["Hm."]}}


@pytest.mark.parametrize("definition", [SET, MOOD, SCALE, {"task": "text"}])
@pytest.mark.parametrize("results", [[], [NOTED]])
def test_an_annotation_without_an_answer_says_nothing(definition: Any, results: Any) -> None:
    if definition == {"task": "text"}:
        results = []  # there a comment is an answer
    (label,) = good(annotated(*results), definition).labels
    assert (label.value, label.abstained, label.withdrawn) == (None, False, True)
    assert label.role == "empty"
    assert label.provenance.get("comment", "") == ("Hm." if results else "")


def test_what_an_annotation_was_made_from_is_told_even_of_bare_ids() -> None:
    made = {"id": 7, "model_version": "m1", "score": 0.5, "result": [chosen("bad")]}
    row = annotated(chosen("good"), parent_prediction=7, prediction=made)
    found = good({**row, "predictions": [7, 8]})
    prediction, annotation = found.labels
    assert (prediction.annotator.name, prediction.value, prediction.confidence) == (
        "m1",
        "bad",
        0.5,
    )
    assert annotation.proposed_from_uid == prediction.uid
    assert found.remarks[0][0] == "predictions"


@pytest.mark.django_db
def test_an_edited_annotation_is_no_unchanged_one() -> None:
    project = ProjectFactory.create()
    assert imported(
        project, json.dumps([annotated(chosen("good"), id=5)]).encode(), "a.json"
    ).created
    again = imported(project, json.dumps([annotated(chosen("bad"), id=5)]).encode(), "a.json")
    assert counts(again) == (0, 0, 1, 0)
    assert Label.objects.filter(item__project=project).count() == 1


def test_options_of_the_task_are_those_of_the_item() -> None:
    row = annotated(chosen("b"))
    row["data"]["choices"] = [{"value": "a"}, {"value": "b"}]
    found = good(row, {"task": "per_item"})
    assert (found.options, found.labels[0].value) == (["a", "b"], "b")
