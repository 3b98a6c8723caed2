"""Label schemas: what is read, what is refused, and what counts as an answer."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labelhub.core.schema import (
    COLORS,
    TASKS,
    Schema,
    SchemaError,
    ValueNotOffered,
    fold,
    parse_schema,
    schema_from_names,
    schema_from_studio,
    value_key,
    value_words,
)
from labelhub.core.schema.tasks.multi import split_names
from tests.cases import all_cases

SINGLE = schema_from_names("single", ["entailment", "non-entailment"])
MULTI = schema_from_names("multi", ["Food", "Price", "Staff"])
STARS = schema_from_names("ordinal", ["1", "2", "3"])
ANCHORED = schema_from_names("ordinal", ["poor", "fair", "good"])
TEXT = parse_schema({"task": "text"})
PER_ITEM = parse_schema({"task": "per_item"})


@all_cases(
    ("schema", "raw", "value"),
    [
        (SINGLE, "Entailment", "entailment"),
        (SINGLE, " NON-ENTAILMENT ", "non-entailment"),
        (MULTI, ["price", "Food"], ["Food", "Price"]),
        (MULTI, ["Food", "food"], ["Food"]),
        (MULTI, [], []),
        (MULTI, {"food": True, "Price": False, "Staff": False}, ["Food"]),
        (MULTI, dict.fromkeys(MULTI.names, False), []),
        (STARS, 2, 2),
        (STARS, "2", 2),
        (STARS, 2.0, 2),
        (ANCHORED, "fair", 2),
        (ANCHORED, 3, 3),
        (TEXT, "  Paris ", "Paris"),
    ],
)
def test_an_offered_value_becomes_canonical(schema: Schema, raw: Any, value: Any) -> None:
    assert schema.normalise(raw) == value


@all_cases(
    ("schema", "raw"),
    [
        (SINGLE, "entail"),
        (SINGLE, None),
        (SINGLE, ["entailment"]),
        (SINGLE, 1),
        (MULTI, "Food"),
        (MULTI, ["Food", "Drinks"]),
        (MULTI, [["Food"]]),
        (MULTI, {"Food": 1}),
        (MULTI, {"Drinks": False}),
        (STARS, 4),
        (STARS, True),
        (STARS, float("nan")),
        (STARS, "two"),
        (TEXT, "  "),
        (TEXT, 3),
        (PER_ITEM, " "),
    ],
)
def test_what_is_not_offered_is_refused(schema: Schema, raw: Any) -> None:
    with pytest.raises(ValueNotOffered):
        schema.normalise(raw)


def test_a_per_item_value_is_one_of_the_items_own_options() -> None:
    assert PER_ITEM.normalise("yes", ["Yes", "No"]) == "Yes"
    with pytest.raises(ValueNotOffered, match="Yes, No"):
        PER_ITEM.normalise("maybe", ["Yes", "No"])


def test_an_object_without_a_present_label_is_a_set_only_where_it_names_them_all() -> None:
    with pytest.raises(ValueNotOffered, match=r"^There is no true or false for: Price, Staff\.$"):
        MULTI.normalise({"food": False})
    assert MULTI.normalise({"food": False, "Price": False, "Staff": False}) == []
    assert MULTI.normalise({"food": True}) == ["Food"]


@all_cases(
    ("data", "message"),
    [
        ([], "must be a JSON object"),
        ({"task": "guess"}, "task: must be one of single, multi"),
        ({"task": "single", "labels": ["a"]}, "needs at least 2"),
        ({"task": "multi", "labels": "Food"}, "labels: must be a list"),
        ({"task": "multi", "labels": [3]}, "labels, number 1: must be a name"),
        ({"task": "multi", "labels": [{"name": ""}]}, "number 1, name: must not be empty"),
        ({"task": "multi", "labels": ["Food", "food"]}, "'food' is given twice"),
        ({"task": "multi", "labels": ["a#b"]}, "must not contain '#'"),
        ({"task": "multi", "labels": ["a, b", "B"]}, "'a, b' looks like a list of labels"),
        ({"task": "multi", "labels": ["a, b", "c", "b, d"]}, "because 'b, d' is or begins like"),
        ({"task": "multi", "labels": ["a,"]}, "a comma in 'a,' needs words on both sides"),
        ({"task": "multi", "labels": ["x" * 101]}, "at most 100 characters"),
        ({"task": "multi", "labels": [{"name": "a", "colour": "red"}]}, "unknown field 'colour'"),
        ({"task": "multi", "labels": [{"name": "a", "include": 1}]}, "include: must be text"),
        (
            {"task": "multi", "labels": [{"name": "a", "examples_for": "x"}]},
            "examples_for: must be",
        ),
        ({"task": "multi", "question": 1, "labels": ["a"]}, "question: must be text"),
        ({"task": "multi", "labels": [str(n) for n in range(201)]}, "at most 200"),
        ({"task": "text", "labels": ["a"]}, "has none of its own"),
        ({"task": "ordinal", "labels": [{"name": "a", "point": 1}, "b"]}, "its own number"),
        (
            {"task": "ordinal", "labels": [{"name": "a", "point": "x"}, "b"]},
            "point: must be a number",
        ),
    ],
)
def test_a_faulty_schema_is_refused_by_field(data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        parse_schema(data)


NAMES = st.lists(
    st.text(
        st.characters(exclude_characters=",#|\n\r\t\0", exclude_categories=["Cs", "Cc"]),
        max_size=20,
    )
    .map(str.strip)
    .filter(bool),
    min_size=2,
    max_size=6,
)


STORABLE = st.characters(exclude_characters="\0", exclude_categories=["Cs"])


@given(NAMES, st.sampled_from(["single", "multi"]), st.text(STORABLE, max_size=30))
def test_a_schema_survives_its_json(names: list[str], task: str, words: str) -> None:
    distinct = list({fold(name): name for name in names}.values())
    assume(len(distinct) > 1)
    labels = [{"name": name, "include": words} for name in distinct]
    schema = parse_schema({"task": task, "question": words, "labels": labels})
    assert parse_schema(schema.to_json()) == schema
    for name in schema.names:
        assert schema.normalise(name if task == "single" else [name]) in (name, [name])


@pytest.mark.thorough
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_whatever_comes_is_a_canonical_value_or_a_clear_refusal(raw: Any) -> None:
    for schema in (SINGLE, MULTI, STARS, TEXT, PER_ITEM):
        try:
            value = schema.normalise(raw, ["Yes", "No"])
        except ValueNotOffered:
            continue
        else:
            assert schema.normalise(value, ["Yes", "No"]) == value
            assert value_key(value)


def test_values_read_well() -> None:
    assert value_words(["Food", "Price"]) == "Food, Price"
    assert value_words([]) == "None of these"
    assert value_words(None) == "—"
    assert value_words(2.5) == "2.5"


@pytest.mark.parametrize("text", ["a\0b", "half a pair: \ud83d"])
def test_what_no_database_takes_is_refused(text: str) -> None:
    with pytest.raises(ValueNotOffered, match="must not contain"):
        TEXT.normalise(text)
    label = {"name": "good"}
    for fault in ({"name": text}, {"description": text}, {"examples_for": [text]}):
        with pytest.raises(SchemaError, match="must not contain"):
            parse_schema({"task": "single", "labels": [label | fault, "bad"]})
    with pytest.raises(SchemaError, match="question"):
        parse_schema({"task": "text", "question": text})


@pytest.mark.parametrize("far", [1e13, -1e300])
def test_points_that_cannot_be_squared_are_refused(far: float) -> None:
    labels = [{"name": "low", "point": 0}, {"name": "far", "point": far}]

    with pytest.raises(SchemaError, match="scale point"):
        parse_schema({"task": "ordinal", "labels": labels})


@all_cases(
    ("text", "names"),
    [
        ("Food, drinks", ["Food, drinks"]),
        ("Staff, food,DRINKS", ["Staff", "Food, drinks"]),
        ("Food, drinks, Food | Rain, snow, hail", ["Food, drinks", "Food", "Rain, snow, hail"]),
        ("Rain, snow", ["Rain", "snow"]),
        ("#Food #Staff", ["Food", "Staff"]),
        (" , ", []),
    ],
)
def test_a_list_of_names_that_have_commas_reads_in_one_way(text: str, names: list[str]) -> None:
    offered = ["Food, drinks", "Staff", "Rain, snow, hail", "Food"]
    assert parse_schema({"task": "multi", "labels": offered}).names == tuple(offered)
    assert split_names(text, offered) == names


@pytest.mark.parametrize("name", TASKS)
def test_of_each_label_type_there_is_one(name: str) -> None:
    assert TASKS[name].name == name
    again = pickle.loads(pickle.dumps(TASKS[name]))  # noqa: S301 - our own
    assert again is copy.deepcopy(TASKS[name]) is TASKS[name]


STUDIO_TEXT = '<Text name="t" value="$text"/>'
CHOICES = '<Choices name="mood" toName="t" choice="{}"><Choice value="Good" alias="good" hint="Glad"/><Choice value="bad"/></Choices>'  # noqa: E501
AREA = '<TextArea name="{}" toName="t"/>'


def read(controls: str, answer: str = "") -> dict[str, Any]:
    """The schema's JSON."""
    view = f'<View><Header value="How is it?"/>{STUDIO_TEXT}{controls}</View>'
    return schema_from_studio(view, answer).to_json()


