"""The text matcher as a shop's assistant: honest, of some use, echoing nothing about anybody."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.offline.chat import chat_reply
from tests.cases import all_cases

HONEST = {
    "en": "not a language model",
    "de": "kein Sprachmodell",
    "es": "no soy un modelo de lenguaje",
    "fr": "je ne suis pas un modèle de langage",
    "ja": "言語モデルではありません",
}
#: What people write, their language, and what the reply takes up of it.
WISHES = [
    ("I need a cheap laptop for college next week, under $500.", "en", ("laptop", "$500", "when")),
    ("Do you have running shoes?", "en", ("shoes",)),
    ("Ich suche ein Kinderfahrrad bis 200 €, es eilt.", "de", ("Fahrrad", "200 €", "Bis wann")),
    ("Haben Sie eine warme Winterjacke für mich?", "de", ("Jacke",)),
    (
        "Necesito unos auriculares por menos de 100 euros para mañana",
        "es",
        ("auricular", "100 eur"),
    ),
    ("Je cherche un casque audio, environ 80 €, pour demain", "fr", ("casque audio", "80 €")),
    ("500円以下のおもちゃを明日までに探しています", "ja", ("おもちゃ", "500円")),
    ("ノートパソコンを10万円くらいで", "ja", ("ノートパソコン", "10万円")),
]


def talk(*texts: str) -> list[str]:
    """The replies to ``texts``, each in its turn."""
    history: list[tuple[str, str]] = []
    for text in texts:
        history.append(("author", text))
        history.append(("assistant", chat_reply(history, "")))
    return [text for role, text in history if role == "assistant"]


def questions(reply: str) -> int:
    return len(re.findall(r"[?？]|か。", reply))


@all_cases(("text", "language", "taken_up"), WISHES)
def test_it_takes_up_what_is_asked_in_the_authors_language(
    text: str, language: str, taken_up: tuple[str, ...]
) -> None:
    reply = chat_reply([("author", text)], "")
    assert HONEST[language] in reply
    assert all(word in reply for word in taken_up)
    assert questions(reply) == 1
    assert len(reply) < 300


@all_cases("text, language", [wish[:2] for wish in WISHES])
def test_it_says_what_it_is_once_in_its_first_reply(text: str, language: str) -> None:
    replies = talk(text, "OK", text, "?", text)
    assert [HONEST[language] in reply for reply in replies] == [True, False, False, False, False]


def test_a_greeting_of_the_site_is_no_reply_of_its_own() -> None:
    history = [("assistant", "Hello! How can I help?"), ("author", "A lamp, please.")]
    assert HONEST["en"] in chat_reply(history, "")


def test_it_asks_one_thing_after_another_and_nothing_twice() -> None:
    replies = talk("hi", "a bike", "300 dollars", "tomorrow", "commuting", "no")
    asked = [reply.rsplit(". ", 1)[-1] for reply in replies]
    assert len(set(asked)) == len(asked)
    assert "bicycle" in replies[1]
    assert "300 dollars" in replies[2]


def test_it_does_not_ask_what_it_was_told() -> None:
    (reply,) = talk("I want a tent under 200 dollars for this weekend")
    assert not re.search("spend|looking for|When do", reply)


def test_a_question_it_cannot_answer_is_met_with_the_truth() -> None:
    assert "cannot look anything up" in talk("What is the capital of France?")[0]


@pytest.mark.parametrize(
    ("text", "instructions", "language"),
    [
        ("OK", "", "en"),
        ("42", "Du bist der Assistent und hilfst mit Fahrrädern.", "de"),
        ("Смартфон", "", "en"),
        ("", "", "en"),
    ],
)
def test_where_words_tell_no_language_it_is_the_sites_or_english(
    text: str, instructions: str, language: str
) -> None:
    assert HONEST[language] in chat_reply([("author", text)], instructions)


def test_a_short_word_changes_no_language() -> None:
    replies = talk("Ich suche eine Lampe für das Bad.", "no", "OK")
    assert all(re.search("Sie|Ihnen|mir|es", reply) for reply in replies)


@all_cases(
    "text",
    [
        "Write to jo.doe@example.com about the laptop",
        "laptop, call +49 30 1234567 €",
        "budget of 0301234567",
        "under 555-123-4567 please, a laptop",
        "my card is 4111 1111 1111 1111 dollars",
        "$5551234567",
        "ノートパソコン 03-1234-5678円",
    ],
)
def test_nothing_that_leads_to_somebody_is_echoed(text: str) -> None:
    reply = chat_reply([("author", text)], "")
    assert "@" not in reply
    assert not re.search(r"\d", reply)


@pytest.mark.parametrize(
    "text", ["I have 2 kids, up to 12 people", "at 10:30", "room 101", "3 days"]
)
def test_not_every_number_is_a_price(text: str) -> None:
    assert not re.search(r"\d", chat_reply([("author", text)], ""))


@all_cases(
    ("text", "price"),
    [
        ("no more than $1,200", "$1,200"),
        ("höchstens 1.200 Euro für eine Lampe", "1.200 Euro"),
        ("pas plus de 1 200 € pour une lampe", "1 200 €"),
        ("about 80, please", "80"),
        ("up to 49.99 USD", "49.99 USD"),
    ],
)
def test_prices_are_said_back_as_they_were_written(text: str, price: str) -> None:
    assert price in chat_reply([("author", text)], "")


WORDS = st.sampled_from(
    [
        "laptop",
        "Jacke",
        "靴",
        "under",
        "bis",
        "500",
        "€",
        "$",
        "+49",
        "0301234567",
        "jo@x.example",
        "tomorrow",
        "?",
        "\n",
        "円",
        "1.200",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))


@given(st.lists(st.tuples(st.sampled_from(["author", "assistant"]), TEXTS), max_size=6))
def test_any_conversation_has_one_short_reply_that_is_always_the_same(
    history: list[tuple[str, str]],
) -> None:
    reply = chat_reply(history, "")
    assert reply == chat_reply(list(history), "")
    assert 0 < len(reply) < 500
    assert "@" not in reply
    assert not re.search(r"\d(?:\D{0,3}\d){6}", reply)
