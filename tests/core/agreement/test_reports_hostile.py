"""Whole reports of hostile matrices: every null has a reason in words, every number is a number."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.schema import TASKS
from tests.cases import all_cases
from tests.core.agreement.matrices import NOTHING, UNSURE, matrix

N = NOTHING


def alike(clusters: int) -> dict[str, Any]:
    return {"clusters": np.arange(40) % clusters, "unit": "texts"}


def crowd_of(rows: int, items: int, categories: int, seed: int = 0) -> dict[str, list[int]]:
    table = np.random.default_rng(seed).integers(-2, categories, size=(rows, items))
    kinds = ("crowd", "expert", "llm", "model")
    return {f"{kinds[number % 4]}:{number}": row for number, row in enumerate(table.tolist())}


SAME = {"crowd:a": [0] * 40, "crowd:b": [0] * 40, "llm:m": [0] * 40}
SCALE: dict[str, Any] = {"task": TASKS["ordinal"], "scores": [1, 2, 3], "categories": 3}
MATRICES = {
    "nothing": matrix({}),
    "one item, all the same": matrix({"crowd:a": [0], "crowd:b": [0], "llm:m": [0]}, gold=[0]),
    "one item, all differ": matrix(crowd_of(6, 1, 3), gold=[0], categories=3),
    "all the same": matrix(SAME, gold=[0] * 40),
    "all the same, clustered": matrix(SAME, gold=[0] * 40, **alike(3)),
    "all the same, one cluster": matrix(SAME, gold=[0] * 40, **alike(1)),
    "all wrong": matrix(SAME, gold=[1] * 40),
    "always a tie": matrix({"crowd:a": [0, 1], "crowd:b": [1, 0], "llm:m": [1, 1]}, gold=[0, 1]),
    "only abstentions": matrix({"crowd:a": [UNSURE] * 3, "crowd:b": [UNSURE] * 3}, gold=[0, 1, 0]),
    "nobody shares": matrix(
        {"crowd:a": [0, N, N], "crowd:b": [N, 1, N], "llm:m": [N, N, 0]}, gold=[0, N, N]
    ),
    "gold elsewhere": matrix({"crowd:a": [0, N], "crowd:b": [1, N]}, gold=[N, 1]),
    "a label never said": matrix({"crowd:a": [0, 0, 2], "crowd:b": [0, 0, 2]}, gold=[1, 0, 0],
                                categories=4),
    "a scale on which nothing varies": matrix(SAME, gold=[1] * 40, **SCALE),
    "a scale with one item by all": matrix({"crowd:a": [0, 1, N], "crowd:b": [N, 2, 0]}, **SCALE),
    "a scale of opposites": matrix({"crowd:a": [0, 2] * 20, "llm:m": [2, 0] * 20},
                                  gold=[2, 0] * 20, **SCALE),
    "a scale, clustered": matrix(crowd_of(8, 40, 3), gold=[0, 1] * 20, **SCALE, **alike(4)),
    "sets": matrix(crowd_of(8, 40, 3), categories=3, task=TASKS["multi"], gold=[0, 1] * 20,
                  sets=[frozenset(), frozenset("a"), frozenset("ab")]),
    "texts": matrix(crowd_of(8, 40, 3), categories=3, task=TASKS["text"], gold=[0] * 40),
    "texts, clustered": matrix(crowd_of(8, 40, 3), categories=3, task=TASKS["text"], gold=[0] * 40,
                              **alike(4)),
    "own options": matrix(crowd_of(8, 40, 2), task=TASKS["per_item"], gold=[0] * 40,
                         options=np.resize([2, 3], 40), **alike(30)),
    "one option": matrix(SAME, task=TASKS["per_item"], gold=[0] * 40, options=np.full(40, 1)),
    "author": matrix(crowd_of(8, 40, 3) | {"author:w": [0, 1, 2, N] * 10}, categories=3),
    "many different clusters": matrix(
        {name: row * 1 for name, row in crowd_of(5, 2100, 3).items()}, categories=3,
        gold=[0, 1, 2] * 700, clusters=np.arange(2100), unit="authors",
    ),
    "many items, nothing varies": matrix({"crowd:a": [0, 1] * 1100, "crowd:b": [0, 1] * 1100,
                                         "llm:m": [0, 1] * 1100}, gold=[0, 1] * 1100,
                                        clusters=np.arange(2200), unit="authors"),
}  # fmt: skip


def walked(found: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a report, with where it is."""
    yield path, found
    inner: dict[Any, Any] = {}
    if isinstance(found, dict | list | tuple):
        inner = found if isinstance(found, dict) else dict(enumerate(found))
    for key, value in inner.items():
        yield from walked(value, f"{path}/{key}")


def check(given: LabelMatrix) -> dict[str, Any]:
    """The report, without the words of its reasons."""
    fields = build_report(given).to_json()
    words = fields.pop("reasons")
    for path, value in walked(fields):
        assert type(value) in (dict, list, tuple, str, bool, int, float, type(None)), path
        if isinstance(value, float):
            assert math.isfinite(value), path
        if isinstance(value, dict) and value.get("reason"):
            assert words[value["reason"]], path
        if isinstance(value, dict) and "value" in value:
            check_figure(path, value)
    return fields


def check_figure(path: str, found: dict[str, Any]) -> None:
    if found["value"] is None:
        assert found["reason"] in reasons.WORDS, path
        return
    assert type(found["n"]) is int, path
    assert found["method"], path
    assert (found["low"] is None) == (found["high"] is None), path
    if found["low"] is not None:
        assert found["low"] <= found["value"] <= found["high"], path
        lowest = 0 if "percent" in path or "accuracy" in path else -1
        assert found["low"] >= lowest or found["value"] < -1, path
        assert found["high"] <= 1 or "_error" in path, path


@pytest.mark.thorough
@all_cases("name", MATRICES)
def test_a_hostile_matrix_has_an_honest_report(name: str) -> None:
    check(MATRICES[name])


@st.composite
def small_matrices(draw: st.DrawFn) -> LabelMatrix:
    items = draw(st.integers(1, 7))
    values = st.lists(st.integers(-2, 2), min_size=items, max_size=items)
    names = ("crowd:a", "crowd:b", "expert:c", "expert:d", "llm:e")
    answers = {name: draw(values) for name in names[: draw(st.integers(1, 5))]}
    gold = draw(st.lists(st.integers(-1, 2), min_size=items, max_size=items))
    clusters = draw(st.lists(st.integers(0, 3), min_size=items, max_size=items))
    together = {"clusters": np.array(clusters), "unit": "texts"} if draw(st.booleans()) else {}
    task = draw(
        st.sampled_from([TASKS["single"], TASKS["ordinal"], TASKS["per_item"], TASKS["text"]])
    )
    points = {"scores": [1.0, 2.0, 5.0]} if task is TASKS["ordinal"] else {}
    options = {"options": np.full(items, 3)} if task is TASKS["per_item"] else {}
    return matrix(answers, gold=gold, categories=3, task=task, **together, **points, **options)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(small_matrices())
def test_any_small_matrix_has_an_honest_report(given: LabelMatrix) -> None:
    check(given)
