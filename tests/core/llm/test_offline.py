"""The offline model: answers in the forms the parser reads, on texts of our own."""

import pytest

from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Message, Reply
from labelhub.core.schema import Schema, parse_schema, schema_from_names

STAY = "The rooms were spotless, but the waiter was rude and the soup was cold. Far too expensive!"
ASPECTS = schema_from_names("multi", ["Cleanliness", "Staff", "Food", "Price", "Location"])
ROLES = ("extractor", "critic", "judge", "annotator")


def call_for(role: str, schema: Schema, text: str, **more: object) -> Call:
    """A call with nothing rendered but what the offline model reads."""
    return Call(role, role, (), "", schema, text, **more)  # type: ignore[arg-type]


async def asked(role: str, schema: Schema, text: str, **more: object) -> tuple[Reply, Completion]:
    """What the parser reads out of the offline model's answer, and the answer."""
    call = call_for(role, schema, text, **more)
    completion = await OfflineModel().complete(call)
    return read_completion(call, completion), completion


async def debated(schema: Schema, text: str, **more: object) -> dict[str, Reply]:
    """The replies of extractor, critic and judge, each hearing the earlier ones."""
    heard: dict[str, Reply] = {}
    for role in ("extractor", "critic", "judge"):
        reply, _ = await asked(role, schema, text, heard=dict(heard), **more)
        heard[role] = reply
    return heard


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_finds_plainly_named_aspects(role: str) -> None:
    reply, completion = await asked(role, ASPECTS, STAY)
    assert reply.ok
    assert reply.value == ["Cleanliness", "Staff", "Food", "Price"]
    assert completion.text.splitlines()[-1] == "Final Decision: Cleanliness, Staff, Food, Price"


@pytest.mark.parametrize("role", ["extractor", "annotator"])
async def test_evidence_is_quoted_word_for_word(role: str) -> None:
    reply, _ = await asked(role, ASPECTS, STAY)
    assert set(reply.evidence) == {"Cleanliness", "Staff", "Food", "Price"}
    assert all(phrase in STAY for phrases in reply.evidence.values() for phrase in phrases)
    assert reply.evidence["Cleanliness"] == ("The rooms were spotless",)


async def test_nothing_present_is_an_empty_set() -> None:
    for role in ROLES:
        reply, completion = await asked(role, ASPECTS, "It rained for three nights.")
        assert reply.value == []
        assert completion.text.endswith("Final Decision: none")


async def test_the_critic_objects_to_a_faint_sign_and_says_why() -> None:
    said = await debated(ASPECTS, "The kitchen door was a lovely shade of green.")
    assert said["extractor"].value == ["Food"]
    assert said["critic"].value == []
    assert "- Food: disagree - " in said["critic"].text
    assert said["judge"].value == []
    assert "- Food: left out" in said["judge"].text


async def test_a_judge_hears_what_another_model_said() -> None:
    heard = {
        "extractor": Reply(value=["Location"], text="…"),
        "critic": Reply(value=["Location"], text="…"),
    }
    reply, completion = await asked("judge", ASPECTS, "Cold soup.", heard=heard)
    assert reply.value == ["Food"]
    assert "- Location: left out, nothing supports it" in completion.text


async def test_the_same_call_always_gets_the_same_answer() -> None:
    first = await OfflineModel().complete(call_for("extractor", ASPECTS, STAY))
    assert first == await OfflineModel().complete(call_for("extractor", ASPECTS, STAY))


async def test_it_says_what_it_is_and_that_tokens_are_estimated() -> None:
    call = Call("judge", "judge", (Message("user", "x" * 401),), "", ASPECTS, STAY)
    completion = await OfflineModel().complete(call)
    assert completion.model_answered == "offline"
    assert completion.usage.estimated
    assert completion.usage.tokens_in == 101
    assert completion.usage.tokens_out > 0


async def test_an_unknown_concept_is_found_by_its_name_and_description() -> None:
    schema = parse_schema(
        {
            "task": "multi",
            "labels": [
                {"name": "Gardening", "description": "Plants, pruning, seeds, compost."},
                {"name": "Astronomy", "description": "Telescopes, comets, planets."},
            ],
        }
    )
    reply, _ = await asked("judge", schema, "Pruning the roses and turning the compost.")
    assert reply.value == ["Gardening"]
    reply, _ = await asked("judge", schema, "I took up gardening.")
    assert reply.value == ["Gardening"]


