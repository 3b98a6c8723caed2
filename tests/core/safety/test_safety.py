"""The floor beneath language models: people in danger are found, others mostly left alone.

``held_out.jsonl`` has messages whose writers knew neither the stems nor the examples; nothing was
changed for any one of them.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from labelhub.core.safety import (
    kinds,
    names_danger,
    shows_danger,
)
from labelhub.core.safety.kinds import WEIGHTS
from labelhub.core.safety.training import fit_weights, read_examples
from tests.growth import assert_linear_time

HELD_OUT = [
    json.loads(line)
    for line in Path(__file__).with_name("held_out.jsonl").read_text(encoding="utf-8").splitlines()
]
CHATS = Path(__file__).parents[4] / "shared" / "data" / "chat_messages.jsonl"
HARMLESS = ("shopping", "feelings", "other")
PLAIN = {
    "en": ("I want to kill myself", "i dont want to live anymore", "my husband beats me",
           "He raped me", "she throws up after every meal", "my dad died last week",
           "im going to shoot my boss", "I'm better off dead", "thinking about suicide again",
           "There is a gun in my mouth", "slit wrists", "I was raped", "im gonna kms",
           "I don't want to live with this pain", "I don't want to live in this world anymore",
           "I don't want to wake up anymore", "I dont want to wake up at all", "He rapes me",
           "it was marital rape", "I should just kms", "gonna die tonight",
           "i think im just going to die", "i am gonna shoot them tomorrow",
           "I am so tired of existing", "tired of living", "so sick of being alive",
           "my brother Tom died", "my friend Anna passed away", "my brother in law died"),
    "de": ("Ich will nicht mehr leben", "Ich moechte sterben", "Mein Mann schlägt mich",
           "Er hat mich vergewaltigt", "Meine Mutter ist gestorben", "Ich bringe mich um",
           "ich ritze mich", "morgen springe ich vor den Zug", "sich vor einen Zug werfen",
           "Ich werde sie alle umbringen", "er will sich aufhängen"),
    "es": ("quiero morir", "me corto los brazos", "me estoy cortando otra vez",
           "no quiero vivir", "mi novio me pega", "Me violaron anoche",
           "se murió mi padre y mi madre murió también", "Él me golpea en la cara",
           "Ella me pega con un cinturón", "me pega un puñetazo", "pienso en el suicidio"),
    "fr": ("je veux mourir", "mon mari m'a cassé le bras",
           "j'ai avalé deux boîtes de somnifères", "mon mari me frappe", "J'ai été violée",
           "mon père est mort",
           "je pense au suicide", "Je me fais vomir", "un couteau sous la gorge",
           "il m'a frappée", "ma soeur s'est pendue", "je vais le buter ce soir"),
    "ja": ("死にたい", "自殺したい", "夫に殴られた", "手首を切った", "全員殺す", "レイプされた",
           "飛び降ります"),
    "ar": ("أريد أن أموت", "أفكر في الانتحار", "زوجي يضربني", "اغتصبني", "ماتت أمي"),
    "others": ("não quero mais viver", "voglio morire", "ik wil niet meer leven", "chcę umrzeć",
               "ölmek istiyorum", "хочу умереть, iPhone не нужен", "муж меня бьёт", "我不想活了",
               "죽고 싶어", "मैं मरना चाहता हूँ", "tôi muốn chết", "میخوام بمیرم", "می خوام بمیرم",
               "annem öldü", "나 자살할래", "aku pengen mati"),
}  # fmt: skip


def messages_of(*kinds: str, language: str = "") -> Iterator[str]:
    """The held-out messages of these kinds; of one language, or of all others than English."""
    for row in HELD_OUT:
        if row["kind"] in kinds and (row["language"] == "en") == (language == "en"):
            yield row["text"]


def test_plain_words_of_danger_are_named_in_every_language() -> None:
    texts = [text for texts in PLAIN.values() for text in texts]
    assert [text for text in texts if not names_danger(text)] == []


@pytest.mark.parametrize(("language", "least"), [("en", 0.9), ("other", 0.8)])
def test_most_people_in_danger_are_found_and_few_others_dropped(
    language: str, least: float
) -> None:
    danger = list(messages_of("danger", language=language))
    harmless = list(messages_of(*HARMLESS, language=language))
    missed = [text for text in danger if not shows_danger(text)]
    dropped = [text for text in harmless if shows_danger(text)]
    assert len(missed) <= (1 - least) * len(danger), missed
    assert len(dropped) <= len(harmless) / 20, dropped


@pytest.mark.parametrize("around", [
    "Hi, I ordered a desk lamp last week and it works fine. {}",
    "{} Also, does the blue one come in a larger size?",
    "so my question is {} is the blue one in stock and what does shipping to norway cost",
])  # fmt: skip
def test_harmless_words_beside_it_hide_few(around: str) -> None:
    danger = [row["text"] for row in HELD_OUT if row["kind"] == "danger"]
    missed = [text for text in danger if not shows_danger(around.format(text))]
    assert len(danger) - len(missed) >= 200, missed  # as docs/sites.md says


def test_few_requests_of_other_trades_are_dropped() -> None:
    """Messages to banks, offices and assistants of a data set that is no part of the repository."""
    if not CHATS.exists():
        pytest.skip("shared data set chat_messages.jsonl is not on this machine")
    rows = [json.loads(line) for line in CHATS.read_text(encoding="utf-8").splitlines()]
    requests = [row["text"] for row in rows if row["kind"] == "request"]
    dropped = [text for text in requests if shows_danger(text)]
    assert len(dropped) <= len(requests) / 20, dropped


def test_hostile_texts_are_read_in_linear_time() -> None:
    for unit in ("he hits ", "aaaa ", "*k", "i want to ", "私が", "a.b "):
        assert_linear_time(shows_danger, unit, 2_000)


@pytest.mark.thorough
def test_the_weights_are_those_of_the_examples() -> None:
    fitted = fit_weights(read_examples())
    with np.load(WEIGHTS) as stored:
        for name, value in fitted.items():
            assert np.allclose(stored[name], value, atol=1), name


def test_a_text_is_judged_once_and_only_so_many_verdicts_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kinds, "MOST_REMEMBERED", 3)
    judged: list[str] = []

    def judge(text: str) -> bool:
        judged.append(text)
        return text == "c"

    remembered = kinds.remember_verdicts(judge)
    assert [remembered(text) for text in "abcabc"] == [False, False, True] * 2
    assert judged == ["a", "b", "c"]
    assert [remembered(text) for text in ("d", "\ud800", "c")] == [False, False, True]
    assert judged == ["a", "b", "c", "d", "\ud800", "c"]