def test_choices_are_labels_by_what_results_hold() -> None:
    good = {"name": "good", "description": "Good: Glad"}
    found = {"task": "single", "question": "How is it?", "labels": [good, {"name": "bad"}]}
    assert read(CHOICES.format("single")) == found
    assert read(CHOICES.format("multiple")) == {**found, "task": "multi"}


@all_cases(
    ("controls", "task", "names"),
    [
        ('<Rating name="r" toName="t" maxRating="3"/>', "ordinal", ["1", "2", "3"]),
        ('<Number name="n" toName="t" min="0" max="1" step="0.5"/>', "ordinal", ["0", "0.5", "1"]),
        (AREA.format("answer"), "text", []),
        ('<Choices name="c" toName="t" value="$options"/>', "per_item", []),
        ('<Labels name="l" toName="t"><Label value="PER"/></Labels>', "multi", ["PER"]),
        (CHOICES.format("single") + AREA.format("rationale"), "single", ["good", "bad"]),
        (CHOICES.format("single") + '<TextArea name="x" toName="t" perRegion="true"/>', "single",
         ["good", "bad"]),
    ],
)  # fmt: skip
def test_every_control_that_asks(controls: str, task: str, names: list[str]) -> None:
    found = read(controls)
    assert (found["task"], [label["name"] for label in found["labels"]]) == (task, names)


