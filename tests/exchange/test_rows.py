"""From raw rows to item rows: names, shapes, values."""

import json
from typing import Any

import pytest

from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.exchange.helpers import fault, good

MOODS = schema_from_names("single", ["good", "bad"])
ASPECTS = schema_from_names("multi", ["food", "service", "price"])
STARS = schema_from_names("ordinal", ["1", "2", "3"])
FREE = parse_schema({"task": "text", "labels": []})
SAID = {"annotator": "x", "value": "good"}
PER_ITEM = parse_schema({"task": "per_item", "labels": []})


@pytest.mark.parametrize("name", ["id", "item_id", "external_id", "ext_id", "Item ID"])
def test_the_id_goes_by_many_names(name: str) -> None:
    assert good({name: 12, "text": "a"}).external_id == "12"


@pytest.mark.parametrize("name", ["text", "document", "Review", "sentence", "message", "body"])
def test_the_text_goes_by_many_names(name: str) -> None:
    assert good({name: "a"}).text == "a"


def test_equal_texts_without_id_are_one_item() -> None:
    first, two = good({"text": "a", "date": "1"}), good({"text": "a", "date": "2"})
    assert first.external_id == two.external_id
    assert first.content_hash != two.content_hash


def test_a_chosen_column_wins_and_an_empty_choice_is_none() -> None:
    found = good({"text": "a", "note": "b", "label": "strange"}, text="note", gold="")
    assert (found.text, found.gold, found.meta) == ("b", None, {"text": "a", "label": "strange"})


@pytest.mark.parametrize(
    ("schema", "data", "gold"),
    [
        (MOODS, {"gold": "Good"}, "good"),
        (MOODS, {"label": "bad"}, "bad"),
        (MOODS, {"labels": ["good"]}, "good"),
        (MOODS, {"labels": "good"}, "good"),
        (MOODS, {"label": []}, None),
        (MOODS, {"gold": None}, None),
        (ASPECTS, {"aspects": {"service": True, "food": False}}, ["service"]),
        (ASPECTS, {"labels": ["price", "food"]}, ["food", "price"]),
        (ASPECTS, {"gold": "service, food"}, ["food", "service"]),
        (ASPECTS, {"gold": '{"food": true}'}, ["food"]),
        (ASPECTS, {"gold": []}, []),
        (ASPECTS, {"gold": "[]"}, []),
        (ASPECTS, {"gold": ""}, None),
        (ASPECTS, {"gold": " \n"}, None),
        (STARS, {"gold": 2}, 2),
        (STARS, {"gold": "3"}, 3),
        (FREE, {"gold": "as it is, #1"}, "as it is, #1"),
        (PER_ITEM, {"options": ["x", "y"], "gold": "Y"}, "y"),
        (PER_ITEM, {"options": "x | y", "gold": "y"}, "y"),
    ],
)
def test_gold_is_understood_in_every_usual_shape(
    schema: Schema, data: dict[str, Any], gold: Any
) -> None:
    base = {} if schema is not PER_ITEM else {"options": ["x", "y"]}
    assert good({"text": "a", **base, **data}, schema).gold == gold