async def test_what_a_definition_excludes_counts_less() -> None:
    told = {"name": "Price", "exclude": "parking garage fees"}
    plain = schema_from_names("multi", ["Price"])
    narrow = parse_schema({"task": "multi", "labels": [told]})
    text = "The parking garage was expensive."
    assert (await asked("critic", plain, text))[0].value == ["Price"]
    assert (await asked("critic", narrow, text))[0].value == []


async def test_a_catch_all_label_takes_what_nothing_else_does() -> None:
    schema = schema_from_names("multi", ["Food", "Price", "Miscellaneous"])
    assert (await asked("judge", schema, "My cousin married a pilot."))[0].value == [
        "Miscellaneous"
    ]
    assert (await asked("judge", schema, "Delicious cake at a fair price."))[0].value == [
        "Food",
        "Price",
    ]


async def test_vietnamese_hotel_words_are_known() -> None:
    reply, _ = await asked("judge", ASPECTS, "phòng sạch sẽ, nhân viên thân thiện, bữa sáng ngon")
    assert reply.value == ["Cleanliness", "Staff", "Food"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("An excellent, friendly place that we loved.", "positive"),
        ("The worst night ever, awful and dirty.", "negative"),
        ("It was not good and we were not happy.", "negative"),
        ("The train leaves at nine.", "neutral"),
    ],
)
async def test_single_labels_follow_the_tone_and_mind_negation(text: str, label: str) -> None:
    schema = schema_from_names("single", ["positive", "negative", "neutral"])
    for role in ROLES:
        assert (await asked(role, schema, text))[0].value == label


async def test_without_any_sign_the_roles_of_a_single_debate_differ() -> None:
    schema = schema_from_names("single", ["anger", "joy", "disgust"])
    said = await debated(schema, "It was Tuesday.")
    assert said["extractor"].value != said["critic"].value
    assert said["judge"].value in schema.names


async def test_the_absence_of_a_label_is_the_fallback() -> None:
    schema = schema_from_names("single", ["sarcastic", "not_sarcastic"])
    assert (await asked("judge", schema, "The bus stops here."))[0].value == "not_sarcastic"
    text = "Oh great, just what I needed, thanks for nothing."
    assert (await asked("judge", schema, text))[0].value == "sarcastic"


async def test_an_ordinal_scale_follows_the_tone() -> None:
    schema = schema_from_names("ordinal", ["1", "2", "3", "4", "5"])
    for role in ROLES:
        low = (await asked(role, schema, "Awful, dirty, rude, the worst."))[0].value
        high = (await asked(role, schema, "Excellent, wonderful, perfect, we loved it."))[0].value
        assert low == 1
        assert high == 5
    assert (await asked("judge", schema, "We arrived on Monday."))[0].value == 3


async def test_an_ordinal_scale_that_falls_is_read_by_its_names() -> None:
    names = ["excellent", "good", "average", "bad", "terrible"]
    reply, _ = await asked("judge", schema_from_names("ordinal", names), "Wonderful, we loved it!")
    assert reply.value == 1


async def test_a_critic_of_a_scale_knows_what_was_proposed() -> None:
    schema = schema_from_names("ordinal", ["low", "middle", "high"])
    said = await debated(schema, "A lovely, wonderful day.")
    assert "agree" in said["critic"].text


async def test_free_text_is_answered_by_a_phrase_of_the_text() -> None:
    schema = parse_schema({"task": "text", "question": "What broke?"})
    text = "We had a nice time. The old boiler broke twice. Then it was fine."
    for role in ROLES:
        assert (await asked(role, schema, text))[0].value == "The old boiler broke twice"


async def test_options_of_an_item_are_matched_against_its_text() -> None:
    schema = parse_schema({"task": "per_item"})
    options = ("A refund, please", "A new password", "Nothing of these")
    reply, _ = await asked("judge", schema, "I cannot log in any more.", options=options)
    assert reply.value == "A new password"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How was the service?", "Negative"),
        ("How was the food?", "Positive"),
        ("How was the noise?", "unknown"),
    ],
)
async def test_a_question_about_a_subject_is_answered_where_the_text_speaks_of_it(
    question: str, answer: str
) -> None:
    options = ("Positive", "Negative", "unknown")
    text = "The food was excellent, the service was terrible."
    schema = parse_schema({"task": "per_item"})
    reply, _ = await asked("judge", schema, text, options=options, question=question)
    assert reply.value == answer


async def test_yes_or_no_goes_by_the_words_that_text_and_question_share() -> None:
    schema = parse_schema({"task": "per_item"})
    text = "The museum opened a new wing in March."
    for question, answer in (("Did the museum open a wing?", "Yes"), ("Is the pilot ill?", "No")):
        reply, _ = await asked("judge", schema, text, options=("Yes", "No"), question=question)
        assert reply.value == answer
