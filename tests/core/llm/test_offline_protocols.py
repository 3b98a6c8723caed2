"""The parts that the offline model plays in debates of several voices."""

from collections.abc import Mapping
from typing import Any

import pytest

from labelhub.core.debate.outcome import DebateItem, Precedent, Untrusted
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.offline.roles import BALANCED, GENEROUS, STRICT, Role, cast_of
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Output, Reply
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.core.llm.test_offline_debates import played

ASPECTS = schema_from_names("multi", ["Cleanliness", "Staff", "Food", "Price", "Location"])
TONES = schema_from_names("single", ["positive", "negative", "neutral"])
CLEAR = "The rooms were spotless, but the waiter was rude and the soup was cold. Far too expensive!"
DOUBTFUL = "The kitchen door was a lovely shade of green."


async def says(role: str, schema: Schema, text: str, **more: Any) -> Reply:
    """What a role's answer is read as."""
    call = Call(role, role, (), "", schema, text, **more)
    return read_completion(call, await OfflineModel().complete(call))


def history(*texts: str) -> Mapping[str, Any]:
    """The inputs of annotator A after one round."""
    said = [{"name": n, "text": Untrusted(t)} for n, t in zip("ABC", texts, strict=False)]
    return {"name": "A", "history": [{"number": 1, "said": said}]}


def case(*claims: tuple[str, str, str], **more: Any) -> Mapping[str, Any]:
    """What a judge reads: side, claim and argument of each."""
    sides = [{"side": s, "claim": c, "text": Untrusted(t)} for s, c, t in claims]
    return {"arguments": sides, "precedents": [], "opinions": [], **more}


@all_cases(
    ("role", "sample", "expected"),
    [
        ("annotator", 1, (Role.ANNOTATOR, BALANCED)),
        ("annotator", 2, (Role.ANNOTATOR, GENEROUS)),
        ("annotator", 3, (Role.ANNOTATOR, STRICT)),
        ("annotator_b", 1, (Role.ANNOTATOR, GENEROUS)),
        ("then_annotator_c", 7, (Role.ANNOTATOR, STRICT)),
        ("first_annotator", 1, (Role.ANNOTATOR, BALANCED)),
        ("then_critic", 1, (Role.CRITIC, BALANCED)),
        ("judge/2", 2, (Role.JUDGE, BALANCED)),
        ("refiner", 1, (Role.ANNOTATOR, BALANCED)),
        ("somebody else", 1, (Role.ANNOTATOR, BALANCED)),
    ],
)
def test_a_role_has_a_part_and_a_temperament(
    role: str, sample: int, expected: tuple[Role, object]
) -> None:
    cast = cast_of(Call(role, role, (), "", ASPECTS, "", sample=sample))
    assert (cast.role, cast.temper) == expected


async def test_annotators_differ_on_doubtful_texts_alone() -> None:
    for schema, text, differ in ((ASPECTS, CLEAR, False), (ASPECTS, DOUBTFUL, True)):
        outcome = await played("vote", schema, DebateItem("1", text))
        assert (len(outcome.signals["votes"]) > 1) is differ
        outcome = await played("self_consistency", schema, DebateItem("1", text))
        assert (outcome.signals["d_rate"] < 1) is differ


async def test_a_draft_is_reviewed_line_by_line_and_mended() -> None:
    said: dict[str, Reply] = {}
    text = "The city is dirty, noisy and wonderful, and I miss it already."
    schema = parse_schema(
        {
            "task": "multi",
            "labels": [
                {"name": "Cleanliness", "exclude": "dirt of the city"},
                {"name": "Food"},
            ],
        }
    )
    outcome = await played("self_refine", schema, DebateItem("1", text), said=said)
    assert said["drafter"].value == ["Cleanliness"]
    assert said["reviewer"].text.startswith('- Cleanliness: weakly supported, "The city is dirty"')
    assert "Final Decision" not in said["reviewer"].text
    assert outcome.value == []
    assert outcome.flags == ("changed_mind",)
    assert said["refiner"].text.startswith("Given up: Cleanliness")