@pytest.mark.parametrize(
    ("schema", "data", "field", "words"),
    [
        (MOODS, {"gold": "ugly"}, "gold", "'ugly' is not offered"),
        (ASPECTS, {"aspects": {"staff": True}}, "aspects", "staff"),
        (ASPECTS, {"gold": "food, staff"}, "gold", "staff"),
        (ASPECTS, {"gold": "[broken"}, "gold", "not valid JSON"),
        (ASPECTS, {"gold": " , "}, "gold", "names no label"),
        (ASPECTS, {"aspects": {}}, "aspects", "object is empty"),
        (ASPECTS, {"gold": '{"food": 0}'}, "gold", "no true or false for: service, price."),
        (STARS, {"gold": 9}, "gold", "9"),
        (PER_ITEM, {"options": ["x"]}, "options", "two options"),
        (PER_ITEM, {}, "options", "two options"),
        (PER_ITEM, {"options": ["x", "y"], "gold": "z"}, "gold", "'z'"),
        (MOODS, {"options": ["x", "x"]}, "options", "twice"),
        (MOODS, {"options": [1]}, "options", "list of texts"),
        (MOODS, {"text": ""}, "text", "empty"),
        (MOODS, {"text": " \n"}, "text", "empty"),
        (MOODS, {"text": ["a"]}, "text", "must be a string"),
        (MOODS, {"id": {"a": 1}}, "id", "text or a number"),
        (MOODS, {"id": "x" * 201}, "id", "200"),
        (MOODS, {"context": [{"role": "bot", "text": "a"}]}, "context[0].role", "bot"),
        (MOODS, {"context": [{"role": "user"}]}, "context[0].text", "text"),
        (MOODS, {"context": 7}, "context", "list"),
        (MOODS, {"labels": [{"kind": "llm", "value": "good"}]}, "labels[0].annotator", "missing"),
        (MOODS, {"labels": [{"annotator": "x", "value": "no"}]}, "labels[0].value", "'no'"),
        (MOODS, {"labels": [{"annotator": "x"}]}, "labels[0].value", "No value"),
        (MOODS, {"labels": [{**SAID, "kind": "dog"}]}, "labels[0].kind", "dog"),
        (MOODS, {"labels": [{**SAID, "seconds": -1}]}, "labels[0].seconds", "number"),
        (MOODS, {"labels": [{**SAID, "uid": "7"}]}, "labels[0].uid", "UUID"),
        (MOODS, {"labels": [{**SAID, "created_at": "x"}]}, "labels[0].created_at", "time"),
        (MOODS, {"labels": [{**SAID, "created_at": 5}]}, "labels[0].created_at", "time"),
        (
            MOODS,
            {"labels": [{**SAID, "created_at": "0001-01-01T00:00:00+14:00"}]},
            "labels[0].created_at",
            "time",
        ),
        (
            MOODS,
            {"labels": [{**SAID, "created_at": "9999-12-31T23:59:59-14:00"}]},
            "labels[0].created_at",
            "time",
        ),
        (MOODS, {"labels": [{**SAID, "seconds": "soon"}]}, "labels[0].seconds", "number"),
        (MOODS, {"gold_history": [{"basis": "review"}]}, "gold_history[0].value", "No value"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(
    schema: Schema, data: dict[str, Any], field: str, words: str
) -> None:
    where, message = fault({"text": "a", **data}, schema)
    assert where == field
    assert words in message


def test_structures_may_be_json_in_the_cells_of_a_table() -> None:
    whole: dict[str, Any] = {
        "id": "1", "text": "a", "context": [{"role": "user", "text": "b"}], "meta": {"n": 1},
        "options": ["x", "y"], "labels": [{**SAID, "evidence": {"good": ["a"]}}],
        "gold_history": [{"value": "good", "basis": "review"}],
    }  # fmt: skip
    cells = {name: cell if isinstance(cell, str) else json.dumps(cell)
             for name, cell in whole.items()}  # fmt: skip
    assert good(cells) == good(whole)


def test_a_plain_context_is_one_turn_of_the_user() -> None:
    assert good({"text": "a", "context": "before"}).context == [{"role": "user", "text": "before"}]


def test_people_label_unless_the_row_says_otherwise() -> None:
    labels = [
        {"annotator": "w1", "value": "good"},
        {"annotator": "g", "kind": "LLM", "value": "bad"},
        {"annotator": "h", "kind": "human", "value": "bad"},
    ]
    found = good({"text": "a", "labels": labels}).labels
    assert [label.annotator.kind for label in found] == ["crowd", "llm", "crowd"]


def test_labels_by_named_sources_are_annotations() -> None:
    found = good({"text": "a", "labels": {"crowd_majority": "good", "expert_bio": "bad"}})
    labels = [(label.annotator.kind, label.annotator.name, label.value) for label in found.labels]
    assert labels == [("crowd", "crowd_majority", "good"), ("expert", "expert_bio", "bad")]
    assert fault({"text": "a", "labels": {"anna": "good"}})[0] == "labels"


def test_a_dialogue_is_its_last_user_turn_after_what_was_said_before() -> None:
    dialogue = [
        ("user", "Hello"),
        ("assistant", "Yes?"),
        ("user", "A table."),
        ("assistant", "Done."),
    ]
    turns = [{"role": role, "text": text, "acts": ["X"]} for role, text in dialogue]
    found = good({"item_id": "d", "turns": turns})
    assert (found.text, found.meta) == ("A table.", {})
    assert found.context == [
        {"role": "user", "text": "Hello"},
        {"role": "assistant", "text": "Yes?"},
    ]


def test_a_dialogue_in_which_no_user_speaks_is_a_fault() -> None:
    assert fault({"turns": [{"role": "assistant", "text": "Hi"}]})[0] == "turns"
    assert fault({"turns": ["Hi"]})[0] == "turns[0]"
