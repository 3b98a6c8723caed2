"""Counting: who wins, how sure that is, and what an abstention does."""

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.debate.ballots import tally
from labelhub.core.schema import Schema, Value, schema_from_names
from tests.cases import all_cases

ONE = schema_from_names("single", ["A", "B", "C", "D", "E"])
MULTI = schema_from_names("multi", ["Food", "Price", "Staff"])


@all_cases(
    ("ballots", "value", "majority", "d_rate"),
    [
        ("AAAAA", "A", True, 1.0),
        ("AAAAB", "A", True, 0.6),
        ("AAABC", "A", True, 0.4),
        ("AAABB", "A", True, 0.2),
        ("AABCD", "A", False, 0.2),
        ("AABBC", None, False, 0.0),
        ("ABCDE", None, False, 0.0),
        ("A", "A", True, 1.0),
        ("AB", None, False, 0.0),
        # An abstention, written as a blank, counts among those who were asked.
        ("AAAA ", "A", True, 0.6),
        ("AAA  ", "A", True, 0.2),
        ("AA   ", "A", False, 0.0),
        ("AAB  ", "A", False, 0.0),
        ("A    ", "A", False, 0.0),
        ("     ", None, False, 0.0),
    ],
)
def test_the_first_leads_by_its_share(
    ballots: str, value: str | None, majority: bool, d_rate: float
) -> None:
    count = tally([vote.strip() or None for vote in ballots], ONE)
    assert (count.value, count.majority, count.d_rate) == (value, majority, d_rate)
    assert count.unanimous == (ballots in {"A", "AAAAA"})


@all_cases(
    ("ballots", "value", "majority", "d_rate"),
    [
        ([["Food"], ["Food"], ["Food"]], ["Food"], True, 1.0),
        ([[], [], []], [], True, 1.0),
        ([["Food"], ["Food"], []], ["Food"], True, 0.3333),
        ([["Food", "Price"], ["Price"], []], ["Price"], True, 0.3333),
        ([["Food"], [], None], None, False, 0.0),
        ([["Food"], ["Food"], None], ["Food"], True, 0.3333),
        ([["Food"], None, None], ["Food"], False, 0.0),
        ([[], None, None], [], False, 0.0),
        ([["Food"], ["Price"]], None, False, 0.0),
        ([None, None], None, False, 0.0),
    ],
)
def test_of_several_labels_each_is_voted_on(
    ballots: list[Value | None], value: list[str] | None, majority: bool, d_rate: float
) -> None:
    count = tally(ballots, MULTI)
    assert (count.value, count.majority, count.d_rate) == (value, majority, d_rate)


ANSWERS = st.sampled_from(["A", "B", "C", "D", "E"])
SETS = st.sets(st.sampled_from(MULTI.names)).map(
    lambda chosen: [name for name in MULTI.names if name in chosen]
)
BALLOTS = st.lists(st.one_of(st.none(), ANSWERS), min_size=1, max_size=9)
SET_BALLOTS = st.lists(st.one_of(st.none(), SETS), min_size=1, max_size=9)


CASES = st.one_of(st.tuples(BALLOTS, st.just(ONE)), st.tuples(SET_BALLOTS, st.just(MULTI)))
Case = tuple[list[Value | None], Schema]


@given(CASES)
def test_numbers_stay_within_bounds(case: Case) -> None:
    ballots, schema = case
    count = tally(ballots, schema)
    assert 0.0 <= count.d_rate <= 1.0
    assert 0.0 <= count.entropy <= 1.0
    assert sum(n for _, n in count.votes) == len(ballots)
    if count.value is None:
        assert count.d_rate == 0.0
    if count.unanimous:
        assert (count.d_rate, count.entropy, count.majority) == (1.0, 0.0, True)


@given(BALLOTS)
def test_a_majority_has_one_winner_with_more_than_half_of_all(ballots: list[str | None]) -> None:
    count = tally(ballots, ONE)
    if count.majority:
        assert count.value is not None
        assert ballots.count(str(count.value)) * 2 > len(ballots)


@given(SET_BALLOTS)
def test_a_majority_on_every_label_elects_a_set(ballots: list[list[str] | None]) -> None:
    count = tally(ballots, MULTI)
    if count.majority:
        assert isinstance(count.value, list)
        for name in MULTI.names:
            said = [ballot is not None and name in ballot for ballot in ballots]
            silent = ballots.count(None)
            votes = sum(said) if name in count.value else len(ballots) - silent - sum(said)
            assert votes * 2 > len(ballots)
