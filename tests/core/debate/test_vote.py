"""Votes against canned replies: several models, each asked alone."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.debate.ballots import tally
from labelhub.core.debate.outcome import Outcome
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, Value, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, UNREAD, fenced, played, says


def vote_signals(*answers: str | Reply, **where: Any) -> Outcome:
    letters = "abcdefghi"[: len(answers)]
    replies = {
        f"annotator_{letter}": says(answer) if isinstance(answer, str) else answer
        for letter, answer in zip(letters, answers, strict=True)
    }
    return played("vote", replies, given={"annotators": len(answers)}, **where).outcome


def test_all_are_asked_at_once_and_know_nothing_of_each_other() -> None:
    debate = played("vote", {"*": says("Dovish")})
    roles = ["annotator_a", "annotator_b", "annotator_c"]
    assert debate.steps == [roles]
    (calls,) = debate.asked
    assert [call.role for call in calls] == roles
    assert [call.sample for call in calls] == [1, 2, 3]
    assert {call.messages for call in calls} == {calls[0].messages}
    assert all(call.params == {"temperature": 0} for call in calls)
    assert fenced(debate.read("annotator_b")) == ["The soup was cold and the bill was high."]
    assert "nnotator_" not in debate.read("annotator_a")


@all_cases(
    ("answers", "value", "flags"),
    [
        (["Dovish", "Dovish", "Dovish"], "Dovish", ()),
        (["Dovish", "Neutral", "Dovish"], "Dovish", ()),
        (["Dovish", "Neutral", "Hawkish"], None, ("tie",)),
        (["Dovish", "Neutral"], None, ("tie",)),
        (["Dovish", UNREAD, REFUSED], "Dovish", ("unparsed", "refused", "no_majority")),
        (["Dovish", UNREAD], "Dovish", ("unparsed", "no_majority")),
        ([UNREAD, REFUSED], None, ("unparsed", "refused")),
        (["Dovish", "Dovish", FAILED], "Dovish", ("failed",)),
    ],
)
def test_the_majority_decides(
    answers: list[str | Reply], value: str | None, flags: tuple[str, ...]
) -> None:
    outcome = vote_signals(*answers)
    assert (outcome.value, outcome.flags, outcome.failed) == (value, flags, False)
    assert outcome.signals["first"] == (answers[0] if isinstance(answers[0], str) else None)


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


@given(SET_BALLOTS)
def test_a_majority_on_every_label_elects_a_set(ballots: list[list[str] | None]) -> None:
    count = tally(ballots, MULTI)
    if count.majority:
        assert isinstance(count.value, list)
        for name in MULTI.names:
            chosen = [ballot is not None and name in ballot for ballot in ballots]
            silent = ballots.count(None)
            votes = sum(chosen) if name in count.value else len(ballots) - silent - sum(chosen)
            assert votes * 2 > len(ballots)