def test_of_several_questions_one_is_chosen() -> None:
    both = CHOICES.format("single") + AREA.format("summary")
    with pytest.raises(SchemaError, match=r"\(mood, summary\); choose one"):
        read(both)
    assert read(both, "summary")["task"] == "text"


NESTED = '<Choices name="c" toName="t"><Choice value="a"><Choice value="b"/></Choice></Choices>'
BOMB = '<!DOCTYPE v [<!ENTITY a "aaaa">]><View>&a;</View>'


@all_cases(
    ("config", "words"),
    [
        ("", "is not XML"),
        ("<View>", "is not XML"),
        (BOMB, "is not XML that can be read"),
        ("<View/>", "its controls: none"),
        ('<View><Taxonomy name="x" toName="t"/></View>', "its controls: Taxonomy"),
        (f"<View>{NESTED}</View>", "choices inside"),
        ('<View><Rating name="r" toName="t" maxRating="x"/></View>', "must be a number"),
        ('<View><Rating name="r" toName="t" maxRating="1e9"/></View>', "2 to 200 points"),
        ('<View><Number name="r" toName="t" step="0"/></View>', "2 to 200 points"),
        ('<View><Choices name="c" toName="t"><Choice value="a"/></Choices></View>', "at least 2"),
    ],
)
def test_what_cannot_be_asked_here_is_said(config: str, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        schema_from_studio(config)


def test_labels_have_the_colour_of_their_place_or_their_own() -> None:
    labels = ["a", {"name": "b", "color": "red"}, *"cdefghi"]
    schema = parse_schema({"task": "single", "labels": labels})
    assert [schema.color(name) for name in "abci"] == [COLORS[0], "red", COLORS[2], COLORS[0]]
    assert schema.color("nothing of the kind") == ""
    assert PER_ITEM.color("no", ["yes", "no"]) == COLORS[1]
    assert parse_schema(schema.to_json()).colors == schema.colors
    # Colours change no answer.
    assert schema == parse_schema({"task": "single", "labels": [*"abcdefghi"]})
    with pytest.raises(SchemaError, match="number 1, color: must be one of blue, "):
        parse_schema({"task": "single", "labels": [{"name": "a", "color": "#ff0000"}, "b"]})
