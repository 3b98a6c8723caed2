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
    DANGER,
    ORDINARY,
    kind_chances,
    names_danger,
    reacts_to_danger,
    shows_danger,
)
from labelhub.core.safety.kinds import KINDS, WEIGHTS
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
DISGUISED = (
    *("KILL MYSELF", "kill\u200b my\u00adself", "k1ll mys3lf", "k.i.l.l m.y.s.e.l.f"),
    *("kiiiill myself", "suicidé", "ＳＵＩＣＩＤＥ", "s u i c i d a l", "suіcide", "k*ll myself"),
    *("k і l l m у s e l f", "s u і c і d е", "ѕ.u.і.c.і.d.е"),
    *("Don´t want to live", "りすか", "リスカ", "اِنْتِحار", "إنتحار"),
)
IDIOMS = (
    *("this queue is killing me", "I'd kill for a coffee", "my old phone died", "bath bombs"),
    *("he beats me at chess", "cut some bread", "rapeseed oil, 5 litres", "dead battery"),
    *("Mein Akku ist tot", "Der Rücken bringt mich um", "muero de hambre", "mort de rire"),
    *("my Brother printer died", "our baby monitor is dead", "the battery is going to die"),
    *("ants: I want to kill them", "I don't want to wake up the kids", "within 40 kms"),
    *("il a la batterie à plat", "une râpe à fromage", "je vais les planter"),
    *("il me bat aux échecs", "no me pega con nada", "rape fresco"),
    *("Ritzen im Parkett", "die sich aufhängen lässt", "Machen Sie ab Montag auf?"),
    *("イギリスから届きますか", "練炭コンロ", "クリスからもらった", "アリスカフェ"),
    *("me corto el pelo otra vez", "Ich springe schnell in den Zug", "皆で殺虫剤を買う"),
    *("il m'a cassé le vase", "le chien a avalé une pile"),
    *("I'm tired of living with my parents", "sick of living out of a suitcase"),
    *("mon fils s'est pendu à mon cou", "tired of my existing phone"),
    *("I don't want to live with my parents", "I don't want to live there any more"),
    *("my wife phone died", "my dad phone just died", "my friend's old laptop died"),
    *("me pega muy bien", "me pega el sol", "esta chaqueta me pega con los zapatos"),
    *("mi ammazzo di lavoro", "vou me matar de estudar", "Ik wil dood hout kopen"),
    *("a painless way out of this contract", "kızım oldu", "HP saya mau mati"),
    *("혼자 살아서 작은 냉장고가 필요해요", "혼자 살기 싫어서", "투자해도 될까요", "건강간식"),
    *("खुद की शादी के लिए जूते", "不想活动", "国家暴雨预警"),
)

REACTIONS = (
    *("Call or text 988, the Suicide & Crisis Lifeline.", "The Samaritans answer 116 123."),
    "If you are in immediate danger, call your local emergency services.",
    *("I'm so sorry for your loss.", "My deepest condolences to you and your family."),
    *("Please reach out to a mental health professional.", "Contact the crisis text line."),
    *("The National Domestic Violence Hotline is open day and night.", "May she rest in peace."),
    *("Die Telefonseelsorge erreichst du unter 0800 111 0 111.", "Mein herzliches Beileid."),
    "Das Hilfetelefon berät Frauen rund um die Uhr.",
    *("Llama al 024, es gratis.", "Mi más sentido pésame."),
    *("Appelez le 3114, c'est gratuit.", "Toutes mes condoléances."),
    *("いのちの電話に相談してください。", "お悔やみ申し上げます。", "ご愁傷様です。"),
    *("اتصل بخط الدعم النفسي", "تعازيّ الحارة"),
)
EVERYDAY_REPLIES = (
    *("Sorry for the inconvenience.", "Your order 988 has shipped.", "That is 3114 euros in all."),
    *("Sorry about your lost parcel.", "Call our support line on Monday.", "Reach out any time."),
    *("Our hotline is open from 9 to 5.", "The emergency exit light is in stock.", "Lamp no. 024"),
    *("I'm sorry for the delay on your order.", "You alone decide the colour.", "rest assured"),
    *("Unsere Hotline hilft Ihnen gern.", "Es tut mir leid.", "Beilage ist dabei."),
    *(
        "Lo siento mucho.",
        "Llame a la tienda.",
        "Je suis désolée du retard.",
        "Appelez le magasin.",
    ),
    *("お電話ください。", "ご不便をおかけしました。", "اتصل بنا من فضلك", "نأسف للتأخير"),
    *("You're not alone: many ask about that zip.", "Sorry for the loss of your parcel."),
    *("Call 988 555 0100 for spare parts.", "Le numéro d'urgence du plombier"),
    *("ご相談窓口に連絡してください。", "خط الدعم مفتوح", "السلام عليكم و رحمة الله و بركاته"),
    *("La lámpara de la marca Philips 112 cm", "Le 119 est en stock", "Item 116123"),
    *("You are in danger of losing your discount", "A Rest in Peace T-shirt"),
    "Please reach out to a certified professional to install it.",
)