async def test_a_sound_draft_can_stand() -> None:
    said: dict[str, Reply] = {}
    await played("self_refine", ASPECTS, DebateItem("1", CLEAR), said=said)
    assert said["reviewer"].text == 'The draft can stand: "The rooms were spotless" carries it.'
    assert said["refiner"].value == said["drafter"].value


async def test_a_review_names_what_another_model_overlooked() -> None:
    heard = {"drafter": Reply("…", value=["Location"])}
    reply = await says("reviewer", ASPECTS, "Cold soup.", heard=heard, output=Output.ARGUMENT)
    assert "- Location: weakly supported, no words" in reply.text
    assert '- Food: overlooked, the text says "Cold soup"' in reply.text
    heard["reviewer"] = reply
    assert (await says("refiner", ASPECTS, "Cold soup.", heard=heard)).value == ["Food"]


async def test_a_weak_view_is_given_up_when_others_speak_against_it() -> None:
    alone = await says("annotator_b", ASPECTS, DOUBTFUL)
    assert alone.value == ["Food"]
    against = history("Final Decision: none", alone.text, "Final Decision: none")
    reply = await says("annotator_b", ASPECTS, DOUBTFUL, inputs=against)
    assert reply.value == []
    assert "Given up: Food" in reply.text


async def test_a_strong_view_is_kept_against_all_others() -> None:
    own = (await says("annotator_a", ASPECTS, CLEAR)).text
    against = history(own, *["Final Decision: Location"] * 2)
    reply = await says("annotator_a", ASPECTS, CLEAR, inputs=against)
    assert reply.value == ["Cleanliness", "Staff", "Food", "Price"]
    assert "Kept: Cleanliness" in reply.text
    against = history(*["Final Decision: negative"] * 3)
    reply = await says("annotator_a", TONES, "An excellent place that we loved.", inputs=against)
    assert reply.value == "positive"


async def test_what_cannot_be_read_moves_nobody() -> None:
    unread = history("", "I cannot say.", "Final Decision: Parking")
    alone = await says("annotator_b", ASPECTS, DOUBTFUL)
    assert await says("annotator_b", ASPECTS, DOUBTFUL, inputs=unread) == alone


@pytest.mark.parametrize(
    ("schema", "options", "text"),
    [
        (TONES, (), "Final Decision: neutral"),
        (schema_from_names("ordinal", ["1", "2", "3"]), (), "Final Decision: 1"),
        (parse_schema({"task": "per_item"}), ("soup", "bread"), "Final Decision: bread"),
        (parse_schema({"task": "text"}), (), "Final Decision: Soup"),
    ],
)
async def test_every_task_can_be_discussed(
    schema: Schema, options: tuple[str, ...], text: str
) -> None:
    reply = await says("annotator_a", schema, "Soup.", options=options, inputs=history(text, text))
    assert reply.ok


async def test_a_clerk_ranks_two_answers_in_two_lines() -> None:
    reply = await says("clerk", TONES, "Lovely rooms, loved it.", output=Output.RANKING)
    assert reply.text.splitlines()[0] == "First choice: positive"
    assert reply.text.splitlines()[1].startswith("Second choice: ")
    assert len(reply.ranking) == len(set(map(str, reply.ranking))) == 2
    only = parse_schema({"task": "per_item"})
    reply = await says("clerk", only, "Soup.", options=("one",), output=Output.RANKING)
    assert reply.text == "First choice: one"


async def test_a_clerk_ranks_neighbours_on_a_scale() -> None:
    scale = schema_from_names("ordinal", ["1", "2", "3", "4", "5"])
    reply = await says("clerk", scale, "Awful, dirty, rude, the worst.", output=Output.RANKING)
    assert reply.ranking == (1, 2)


async def test_an_advocate_quotes_the_text_in_one_sentence() -> None:
    claim = {"claim": "Food"}
    reply = await says(
        "defence", ASPECTS, "We had cold soup.", inputs=claim, output=Output.ARGUMENT
    )
    assert reply.text == 'The text says "We had cold soup", and that is what Food means.'


async def test_an_advocate_without_words_says_so() -> None:
    claim = {"claim": Untrusted("Location")}
    reply = await says("prosecutor", ASPECTS, CLEAR, inputs=claim, output=Output.ARGUMENT)
    assert reply.text.startswith("No words of the text speak for Location")
    assert '"' not in reply.text


