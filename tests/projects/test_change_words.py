"""What the operations of a schema change do, in words."""

from apps.projects.change_words import operation_words
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import (
    Add,
    Ask,
    Describe,
    Merge,
    Operation,
    Rename,
    Reorder,
    Retire,
    Split,
)
from tests.cases import all_cases

GOOD, BEST = LabelDef(name="good"), LabelDef(name="best")


@all_cases(
    ("operation", "words"),
    [
        (Rename("ok", "fine"), "“ok” is renamed “fine”"),
        (Rename("ok", "fine", 2.5), "“ok” is renamed “fine” at point 2.5"),
        (Merge(("ok", "fine", "well"), "good"), "“ok”, “fine” and “well” become “good”"),
        (
            Split("ok", (GOOD, BEST), "good"),
            "“ok” is split into “good” and “best”; its labels become “good”",
        ),
        (Split("ok", (GOOD,)), "“ok” is split into “good”; people choose again"),
        (Retire("ok"), "“ok” is retired"),
        (Retire("ok", ask=False), "“ok” is retired; its labels are withdrawn"),
        (Retire("ok", "good"), "“ok” is retired; its labels become “good”"),
        (Add(GOOD), "New label “good”"),
        (Describe("ok"), "“ok” has a new description"),
        (Ask("100 %?"), "The question is “100 %?”"),
        (Ask(""), "The question is removed"),
        (Reorder(("ok",)), "The labels have a new order"),
    ],
)
def test_each_operation_is_a_sentence(operation: Operation, words: str) -> None:
    assert operation_words(operation) == words
