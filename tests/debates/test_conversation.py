"""How stored turns become columns, rounds and words; nothing here needs a model."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.debates.conversation import (
    Conversation,
    Stage,
    conversation,
    summarize_debate,
)
from apps.debates.conversation.layout import agreement, vote_bars
from apps.debates.conversation.speech import (
    Kind,
    expected_places,
    place_of,
    stage_of,
    stage_settings,
)
from apps.debates.models import Debate, Turn
from apps.debates.selectors import debate_with_turns
from labelhub.core.debate import PROTOCOLS
from tests.factories.agreement import decide
from tests.factories.debates import project_with_items, started_run

pytestmark = pytest.mark.django_db


def debate_of(protocol: str, *, definition: Any = None, **settings: Any) -> Debate:
    """A waiting debate of that protocol."""
    project = project_with_items(1, definition=definition)
    return started_run(project, protocol, settings=settings).debates.get()


def say(debate: Debate, step: str, role: str, value: Any = None, **fields: Any) -> Turn:
    """One more turn."""
    cast = debate.run.roles.select_related("model", "prompt")[0]
    plain: dict[str, Any] = {"status": "ok", "messages": [], "text": f"{role} speaks"}
    return Turn.objects.create(
        debate=debate,
        step=step,
        role=role,
        value=value,
        model=cast.model,
        prompt=cast.prompt,
        **plain | fields,
    )


def end(debate: Debate, value: Any, **signals: Any) -> None:
    """The debate concluded."""
    status = Debate.Status.UNPARSED if value is None else Debate.Status.DONE
    Debate.objects.filter(pk=debate.pk).update(value=value, signals=signals, status=status)


def read(debate: Debate) -> Debate:
    """As its page reads it."""
    return debate_with_turns(debate.run.project, debate.pk, AnonymousUser())


def laid_out(debate: Debate) -> Conversation:
    """As its page shows it."""
    return conversation(read(debate))


def shape(stage: Stage) -> list[tuple[str, list[str]]]:
    """Rows with the names of their cells."""
    return [(row.kind.value, [cell.name for cell in row.cells]) for row in stage.rows]


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "cascade"])
def test_every_protocol_has_a_place_of_its_own_for_each_speaker(name: str) -> None:
    played, settings = stage_settings(name, {}, "")
    places = expected_places(played, settings)
    assert len(places) >= PROTOCOLS[name].calls(settings).least
    assert len({(place.kind, place.number, place.name) for place in places}) == len(places)


def test_what_no_version_knows_is_shown_beside_the_others() -> None:
    assert place_of("oracle", "oracle").kind is Kind.ROLES
    assert place_of("judge/x", "judge").name == "Judge"
    assert stage_of("first", "first_") == ("first", "", "")
    assert stage_of("then/judge/2", "then_judge") == ("then", "judge/2", "judge")
    assert stage_of("then/judge", "judge") == ("", "then/judge", "judge")
    assert expected_places("oracle", {}) == []
    assert expected_places("vote", {}) == []


def test_a_discussion_is_rounds_of_letters_with_marks_where_minds_change() -> None:
    debate = debate_of("discussion", annotators=3, rounds=2)
    for step, role, value in (
        ("r0/C", "annotator_c", "good"),
        ("r0/A", "annotator_a", "good"),
        ("r0/B", "annotator_b", "bad"),
        ("r1/A", "annotator_a", "good"),
        ("r1/B", "annotator_b", "good"),
        ("r1/C", "annotator_c", None),
    ):
        say(debate, step, role, value, status="ok" if value else "unparsed")
    end(debate, "good", first="good")
    (stage,) = laid_out(debate).stages
    letters = ["Annotator A", "Annotator B", "Annotator C"]
    assert shape(stage) == [("round", letters), ("round", letters)]
    assert (stage.rows[0].title, stage.rows[0].note) == ("Round 0", "independent answers")
    speeches = [cell.speech for cell in stage.rows[1].cells]
    assert [speech.was for speech in speeches if speech] == ["", "bad", ""]
    assert speeches[2] is not None
    assert speeches[2].trouble == "no answer could be read"
    assert stage.end == "2 of 3 agreed after round 1: good."


def test_votes_on_several_labels_are_counted_by_label() -> None:
    counted = vote_bars([["Food", "Service"], ["Food"], [], None])
    assert [(bar.words, bar.votes) for bar in counted] == [
        ("Food", 2),
        ("Service", 1),
        ("None of these", 1),
        ("no answer", 1),
    ]


@pytest.mark.parametrize(
    ("values", "rounds", "words"),
    [
        (["a", "a", "a"], 0, "3 of 3 agreed before any discussion: a."),
        (["a", "a"], 2, "2 of 2 agreed after round 2: a."),
        (["a", "b"], 1, "The votes are tied after round 1."),
        (["a", "a", "b"], None, "2 of 3 agreed: a."),
        ([None, None], 1, "None of the answers could be read."),
        (["a"], None, ""),
        (["a"] * 12, None, "12 of 12 agreed: a."),
    ],
)
def test_agreement_in_words(values: list[Any], rounds: int | None, words: str) -> None:
    assert agreement(values, rounds) == words


TRIAL = {
    "candidates": ["good", "bad"],
    "second_by": "probabilities",
    "heard_first": "defence",
    "lengths": [900, 610],
    "lengths_read": [600, 610],
}


def test_a_trial_is_hearing_arguments_precedents_and_judges() -> None:
    debate = debate_of("courtroom", judges=3, precedents=1)
    say(debate, "clerk", "clerk", "good", ranking=["good", "bad"])
    say(debate, "precedent/1", "reporter")
    say(debate, "defence", "defence")
    say(debate, "prosecutor", "prosecutor")
    for number, value in ((1, "good"), (2, "good"), (3, "bad")):
        say(debate, f"judge/{number}", "judge", value)
    end(debate, "bad", **TRIAL)
    (stage,) = laid_out(debate).stages
    assert shape(stage) == [
        ("hearing", ["Clerk"]),
        ("arguments", ["Prosecution", "Defence"]),
        ("precedents", ["Precedent 1"]),
        ("judges", ["Judge 1", "Judge 2", "Judge 3"]),
    ]
    hearing, arguments, _, judges = stage.rows
    assert (
        hearing.note == "good against bad (the second one is the next most probable at the hearing)"
    )
    assert arguments.note == "the judges read the defence first"
    prosecution, defence = (cell.speech for cell in arguments.cells)
    assert prosecution
    assert defence
    assert (prosecution.claim, prosecution.side) == ("good", "900 characters, 600 of them read")
    assert (defence.claim, defence.side) == ("bad", "610 characters")
    assert [cell.speech.was for cell in judges.cells if cell.speech] == ["", "", ""]
    assert stage.end == "The last judge decides: bad. 2 of 3 agreed: good."


def test_a_cascade_is_two_stages_with_what_was_in_doubt() -> None:
    debate = debate_of("cascade", first="self_consistency", then="courtroom")
    say(debate, "first/sample/1", "first_annotator", "good")
    end(debate, "good", stage="first", doubts=[])
    (only,) = laid_out(debate).stages
    assert (only.title, only.end) == (
        "First: Self-consistency",
        "The answer is not in doubt: the second protocol was not needed.",
    )
    say(debate, "then/clerk", "then_clerk", "bad")
    doubts = ["d_rate", "no label", "lenient"]
    end(debate, "bad", stage="then", doubts=doubts, first_stage={"d_rate": 0.2}, first="good")
    first, then = laid_out(debate).stages
    assert (first.end, then.title) == ("", "Then: Courtroom")
    doubt = "the most frequent answer leads by only 0.2 of the votes (up to 0.5 is doubtful)"
    assert then.why[0] == doubt
    assert then.why[1:] == (
        "the first protocol gave no label",
        "an answer does not have the requested form",
    )
    assert [cell.name for cell in first.rows[0].cells] == [
        f"Sample {number}" for number in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "ok", "rung": 4}, "its last sentence states the label"),
        ({"status": "ok", "finish_reason": "length"}, "after it had decided"),
        ({"status": "failed", "note": "Broken.", "attempts": []}, "Nothing was sent."),
        (
            {
                "status": "failed",
                "note": "Broken.",
                "attempts": [{"http_status": 503, "seconds": 1}, {"http_status": 0, "seconds": 2}],
            },
            "Attempts: HTTP 503, no answer.",
        ),
    ],
)
def test_notes_on_one_answer(fields: dict[str, Any], words: str) -> None:
    debate = debate_of("single")
    say(debate, "annotator", "annotator", "good" if fields["status"] == "ok" else None, **fields)
    (cell,) = laid_out(debate).stages[0].rows[0].cells
    assert cell.speech
    assert words in " ".join(cell.speech.notes)


@pytest.mark.parametrize(
    ("first", "value", "gold", "turned"),
    [
        ("bad", "good", "good", "better"),
        ("good", "bad", "good", "worse"),
        ("good", "bad", None, "changed"),
        ("good", "good", "bad", ""),
        (None, "good", "good", ""),
    ],
)
def test_a_first_opinion_changes_for_better_or_worse(
    first: Any, value: Any, gold: Any, turned: str
) -> None:
    debate = debate_of("single")
    end(debate, value, first=first)
    if gold:
        decide(debate.item, gold)
    assert summarize_debate(read(debate)).turned == turned


def test_strange_signals_break_nothing() -> None:
    debate = debate_of("cascade")
    say(debate, "then/judge/1", "then_judge", "good")
    end(debate, "good", candidates="x", votes="y", flips=3, doubts=7, d_rate=0.5, first_stage=[])
    found = read(debate)
    assert summarize_debate(found).facts
    assert conversation(found).stages[0].why == ()


def test_the_head_says_what_numbers_mean() -> None:
    debate = debate_of("self_consistency")
    for number in range(1, 6):
        cost = None if number == 5 else 1
        say(debate, f"sample/{number}", "annotator", "good", cost_nanousd=cost)
    votes = [["good", 3], ["bad", 2]]
    end(debate, "good", d_rate=0.2, entropy=0.97, votes=votes, first="bad", margin=0.31)
    decide(debate.item, "good")
    found = summarize_debate(read(debate))
    facts = {fact.title: (fact.number, fact.words) for fact in found.facts}
    lead = ("0.2", "the most frequent answer leads the second by 1 of 5 votes")
    assert facts["Lead of the first answer (D_rate)"] == lead
    assert facts["Entropy of the votes"][1].startswith("from 0 (all votes are the same) to 1")
    assert facts["Probability margin"][0] == "0.31"
    assert facts["Probability margin"][1].startswith("from 0 (another answer is just as probable)")
    assert (found.agrees, found.turned, found.calls) == (True, "better", 5)
    assert found.cost_nanousd is None
