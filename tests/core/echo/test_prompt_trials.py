"""Who is on which side, how many calls it takes, and the test that decides."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.examples import Example
from labelhub.core.echo.prompt_search import (
    MOST_PER_AUTHOR,
    Trial,
    accuracy,
    author_of,
    chance,
    difference,
    halved,
    sides,
    stages_of,
    trial_calls,
)

LABELS = st.lists(
    st.builds(
        Example,
        text=st.text(max_size=8),
        value=st.sampled_from("ab"),
        author=st.sampled_from(["", *"abcdefgh"]),
        conversation=st.sampled_from(["", "c1", "c2"]),
    ),
    max_size=40,
)


def trial(*right: bool | None) -> Trial:
    return Trial("x", "proposed", right=dict(enumerate(right)))


def by(*authors: str) -> list[Example]:
    return [Example(f"t{at}", "a", author=name) for at, name in enumerate(authors)]


@pytest.mark.thorough
@given(labels=LABELS, more=LABELS, key=st.text(max_size=5))
def test_nobody_is_on_both_sides_and_nobody_changes_sides(
    labels: list[Example], more: list[Example], key: str
) -> None:
    split = sides(labels, key, 400)
    shown, kept = ({author_of(each) for each in side} for side in (split.shown, split.kept_back))
    assert not shown & kept
    assert split == sides([*reversed(labels), *labels], key, 400)
    larger = sides([*labels, *more], key, 400)
    assert not shown & {author_of(each) for each in larger.kept_back}
    for side in (split.shown, split.kept_back):
        for author in map(author_of, side):
            assert sum(author_of(each) == author for each in side) <= MOST_PER_AUTHOR


@pytest.mark.parametrize(("challengers", "labels"), [(1, 40), (2, 41), (9, 120), (21, 400)])
def test_the_calls_are_those_of_the_stages(challengers: int, labels: int) -> None:
    calls, live, before = 0, challengers, 0
    for end in stages_of(labels):
        calls += (end - before) * (live + 1)
        live, before = halved(live), end
    assert trial_calls(challengers, labels) == calls
    assert before == labels


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_with_an_author_for_each_label_it_is_the_exact_test_of_mcnemar(
    pairs: list[tuple[bool, bool]],
) -> None:
    one, other = trial(*(a for a, _ in pairs)), trial(*(b for _, b in pairs))
    more = sum(a and not b for a, b in pairs)
    n = more + sum(b and not a for a, b in pairs)
    tail = sum(comb(n, k) for k in range(more, n + 1)) / 2**n
    assert chance(one, other, by(*map(str, range(len(pairs))))) == pytest.approx(tail)


@pytest.mark.thorough
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abcde")), max_size=25))
def test_it_counts_all_ways_in_which_authors_could_have_led(
    rows: list[tuple[bool, bool, str]],
) -> None:
    one, other = trial(*(row[0] for row in rows)), trial(*(row[1] for row in rows))
    leads: dict[str, int] = {}
    for mine, others, author in rows:
        leads[author] = leads.get(author, 0) + mine - others
    seen = sum(leads.values())
    ways = [
        sum(sign * lead for sign, lead in zip(signs, leads.values(), strict=True)) >= seen
        for signs in product((-1, 1), repeat=len(leads))
    ]
    assert chance(one, other, by(*(row[2] for row in rows))) == pytest.approx(np.mean(ways))


def test_what_cannot_be_told_has_a_reason() -> None:
    assert accuracy(Trial("x", "p"), [])["reason"]
    same = difference(trial(True, True), trial(True, True), by("a", "b"), 0.95)
    assert (same["value"], same["low"], same["doubt"]) == (
        0.0,
        None,
        "Nothing tells how authors differ.",
    )


@pytest.mark.thorough
def test_the_test_keeps_its_level_where_authors_differ() -> None:
    """1,500 pairs of equally good instructions, 30 authors with 1 to 5 labels each."""
    draws = np.random.default_rng(5)
    alarms = 0
    for _ in range(1_500):
        sizes = draws.integers(1, 6, 30)
        names = np.repeat(np.arange(30), sizes)
        # Authors for whom the one does better, and as many for whom the other does.
        lean = np.repeat(draws.normal(0, 0.3, 30), sizes)
        one = draws.random(len(names)) < np.clip(0.5 + lean, 0, 1)
        other = draws.random(len(names)) < np.clip(0.5 - lean, 0, 1)
        alarms += chance(trial(*one.tolist()), trial(*other.tolist()), by(*map(str, names))) <= 0.05
    assert alarms / 1_500 < 0.065
