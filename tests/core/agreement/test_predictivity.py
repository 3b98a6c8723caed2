"""Predictivity: which tasks a study has, which examples they show, and how they are scored."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.intervals import DRAWS, SEED
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.predictivity import (
    AUTHOR,
    CHANCE,
    MOST_NEIGHBOURS,
    NO_LABELS,
    SOURCES,
    Answered,
    PredictionTask,
    label_of,
    plan_tasks,
)
from labelhub.core.agreement.predictivity_scores import (
    ENOUGH_USERS,
    FEW_USERS,
    Difference,
    Predicted,
    Predictivity,
    score,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

OPTIONS = ("calm", "cross", "glad", "sad")


def answered(item: int, user: str = "ann", talk: str = "t", **fields: Any) -> Answered:
    labels: dict[str, tuple[str, ...]] = fields.pop("labels", {})
    usual: dict[str, Any] = {"question": f"q{item}", "options": OPTIONS}
    own: dict[str, tuple[str, ...]] = {AUTHOR: (fields.pop("answer", "calm"),)}
    return Answered(
        item=item, user=user, conversation=talk, labels=own | labels, **(usual | fields)
    )


def talk_of(count: int, **fields: Any) -> list[Answered]:
    return [answered(item, **fields) for item in range(1, count + 1)]


def shown_by(tasks: Sequence[PredictionTask], source: str, number: int) -> dict[int, set[int]]:
    return {
        task.item: {each.item for each in task.shown}
        for task in tasks
        if (task.source, task.examples) == (source, number)
    }


# Which tasks there are


def test_every_item_gets_a_task_for_each_source_and_number_of_examples() -> None:
    tasks = plan_tasks(talk_of(4), [AUTHOR, CHANCE], [1, 3])
    keys = [(task.item, task.source, task.examples) for task in tasks]
    assert sorted(keys) == sorted(product([1, 2, 3, 4], [AUTHOR, CHANCE], [1, 3]))


def test_without_examples_one_task_stands_for_all_sources() -> None:
    tasks = plan_tasks(talk_of(2), [AUTHOR, CHANCE], [0, 1])
    blank = [task for task in tasks if task.examples == 0]
    assert [(task.item, task.source, task.shown) for task in blank] == [
        (1, NO_LABELS, ()),
        (2, NO_LABELS, ()),
    ]


def test_an_item_without_enough_neighbours_has_no_task_of_that_size() -> None:
    tasks = plan_tasks(talk_of(3), [AUTHOR], [1, 2, 3])
    assert {task.examples for task in tasks} == {1, 2}


def test_an_author_with_one_answer_has_no_task_at_all() -> None:
    rows = [answered(1, "ann"), answered(2, "bob"), answered(3, "bob")]
    assert {task.item for task in plan_tasks(rows, [AUTHOR], [0, 1])} == {2, 3}


def test_examples_never_contain_the_item_itself() -> None:
    tasks = plan_tasks(talk_of(6), [AUTHOR, CHANCE], [1, 3, 5])
    assert all(task.item not in {each.item for each in task.shown} for task in tasks)


def test_the_same_question_asked_again_reveals_nothing() -> None:
    rows = [answered(1, question="same"), answered(2, question="same"), answered(3)]
    shown = shown_by(plan_tasks(rows, [AUTHOR], [1]), AUTHOR, 1)
    assert shown[1] == {3}
    assert shown[2] == {3}


def test_of_a_question_asked_twice_only_one_is_an_example() -> None:
    rows = [answered(1), answered(2, question="same"), answered(3, question="same")]
    tasks = plan_tasks(rows, [AUTHOR], [1, 2])
    assert 1 not in shown_by(tasks, AUTHOR, 2)
    assert shown_by(tasks, AUTHOR, 1)[1] < {2, 3}


def test_examples_come_from_the_same_conversation() -> None:
    rows = [answered(1), answered(2), answered(3, talk="other"), answered(4, talk="other")]
    shown = shown_by(plan_tasks(rows, [AUTHOR], [1]), AUTHOR, 1)
    assert shown == {1: {2}, 2: {1}, 3: {4}, 4: {3}}


def test_where_conversations_are_unknown_they_come_from_the_same_author() -> None:
    rows = [answered(1, talk=""), answered(2, talk=""), answered(3, "bob", talk="")]
    assert shown_by(plan_tasks(rows, [AUTHOR], [1]), AUTHOR, 1) == {1: {2}, 2: {1}}


def test_conversations_of_two_authors_with_the_same_name_stay_apart() -> None:
    rows = [answered(1, "ann"), answered(2, "bob")]
    assert plan_tasks(rows, [AUTHOR], [1]) == []


def test_all_sources_show_the_same_examples_so_that_only_labels_differ() -> None:
    rows = [
        *(answered(item, labels={"crowd": ("sad",)}) for item in (1, 2, 3)),
        *(answered(item) for item in (4, 5)),
    ]
    tasks = plan_tasks(rows, [AUTHOR, "crowd", CHANCE], [1, 2])
    for number in (1, 2):
        own = shown_by(tasks, AUTHOR, number)
        assert own == shown_by(tasks, "crowd", number) == shown_by(tasks, CHANCE, number)
        assert all(shown <= {1, 2, 3} for shown in own.values())
    labels = {each.label for task in tasks if task.source == "crowd" for each in task.shown}
    assert labels == {"sad"}


def test_more_examples_contain_the_fewer() -> None:
    tasks = plan_tasks(talk_of(9), [AUTHOR], [1, 2, 3, 4, 5])
    for fewer, more in ((1, 2), (2, 3), (3, 4), (4, 5)):
        small, large = shown_by(tasks, AUTHOR, fewer), shown_by(tasks, AUTHOR, more)
        assert all(small[item] < large[item] for item in small)


def test_a_limit_takes_a_sample_that_is_always_the_same_and_grows() -> None:
    rows = talk_of(30)
    chosen = [
        {task.item for task in plan_tasks(rows, [AUTHOR], [1], limit=limit)} for limit in (5, 12)
    ]
    assert [len(each) for each in chosen] == [5, 12]
    assert chosen[0] < chosen[1]
    assert chosen[0] != {1, 2, 3, 4, 5}


def test_another_seed_shows_other_examples() -> None:
    one = shown_by(plan_tasks(talk_of(20), [AUTHOR], [3], seed=1), AUTHOR, 3)
    other = shown_by(plan_tasks(talk_of(20), [AUTHOR], [3], seed=2), AUTHOR, 3)
    assert one.keys() == other.keys()
    assert one != other


def test_an_answer_that_is_not_offered_is_passed_over() -> None:
    rows = [answered(1, answer="none of these"), answered(2), answered(3)]
    assert {task.item for task in plan_tasks(rows, [AUTHOR], [1])} == {2, 3}


def test_an_author_of_very_many_answers_is_no_trouble() -> None:
    rows = talk_of(MOST_NEIGHBOURS + 60)
    tasks = plan_tasks(rows, [AUTHOR], [5], limit=20)
    assert len(tasks) == 20
    assert all(len(task.shown) == 5 for task in tasks)


@all_cases(
    ("sources", "examples", "limit", "field"),
    [
        ([], [1], None, "sources"),
        (["model"], [1], None, "sources"),
        ([AUTHOR], [], None, "examples"),
        ([AUTHOR], [6], None, "examples"),
        ([AUTHOR], [-1], None, "examples"),
        ([AUTHOR], [1], 0, "limit"),
    ],
)
def test_what_no_study_can_be_made_of_is_refused_by_name(
    sources: list[str], examples: list[int], limit: int | None, field: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        plan_tasks(talk_of(3), sources, examples, limit=limit)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["", "t", "u"]), st.sampled_from("qrst")),
        max_size=14,
    ),
    st.sets(st.sampled_from(SOURCES), min_size=1),
    st.randoms(use_true_random=False),
)
def test_no_order_of_the_rows_changes_the_plan_and_no_example_is_foreign(
    told: list[tuple[str, str, str]], sources: set[str], random: Any
) -> None:
    labels = dict.fromkeys(("llm", "crowd", "expert"), ("sad", "glad"))
    rows = [
        answered(at, user, talk, question=question, labels=labels)
        for at, (user, talk, question) in enumerate(told)
    ]
    tasks = plan_tasks(rows, sources, [0, 1, 3])
    mixed = list(rows)
    random.shuffle(mixed)
    assert plan_tasks(mixed, sources, [0, 1, 3]) == tasks
    by_item = {row.item: row for row in rows}
    for task in tasks:
        asked = [by_item[task.item], *(by_item[each.item] for each in task.shown)]
        assert len({row.question for row in asked}) == task.examples + 1
        assert {row.user for row in asked} == {task.user}
        if asked[0].conversation:
            assert {row.conversation for row in asked} == {asked[0].conversation}


# What a source says


def test_of_several_annotators_the_most_frequent_label_stands() -> None:
    row = answered(1, labels={"crowd": ("sad", "glad", "sad")})
    assert label_of(row, "crowd") == "sad"


def test_a_tie_is_drawn_and_every_tied_label_has_its_chance() -> None:
    rows = [answered(item, labels={"crowd": ("sad", "glad", "cross")}) for item in range(90)]
    said = [label_of(row, "crowd") for row in rows]
    assert {said.count(label) > 15 for label in ("sad", "glad", "cross")} == {True}
    assert "calm" not in said
    assert said == [label_of(row, "crowd") for row in rows]


def test_chance_says_each_option_about_equally_often() -> None:
    said = [label_of(answered(item), CHANCE) for item in range(400)]
    assert all(70 < said.count(option) < 130 for option in OPTIONS)


def test_a_source_without_labels_says_nothing() -> None:
    assert label_of(answered(1), "expert") is None


# Scores


def predicted(item: int, user: str, source: str, right: bool, **fields: Any) -> Predicted:
    usual: dict[str, Any] = {"examples": 1, "shown": (100 + item,), "parsed": True, "options": 4}
    return Predicted(item=item, user=user, source=source, right=right, **(usual | fields))


def accuracy_of(found: Predictivity, source: str, examples: int | None = None) -> Any:
    return next(
        each for each in found.accuracies if (each.source, each.examples) == (source, examples)
    )


def difference_of(found: Predictivity, source: str, examples: int | None = None) -> Difference:
    return next(
        each for each in found.differences if (each.source, each.examples) == (source, examples)
    )


def two_sources(own: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> Predictivity:
    """Right or wrong by user and item, from the author's labels and from the crowd's."""
    rows = []
    for source, told in ((AUTHOR, own), ("crowd", other)):
        item = 0
        for at, answers in enumerate(told):
            for right in answers:
                item += 1
                rows.append(predicted(item, f"user {at}", source, bool(right)))
    return score(rows)


def test_accuracy_is_right_over_made_with_the_unparsed_counted_as_wrong() -> None:
    rows = [
        predicted(1, "ann", AUTHOR, right=True),
        predicted(2, "ann", AUTHOR, right=False, parsed=False),
        predicted(3, "bob", AUTHOR, right=False),
        predicted(4, "bob", AUTHOR, right=True),
        predicted(5, "bob", AUTHOR, right=True),
    ]
    found = accuracy_of(score(rows), AUTHOR, 1)
    assert found.accuracy["value"] == 3 / 5
    assert (found.users, found.predictions, found.right, found.unparsed) == (2, 5, 3, 1)


def test_a_users_predictions_go_together_in_the_interval() -> None:
    own = [[1, 1, 1, 1], [0, 0], [1, 0, 1]]
    found = accuracy_of(two_sources(own, own), AUTHOR)
    right, whole = np.array([4, 0, 2]), np.array([4, 2, 3])
    weights = np.random.default_rng(SEED).multinomial(3, [1 / 3] * 3, size=DRAWS)
    drawn = (weights @ right) / (weights @ whole)
    assert found.accuracy["value"] == pytest.approx(6 / 9)
    assert found.accuracy["low"] == pytest.approx(np.percentile(drawn, 2.5))
    assert found.accuracy["high"] == pytest.approx(np.percentile(drawn, 97.5))


def test_a_difference_is_of_pairs_with_its_own_draws_and_p_value() -> None:
    own = [[1, 1, 0], [1, 1], [0, 1], [1, 0, 1]]
    other = [[0, 1, 0], [1, 0], [1, 0], [1, 0, 0]]
    found = difference_of(two_sources(own, other), "crowd")
    gains, whole = np.array([1, 1, 0, 1]), np.array([3, 2, 2, 3])
    weights = np.random.default_rng(SEED).multinomial(4, [1 / 4] * 4, size=DRAWS)
    drawn = (weights @ gains) / (weights @ whole)
    tails = min((drawn <= 0).sum(), (drawn >= 0).sum())
    assert found.difference["value"] == pytest.approx(3 / 10)
    assert found.difference["low"] == pytest.approx(np.percentile(drawn, 2.5))
    assert (found.users, found.pairs, found.only_author, found.only_source) == (4, 10, 4, 1)
    assert found.p == pytest.approx(min(1, 2 * (tails + 1) / (DRAWS + 1)))


def test_holm_corrects_over_the_sources_compared() -> None:
    pattern = {"crowd": [0, 1, 0, 0], "llm": [1, 0, 1, 1], CHANCE: [0, 0, 0, 1]}
    rows = [
        predicted(4 * user + at, f"user {user}", source, bool((right + (user % 3 == 0)) % 2))
        for source, told in {AUTHOR: [1, 1, 1, 0], **pattern}.items()
        for user in range(12)
        for at, right in enumerate(told)
    ]
    found = [each for each in score(rows).differences if each.examples is None]
    assert {each.source for each in found} == set(pattern)
    assert [each.p_holm for each in found] == holm([each.p for each in found])


def test_predictions_by_other_examples_are_no_pair() -> None:
    rows = [
        predicted(1, "ann", AUTHOR, right=True),
        predicted(1, "ann", "crowd", right=False, shown=(7,)),
        predicted(2, "bob", AUTHOR, right=True),
        predicted(2, "bob", "crowd", right=False),
    ]
    assert difference_of(score(rows), "crowd").pairs == 1


def test_a_prediction_without_examples_stands_against_all_of_the_authors() -> None:
    rows = [
        predicted(1, "ann", NO_LABELS, right=False, examples=0, shown=()),
        predicted(1, "ann", AUTHOR, right=True),
        predicted(1, "ann", AUTHOR, right=True, examples=3, shown=(4, 5, 6)),
    ]
    found = score(rows)
    assert difference_of(found, NO_LABELS).pairs == 2
    assert difference_of(found, NO_LABELS, 3).pairs == 1
    assert difference_of(found, NO_LABELS).difference["value"] == 1.0


def test_where_nothing_varies_there_is_no_interval_and_no_p_value() -> None:
    found = difference_of(two_sources([[1], [1], [1]], [[0], [0], [0]]), "crowd")
    assert found.difference["value"] == 1.0
    assert found.difference["low"] is None
    assert (found.p, found.p_holm) == (None, None)


def test_few_users_put_the_interval_in_doubt() -> None:
    few = two_sources([[1], [0]], [[1], [0]])
    many = two_sources([[1], [0]] * ENOUGH_USERS, [[1], [1]] * ENOUGH_USERS)
    assert accuracy_of(few, AUTHOR).accuracy["doubt"] == FEW_USERS
    assert "doubt" not in accuracy_of(many, AUTHOR).accuracy


def test_guessing_is_one_over_the_options_of_each_item() -> None:
    rows = [
        predicted(1, "ann", AUTHOR, right=True, options=4),
        predicted(1, "ann", "crowd", right=True, options=4),
        predicted(2, "ann", AUTHOR, right=True, options=2),
    ]
    assert score(rows).guessing == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_nothing_predicted_is_no_error() -> None:
    found = score([])
    assert (found.users, found.predictions, found.guessing) == (0, 0, None)
    assert found.to_json()["accuracies"] == []


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=30)
)
def test_the_difference_is_that_of_the_accuracies_and_names_of_users_do_not_matter(
    told: list[tuple[int, bool, bool]],
) -> None:
    def scored(prefix: str) -> Predictivity:
        return score(
            predicted(at, f"{prefix}{user}", source, right)
            for at, (user, own, other) in enumerate(told)
            for source, right in ((AUTHOR, own), ("crowd", other))
        )

    found = scored("user ")
    own, other = (accuracy_of(found, source).accuracy["value"] for source in (AUTHOR, "crowd"))
    gap = difference_of(found, "crowd")
    assert gap.difference["value"] == pytest.approx(own - other)
    assert gap.p is None or 0 < gap.p <= 1
    assert scored("another ").to_json() == found.to_json()