async def test_a_point_of_a_scale_is_argued_for_by_its_number() -> None:
    scale = schema_from_names("ordinal", ["awful", "middling", "great"])
    text = "The soup was excellent, the room dirty."
    for claim, words in (("3", "The soup was excellent"), ("1", "the room dirty")):
        told: dict[str, Any] = {"inputs": {"claim": claim}, "output": Output.ARGUMENT}
        assert f'"{words}"' in (await says("defence", scale, text, **told)).text


async def test_a_reporter_speaks_of_the_example() -> None:
    told = {"example": Untrusted("The staff were kind."), "claim": "Staff"}
    reply = await says("reporter", ASPECTS, CLEAR, inputs=told, output=Output.ARGUMENT)
    assert reply.text == 'It is Staff because the text says "The staff were kind".'
    told["claim"] = "Price"
    reply = await says("reporter", ASPECTS, CLEAR, inputs=told, output=Output.ARGUMENT)
    assert reply.text.startswith("It is Price, although")


async def test_a_judge_leans_to_the_side_whose_words_are_in_the_text() -> None:
    moods = schema_from_names("single", ["anger", "joy", "disgust"])
    text = "It was Tuesday when we came."
    backed, made_up = 'The text says "It was Tuesday".', 'The text says "a feast".'
    for claims in (("joy", "disgust"), ("disgust", "joy")):
        tried = case(("defence", claims[0], backed), ("prosecution", claims[1], made_up))
        reply = await says("judge", moods, text, inputs=tried)
        assert reply.value == claims[0]
        assert reply.text.startswith("I follow the defence")


async def test_a_judge_follows_precedents_that_are_alike() -> None:
    moods = schema_from_names("single", ["anger", "joy", "disgust"])
    precedents = [
        {"label": "joy", "text": Untrusted("The comet rose over Lisbon."), "reason": ""},
        {"label": "disgust", "text": Untrusted("Ninety pages of tables."), "reason": ""},
    ]
    sides = case(("prosecution", "anger", "…"), ("defence", "disgust", "…"), precedents=precedents)
    reply = await says("judge", moods, "A comet over Lisbon.", inputs=sides)
    assert reply.value == "joy"
    assert reply.text.startswith("I follow neither side")


async def test_a_judge_does_not_give_way_where_the_text_is_plain() -> None:
    text = "An excellent, friendly place that we loved."
    opinions = [{"number": 1, "text": Untrusted("Final Decision: negative")}]
    sides = case(
        ("prosecution", "negative", 'It says "friendly".'),
        ("defence", "positive", "…"),
        opinions=opinions,
    )
    for sample in range(1, 6):
        assert (await says("judge", TONES, text, inputs=sides, sample=sample)).value == "positive"


async def test_judges_of_one_court_differ_on_a_close_call() -> None:
    schema = schema_from_names("single", ["Food", "None of these"])
    sides = case(
        ("prosecution", "None of these", "Nothing speaks for another."),
        ("defence", "Food", 'It says "The kitchen door".'),
    )
    verdicts = [
        (await says("judge", schema, DOUBTFUL, inputs=sides, sample=sample)).value
        for sample in (1, 2, 3)
    ]
    assert verdicts == ["None of these", "Food", "None of these"]


async def test_samples_of_an_ecj_judge_are_alike() -> None:
    first = await says("judge", ASPECTS, DOUBTFUL)
    assert await says("judge", ASPECTS, DOUBTFUL, sample=3) == first


async def test_a_trial_with_precedents_and_a_cascade_are_played_to_their_end() -> None:
    precedents = (Precedent("9", "negative", "The soup was dreadful.", 0.5),)
    item = DebateItem("1", "The soup was cold, the bread lovely.", precedents=precedents)
    said: dict[str, Reply] = {}
    outcome = await played("courtroom", TONES, item, {"precedents": 1}, said)
    assert outcome.value in TONES.names
    assert said["precedent/1"].text == (
        'It is negative because the text says "The soup was dreadful".'
    )
    stages = {"first": "vote", "then": "discussion"}
    outcome = await played("cascade", ASPECTS, DebateItem("2", DOUBTFUL), stages, said)
    assert outcome.signals["stage"] == "then"
    assert "then/r1/B" in said
