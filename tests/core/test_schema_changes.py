"""Changes of a label schema: what is refused, and what becomes of every value."""

from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.schema import LabelDef, Schema, SchemaError, parse_schema, schema_from_names
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.operations import (
    Add,
    Ask,
    Describe,
    InvalidChange,
    Merge,
    Operation,
    Rename,
    Reorder,
    Retire,
    Split,
    parse_operations,
    plan,
    to_json,
)
from tests.cases import all_cases

ABC = schema_from_names("single", "ABC")
NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=",#|"), max_size=9
)
SETS = schema_from_names("multi", "ABC")


def values(schema: Schema) -> list[Any]:
    names = schema.names
    if schema.task.name == "multi":
        sets = chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))
        return [list(names) for names in sets]
    if schema.task.name == "ordinal":
        return [schema.normalise(name) for name in names]
    return list(names)


@st.composite
def changes(draw: st.DrawFn) -> SchemaPlan:
    """Any change of a schema of four labels that is allowed."""
    old = schema_from_names(draw(st.sampled_from(["single", "multi"])), "abcd")
    free = draw(st.permutations(["a", "b", "c", "d", "needs_people", "dropped", "A", "x y"]))
    done: list[Operation] = []
    for name in "abcd":
        new, other = draw(st.sampled_from(free)), draw(st.sampled_from(free))
        done += draw(
            st.sampled_from([
                [],
                [Rename(name, new)],
                [Merge((name, "d" if name != "d" else "a"), new)],
                [Split(name, (LabelDef(new), LabelDef(other)), draw(st.sampled_from(["", new])))],
                [Retire(name, draw(st.sampled_from(["", new])), draw(st.booleans()))],
            ])
        )  # fmt: skip
    done += draw(st.sampled_from([[], [Add(LabelDef("new"), "d")], [Ask("Which?")]]))
    try:
        return plan(old, done)
    except InvalidChange:
        return plan(old, [Rename("a", "z")])


@given(changes())
def test_every_value_becomes_one_that_is_offered(change: SchemaPlan) -> None:
    for value in values(change.old):
        after = change.value(value)
        if not isinstance(after, Fate):
            assert change.new.normalise(after) == after


@given(changes())
def test_one_to_one_loses_nothing(change: SchemaPlan) -> None:
    if change.one_to_one:
        back = change.inverse()
        for value in values(change.old):
            assert back.value(change.value(value)) == value  # type: ignore[arg-type]


@given(changes())
def test_the_way_back_offers_only_what_there_was(change: SchemaPlan) -> None:
    back = change.inverse()
    for value in values(change.new):
        before = back.value(value)
        if not isinstance(before, Fate):
            assert change.old.normalise(before) == before


EVERYTHING = [
    Add(LabelDef("N", "new", examples_for=("one",)), before="A"),
    Rename("A", "Z"),
    Merge(("B", "C"), "D"),
    Split("E", (LabelDef("E1"), LabelDef("E2", "two")), "E1"),
    Retire("F", "D", ask=False),
    Describe("Z", description="", include="more", examples_against=("no",)),
    Ask(""),
    Reorder(("A", "Z")),
    Rename("P", "Q", 2.5),
    Merge(("R", "S"), "T", 7.0),
]


@all_cases("operation", EVERYTHING, ids=str)
def test_an_operation_comes_back_from_json(operation: Operation) -> None:
    assert parse_operations(to_json([operation])) == (operation,)


@all_cases(
    ("raw", "words"),
    [
        ({}, "must be a list"),
        ([], "at least one"),
        ([{"op": "rename", "label": "A", "to": "B"}] * 501, "at most 500"),
        (["rename"], "number 1: must be an object"),
        ([{"op": "burn"}], "must be one of add, rename"),
        ([{"op": "rename", "label": "A"}], "number 1, to: is missing"),
        ([{"op": "rename", "label": "A", "to": "B", "why": "?"}], "unknown field 'why'"),
        ([{"op": "rename", "label": 1, "to": "B"}], "label: must be text"),
        ([{"op": "rename", "label": "A", "to": "B", "point": "x"}], "point: must be a number"),
        ([{"op": "retire", "label": "A", "ask": 1}], "ask: must be true or false"),
        ([{"op": "merge", "labels": "AB", "into": "A"}], "labels: must be a list of texts"),
        ([{"op": "split", "label": "A", "into": "B"}], "into: must be a list of labels"),
        ([{"op": "split", "label": "A", "into": [{"nme": "B"}]}], "unknown field 'nme'"),
        ([{"op": "add", "label": {"name": ""}}], "name: must not be empty"),
    ],
)
def test_json_that_says_nothing_is_refused(raw: Any, words: str) -> None:
    with pytest.raises(InvalidChange, match=words):
        parse_operations(raw)