def said(*kinds: str, language: str = "") -> Iterator[str]:
    """The held-out messages of these kinds; of one language, or of all others than English."""
    for row in HELD_OUT:
        if row["kind"] in kinds and (row["language"] == "en") == (language == "en"):
            yield row["text"]


def test_plain_words_of_danger_are_named_in_every_language() -> None:
    texts = [text for texts in PLAIN.values() for text in texts]
    assert [text for text in texts if not names_danger(text)] == []


def test_case_accents_and_disguises_do_not_matter() -> None:
    assert [text for text in DISGUISED if not names_danger(text)] == []


def test_an_assistant_who_consoles_or_names_a_help_line_is_heard() -> None:
    assert [text for text in REACTIONS if not reacts_to_danger(text)] == []
    assert [text for text in EVERYDAY_REPLIES if reacts_to_danger(text)] == []


def test_idioms_name_no_danger() -> None:
    assert [text for text in IDIOMS if names_danger(text)] == []


@pytest.mark.parametrize(("language", "least"), [("en", 0.9), ("other", 0.8)])
def test_most_people_in_danger_are_found_and_few_others_dropped(
    language: str, least: float
) -> None:
    danger = list(said("danger", language=language))
    harmless = list(said(*HARMLESS, language=language))
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


def test_three_harmless_messages_in_one_are_seldom_dropped() -> None:
    """At most six times as often as one, as docs/sites.md says."""
    harmless = [row["text"] for row in HELD_OUT if row["kind"] in HARMLESS]
    three = [" ".join(harmless[at : at + 3]) for at in range(0, len(harmless), 3)]
    dropped = [text for text in three if shows_danger(text)]
    assert len(dropped) <= len(three) * 6 * 14 / 480, dropped


def test_few_requests_of_other_trades_are_dropped() -> None:
    """Messages to banks, offices and assistants of a data set that is no part of the repository."""
    if not CHATS.exists():
        pytest.skip("shared data set chat_messages.jsonl is not on this machine")
    rows = [json.loads(line) for line in CHATS.read_text(encoding="utf-8").splitlines()]
    requests = [row["text"] for row in rows if row["kind"] == "request"]
    dropped = [text for text in requests if shows_danger(text)]
    assert len(dropped) <= len(requests) / 20, dropped


def test_one_sentence_of_a_long_message_says_enough() -> None:
    harmless = "The lamp is bright and the tent is light. " * 60
    assert not shows_danger(harmless)
    assert shows_danger(f"{harmless} He hides my phone and hits me when I cry. {harmless}")


def test_what_says_nothing_is_of_no_kind_for_certain() -> None:
    for text in ("", " ", "😀", "\ud800", "\0"):
        assert set(kind_chances(text)) == set(KINDS)
        assert not shows_danger(text)
    assert DANGER in KINDS
    assert ORDINARY in KINDS


def test_hostile_texts_are_read_in_linear_time() -> None:
    for unit in ("he hits ", "aaaa ", "*k", "i want to ", "私が", "a.b "):
        assert_linear_time(shows_danger, unit, 2_000)


@pytest.mark.thorough
def test_the_weights_are_those_of_the_examples() -> None:
    fitted = fit_weights(read_examples())
    with np.load(WEIGHTS) as stored:
        for name, value in fitted.items():
            assert np.allclose(stored[name], value, atol=1), name
