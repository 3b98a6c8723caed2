"""What a message says by itself, in the languages of the widget, and what only looks like it."""

from functools import partial
from typing import Any

from labelhub.core.interview.features import parse_feature, starter_library, stated_by
from tests.growth import assert_linear_time

FEATURES = {feature.key: feature for each in starter_library().values() for feature in each}
TIME, MONEY = "urgency when_to_buy", "budget spend_at_most"
#: Language, message, features that it states, features that it does not.
SAID = [
    ("en", "I need it by Friday, a warm sleeping bag.", f"{TIME} parcel_patience", f"{MONEY}"),
    ("en", "A blue rain jacket by Friday, under 80 euros.", f"{TIME} {MONEY}", "recipient"),
    ("en", "I can spend at most two hundred dollars on a tent.", MONEY, TIME),
    ("en", "My budget is 200 for a pair of boots.", MONEY, TIME),
    ("en", "Anything up to 300 euros, it's for an old bike.", MONEY, TIME),
    ("en", "I want to buy a laptop today.", TIME, MONEY),
    ("en", "A birthday present for my sister.", "recipient purchase_motive is_gift", MONEY),
    ("en", "A watch for my dad, he turns sixty in three weeks.", f"recipient {TIME}", MONEY),
    ("en", "It should be delivered tomorrow at the latest.", "parcel_patience urgency", MONEY),
    ("en", "Price is all I care about.", "frugality solid_or_cheap", TIME),
    ("en", "Comfort comes first, which chair do you have?", "main_attribute", TIME),
    ("en", "It has to last for at least five years.", "lifespan", MONEY),
    ("en", "I am so frustrated with this lamp.", "sentiment", MONEY),
    ("de", "Ich brauche bis Freitag einen warmen Schlafsack.", TIME, MONEY),
    ("de", "Ein Geschenk für meine Schwester, unter 50 Euro", f"recipient {MONEY}", TIME),
    ("de", "Der Preis ist mir am wichtigsten.", "main_attribute", TIME),
    ("es", "Lo necesito antes del viernes.", TIME, MONEY),
    ("es", "Un regalo para mi hermana de unos treinta euros", f"recipient {MONEY}", TIME),
    ("fr", "Il me le faut pour demain.", TIME, MONEY),
    ("fr", "Un cadeau pour ma sœur, maximum 40 euros", f"recipient {MONEY}", TIME),
    ("ja", "金曜日までに寝袋が欲しいです", TIME, MONEY),
    ("ja", "妹への誕生日プレゼント、予算は5000円です", f"recipient {MONEY}", TIME),
    ("ja", "3000円以内で、明日までに欲しい", f"{TIME} {MONEY}", "recipient"),
    ("ar", "أحتاج كيس نوم قبل يوم الجمعة", TIME, MONEY),
    ("ar", "هدية لأختي بحدود مئة دولار", f"recipient {MONEY}", TIME),
]
NOT_SAID = [
    ("en", "A tent for three people and a stove"),
    ("en", "Under 15 inches wide, with 16 GB"),
    ("en", "I'm not looking for the cheapest one."),
    ("en", "I bought it on Monday, are you open on Sundays?"),
    ("en", "It arrived today, with a scratch; the old one cost 50 euros."),
    ("en", "Air Max 90 or a 20 pounds kettlebell, and can I pay in 3 instalments?"),
    ("en", "It's not a gift and not for work."),
    ("en", "I bought it for 50 euros yesterday, how do I return it?"),
    ("en", "I have a hole in the tent today. Why was it not delivered today?"),
    ("de", "Das habe ich für 50 Euro gekauft, es ist kaputt. Haben Sie heute offen?"),
    ("es", "Me cobraron un cargo de 50 euros; lo compré por 30 euros."),
    ("fr", "Je l'ai acheté pour 20 euros et il n'a pas été livré aujourd'hui."),
    ("ja", "今日お店に行く必要がありますか"),
    ("en", "Is the birthday card aisle open? The price tag fell off."),
    ("de", "Guten Morgen, am Montag kam das Paket an. Haben Sie am Samstag offen?"),
    ("es", "Compré dos el lunes, ¿la tienda abre por la mañana?"),
    ("fr", "J'ai été déçu lundi, vous ouvrez le samedi ?"),
    ("ja", "今日届いたけど壊れていた。土曜日は開いていますか"),
    ("ar", "وصل الطلب يوم الاثنين، هل تفتحون يوم الجمعة؟"),
    ("en", "The zip of my coat is stuck and I cannot open it."),
    ("de", "Welcher Schlafsack ist warm genug für den Wald?"),
    ("es", "¿Qué lámpara da más luz?"),
    ("fr", "Quelle couleur va avec un canapé gris ?"),
    ("ja", "このランプは明るいですか"),
    ("ar", "هل هذا المصباح قوي؟"),
]


def stated(text: str, language: str) -> set[str]:
    return stated_by(text, language, FEATURES.values())


def test_a_message_states_what_it_says_outright() -> None:
    wrong = []
    for language, text, said, unsaid in SAID:
        found = stated(text, language)
        if not set(said.split()) <= found or found.intersection(unsaid.split()):
            wrong.append((text, set(said.split()) - found, found.intersection(unsaid.split())))
    assert wrong == []


def test_a_message_states_nothing_that_it_does_not_say() -> None:
    asked = set(f"{TIME} {MONEY} recipient sentiment frugality parcel_patience".split())
    found = {text: stated(text, language) & asked for language, text in NOT_SAID}
    assert {text: keys for text, keys in found.items() if keys} == {}


def test_a_feature_of_ones_own_tells_by_its_cues_unit_and_meanings_what_states_it() -> None:
    raw: dict[str, Any] = {"key": "own", "name": "Own", "definition": "What the author needs."}
    number = {**raw, "answer": "number", "bounds": [2, 5]}
    place = {**raw, "values": ["hall", "yard"], "meanings": {"yard": "garden, lawn"}}
    cases = [
        ({**raw, "values": ["a", "b"], "cues": ["Frist"]}, "Ich brauche es bis Montag.", "de"),
        ({**number, "unit": "USD"}, "for around 80 €", "en"),
        ({**number, "unit": "lamps"}, "I need 4 lamps", "en"),
        ({**number, "unit": "weeks"}, "before Christmas, please", "en"),
        (place, "a bench for the garden", "en"),
    ]
    asked = [text for raw, text, language in cases if not own(raw, text, language)]
    assert asked == []
    assert not own(place, "a bench, not for the garden")
    assert own({**number, "unit": "years"}, "a desk that lasts 9 years")
    for said in ("my son is 9 years old", "he is 9 years and 3 months", "2 years later it broke"):
        assert not own({**number, "unit": "years"}, said)
    assert not own(place, "for the hall or for the garden")


def own(raw: dict[str, Any], text: str, language: str = "en") -> set[str]:
    return stated_by(text, language, [parse_feature(raw)])


def test_a_hostile_message_is_read_at_once() -> None:
    hostile = (
        *("for ", "i am ", "1 ", "one ", "$", "gift for ", "一", "1.", "budget ", "のため母"),
        *("quatre vingt dix ", "soixante dix sept "),
    )
    for language in ("en", "ja"):
        stated("a lamp", language)
        for seed in hostile:
            assert_linear_time(partial(stated, language=language), seed, 250)