@all_cases(
    ("operations", "words"),
    [
        ([Rename("A", "B")], "two labels 'B'. If they mean the same, merge"),
        ([Rename("A", "Z"), Rename("B", "z ")], "two labels"),
        ([Rename("A", "Z"), Retire("a")], "Two operations change the label 'A'"),
        ([Rename("Q", "Z")], "no label 'Q'; there are: A, B, C"),
        ([Rename("A", "x#y")], "must not contain '#'"),
        ([Rename("A", "")], "must not be empty"),
        ([Merge(("A",), "B")], "at least two"),
        ([Merge(("A", "a "), "B")], "at least two"),
        ([Merge(("A", "B"), "A"), Rename("C", "A")], "two labels 'A'"),
        ([Merge(("A", "B"), "C"), Merge(("B", "C"), "A")], "Two operations"),
        ([Split("A", (LabelDef("B"),))], "two or more"),
        ([Split("A", (LabelDef("x"), LabelDef("y")), "B")], "'B' is none of the labels that 'A'"),
        ([Retire("A", "A")], "no label 'A' after"),
        ([Retire("A", "Q")], "no label 'Q' after"),
        ([Retire("A"), Retire("B")], "at least 2"),
        ([Add(LabelDef("a"))], "two labels 'A'"),
        ([Add(LabelDef("N"), "Q")], "no label 'Q' after"),
        ([Describe("Q", "?")], "no label 'Q' after"),
        ([Reorder(("A", "B"))], "each new label once"),
    ],
)
def test_what_does_not_fit_is_refused(operations: list[Operation], words: str) -> None:
    with pytest.raises(InvalidChange, match=words):
        plan(ABC, operations)


@pytest.mark.parametrize("task", ["text", "per_item"])
def test_without_labels_only_the_question_changes(task: str) -> None:
    old = parse_schema({"task": task, "question": "What?"})
    change = plan(old, [Ask("Which?")])
    assert change.new.question == "Which?"
    assert change.value("anything") == "anything"
    assert not change.changes_values
    with pytest.raises(InvalidChange, match="no labels of its own"):
        plan(old, [Add(LabelDef("A"))])


def test_a_retired_label_leaves_a_set_and_sends_a_single_one_to_people() -> None:
    assert plan(SETS, [Retire("B")]).value(["A", "B"]) == ["A"]
    assert plan(ABC, [Retire("B")]).value("B") is Fate.NEEDS_PEOPLE
    assert plan(ABC, [Retire("B", ask=False)]).value("B") is Fate.WITHDRAWN
    change = plan(ABC, [Retire("B", "C")])
    assert change.value("B") == "C"
    assert plan(ABC, [Retire("B")]).evidence({"B": ["x"], "A": ["y"]}) == {"A": ["y"]}


def test_marked_places_follow_their_label() -> None:
    change = plan(ABC, [Rename("A", "Z"), Retire("B")])
    spans = [{"label": "A", "start": 1}, {"label": "B"}, {"start": 3}, "odd", {"label": "Q"}]
    assert change.spans(spans) == [{"label": "Z", "start": 1}, {"start": 3}, "odd", {"label": "Q"}]


@given(st.permutations("abcd"), st.permutations("abcd"))
def test_renames_compose(first: list[str], second: list[str]) -> None:
    old = schema_from_names("single", "abcd")
    renamed = plan(old, [Rename(*pair) for pair in zip("abcd", first, strict=True)])
    two = plan(renamed.new, [Rename(*pair) for pair in zip("abcd", second, strict=True)])
    both = {
        a: dict(zip("abcd", second, strict=True))[b] for a, b in zip("abcd", first, strict=True)
    }
    for name in "abcd":
        middle = renamed.value(name)
        assert isinstance(middle, str)
        assert two.value(middle) == both[name]


@given(st.sampled_from(["single", "multi"]), st.lists(NAMES, min_size=3, max_size=6))
def test_a_merge_done_twice_is_a_merge(task: str, names: list[str]) -> None:
    try:
        old = schema_from_names(task, names)
    except SchemaError:
        return
    once = plan(old, [Merge(old.names[:2], old.names[0])])
    for value in values(old):
        after = once.value(value)
        assert after in values(once.new)
        assert not isinstance(after, Fate)
        assert after == once.value(after)


@given(NAMES, NAMES, st.booleans())
def test_hostile_names_come_back_from_json(name: str, other: str, ask: bool) -> None:
    operations: list[Operation] = [
        Rename(name.strip(), other.strip()),
        Retire(name.strip(), other.strip(), ask),
    ]
    assert list(parse_operations(to_json(operations))) == operations
