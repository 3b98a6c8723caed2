"""Nobody in danger is asked, whatever the model says; harmless messages mostly pass."""

import tomllib
from pathlib import Path

import pytest

from labelhub.core.interview.crisis import TOPICS, crisis_sign

TEXTS = tomllib.loads(Path(__file__).with_name("crisis_texts.toml").read_text(encoding="utf-8"))
#: Of a language's harmless messages, those that may be dropped.
MOST_DROPPED = 1 / 20


@pytest.mark.parametrize("language", list(TEXTS["danger"]))
def test_no_message_of_somebody_in_danger_is_missed(language: str) -> None:
    assert [text for text in TEXTS["danger"][language] if not crisis_sign(text)] == []


@pytest.mark.parametrize("language", list(TEXTS["harmless"]))
def test_harmless_messages_pass(language: str) -> None:
    texts = TEXTS["harmless"][language]
    dropped = {text: sign for text in texts if (sign := crisis_sign(text))}
    assert len(dropped) <= MOST_DROPPED * len(texts), dropped


def test_case_accents_and_spelling_do_not_matter() -> None:
    spelled = (
        *("KILL MYSELF", "kill\u200b my\u00adself", "k1ll mys3lf", "k.i.l.l m.y.s.e.l.f"),
        *(
            "kiiiill myself",
            "suicidé",
            "ＳＵＩＣＩＤＥ",
            "s u i c i d a l",
            "suіcide",
            "k*ll myself",
        ),
        *("Don´t want to live", "Ich moechte sterben", "リスカ", "りすか", "اِنْتِحار", "إنتحار"),
    )
    assert [text for text in spelled if not crisis_sign(text)] == []


def test_the_gravest_sign_names_a_message() -> None:
    assert crisis_sign("My mom died and I want to kill myself") == TOPICS[0] == "self_harm"
    assert crisis_sign("my dad died last week") == "bereavement"
    assert crisis_sign("my boyfriend hits me") == "violence"
    assert crisis_sign("he raped me") == "sexual_abuse"
    assert crisis_sign("she throws up after every meal") == "eating_disorder"
    assert crisis_sign("") == crisis_sign("Which lamp is the brightest?") == ""


def test_the_end_of_a_long_message_is_read_too() -> None:
    assert crisis_sign("The lamp is bright. " * 400 + "I want to kill myself.") == "self_harm"


def test_who_says_to_know_where_somebody_lives_threatens_in_every_language() -> None:
    said = (
        *("i know where you live", "Ich weiß, wo du wohnst", "sé dónde vives"),
        *("je sais où tu habites", "أنا أعرف وين ساكن", "お前の家知ってるぞ"),
    )
    assert {crisis_sign(text) for text in said} == {"threat"}
    for text in ("I know where the shop is", "Ich weiß nicht, wo ich wohnen soll", "no sé dónde"):
        assert not crisis_sign(text)
