"""Extractor, critic, judge against canned replies."""

import pytest

from labelhub.core.schema import Schema
from tests.core.debate.canned import Play, fenced, played

EXTRACTOR = '- Food: "the soup was cold"\n- Price: "the bill"\nFinal Decision: Food, Price'
CRITIC = '- Food: agree - it says "cold"\nFinal Decision: Food'
JUDGE = "Final Decision: Food"
REPLIES = {"extractor": EXTRACTOR, "critic": CRITIC, "judge": JUDGE}


def test_the_judge_decides_and_the_others_are_remembered(play: Play) -> None:
    outcome = play("ecj", REPLIES)
    assert outcome.value == ["Food"]
    assert outcome.evidence == {"Food": ("The soup was cold", "cold")}
    assert outcome.rationale == '- Food: agree - it says "cold"'
    assert outcome.flags == ("extractor_differs",)
    assert outcome.signals == {
        "values": {"extractor": ["Food", "Price"], "critic": ["Food"], "judge": ["Food"]},
        "statuses": {"extractor": "ok", "critic": "ok", "judge": "ok"},
        "off_menu": {},
        "injection": [],
        "rung": 3,
        "margin": None,
        "margin_unknown": "no_probabilities",
        "first": ["Food", "Price"],
        "flips": {"extractor": ["Price"], "critic": []},
    }
    assert outcome.uncertainty == 0.3
    assert not outcome.failed


def test_each_role_reads_the_whole_words_of_those_before_between_delimiters(
    schema: Schema,
) -> None:
    debate = played("ecj", REPLIES, asked=schema)
    assert [fenced(debate.read(role))[1:] for role in REPLIES] == [
        [],
        [EXTRACTOR],
        [EXTRACTOR, CRITIC],
    ]


@pytest.mark.parametrize(
    ("extractor", "critic", "judge", "flags", "uncertainty"),
    [
        ("Food", "Food", "Food", (), 0.0),
        ("none", "none", "none", (), 0.0),
        ("Food", "none", "Food", ("critic_differs",), 0.4),
        ("Food, Price", "none", "Food", ("extractor_differs", "critic_differs"), 0.5),
        ("Food", "Food", "none", ("extractor_differs", "critic_differs"), 1.0),
        ("none", "Food", "Food", ("extractor_differs",), 0.6),
        (
            "Food",
            "Food",
            "Food, Staff",
            ("extractor_differs", "critic_differs", "judge_adds"),
            0.5,
        ),
        ("Foods", "Food", "Food", ("unparsed",), 0.6),
        ("Foods", "none", "none", ("unparsed",), 0.6),
        ("Foods", "Foods", "Staff", ("unparsed",), 1.0),
    ],
)
def test_where_the_roles_differ_people_are_asked(
    play: Play,
    extractor: str,
    critic: str,
    judge: str,
    flags: tuple[str, ...],
    uncertainty: float,
) -> None:
    replies = {"extractor": extractor, "critic": critic, "judge": judge}
    outcome = play("ecj", {role: f"Final Decision: {names}" for role, names in replies.items()})
    assert outcome.value is not None
    assert (outcome.flags, outcome.uncertainty) == (flags, uncertainty)
