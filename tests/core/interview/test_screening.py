"""Which messages are worth asking about: those with a wish, a question or a feeling in them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.interview.screening import Screened, screen
from labelhub.core.interview.screening.phrases import folded, phrase_table, tokens_of
from labelhub.core.interview.screening.vocabulary import vocabularies

REASONS = {
    "",
    "empty",
    "greeting",
    "thanks",
    "goodbye",
    "bare_reply",
    "smalltalk",
    "spam",
    "machine_like",
    "too_short",
    "repeated",
}

WORTH_ASKING = """
cheap flights to Rome|I hate this phone|I feel lonely|this sucks|help|my order is late
hi, I need a laptop under 500 euros|thanks, but the zip broke|can you help me?|how much is it?
the room was dirty|no hot water in the room|I was charged twice|it doesn't work|running shoes
I need a room tomorrow|book 2 rooms|yes, but I want a bigger one|can I talk to a human
Do you allow pets in the hotel?|I won a voucher, how do I redeem it?|where is my parcel?
is bitcoin a good investment?|URGENT: my passport was stolen, please help!!!|I want to die
Call me at 0171 5551234 when my car is ready|is https://shop.example/item/42 in stock?
hotel deals in Ibiza for under £300|cheap holiday to Tenerife for 2 adults
The mobile network is down AGAIN!!! Fix it NOW!|need a loan of 5000 euros
which mobile plan has free minutes and unlimited texts|I won the lottery and want to buy a car
unsubscribe me from your newsletter|is there a promo code for free shipping
günstige Flüge nach Rom|ich hasse dieses Handy|Hallo, ich suche einen Laptop unter 500 Euro
Wo bleibt mein Paket?|ich bin so traurig|mir ist langweilig|Ich brauche neue Schuhe
vuelos baratos a Roma|odio este teléfono|hola, busco un portátil|no me gusta el móvil
¿dónde está mi pedido?|estoy triste|necesito zapatos nuevos
vols pas chers pour Rome|je déteste ce téléphone|bonjour, je cherche un ordinateur portable
où est mon colis ?|je suis triste|je n'aime pas ce téléphone
ローマ行きの安い航空券|このスマホが嫌い|こんにちは、ノートパソコンを探しています|疲れた
荷物はどこですか？|新しい靴が欲しい|悲しい
odeio este celular|voglio un telefono nuovo|ik zoek een nieuwe laptop
A tent for two under 150, please|Winter jacket for kids|Neue Schuhe|Red Dress|opening hours
"""
OTHER_LANGUAGES = """
我想买一部新手机|อยากซื้อมือถือใหม่ที่ถ่ายรูปสวย|хочу купить новый телефон|새 휴대폰을 사고 싶어요
chcę kupić nowy telefon|أريد شراء هاتف جديد|मुझे नया फोन चाहिए|Jag vill köpa en ny telefon
tôi muốn mua điện thoại mới|Yeni bir telefon almak istiyorum|Θέλω να αγοράσω ένα τηλέφωνο
Ninataka kununua simu mpya kwa bei nafuu|Új telefont szeretnék venni a feleségemnek
"""
NOT_WORTH_ASKING = {
    "greeting": """hi|Hello!|good morning :)|hey there|how are you today?|Hallo|Guten Morgen!
wie geht's?|hola|buenos días|¿qué tal?|bonjour|salut, ça va ?|こんにちは|お元気ですか|olá
buongiorno|goedemorgen|привет|你好""",
    "thanks": """thx|Thank you so much!|thanks for the help|that was very helpful, thanks
danke schön|vielen Dank für die Hilfe|muchas gracias por tu ayuda|merci beaucoup
merci pour votre aide|ありがとうございます|助かりました|obrigado|grazie mille|dank je wel""",
    "goodbye": """bye|see you later|have a nice day|it was nice talking to you|tschüss
schönen Abend noch|adiós|hasta luego|au revoir|bonne journée|さようなら|また明日|tchau|doei""",
    "bare_reply": """yes|no|ok|maybe|idk|the second one|yes please|not sure|tomorrow at 7
2 people|for 3 nights|15:30|my name is Peter Smith|New York|ja|nein|vielleicht|keine Ahnung
das zweite|morgen um 7|2 Personen|sí|vale|quizás|no sé|el segundo|mañana a las 7|oui|non
peut-être|je ne sais pas|le deuxième|demain à 7 heures|はい|いいえ|わからない|二番目|明日の7時
2人です|東京タワー|não|forse|misschien""",
    "too_short": "Berlin|from Munich|shoes|Schuhe|東京",
    "smalltalk": """who made you|tell me a joke|are you a robot?|what is your name|how old are you
what's the meaning of life|wer hat dich gemacht|erzähl mir einen Witz|¿quién te creó?
cuéntame un chiste|qui t'a créé ?|raconte-moi une blague|冗談を言って|あなたは人間ですか""",
    "spam": """Congratulations! You have been selected to win a $1000 gift card. Click here now!
Buy cheap Viagra online, no prescription needed! Visit www.pills.example.com
Double your bitcoin in 24 hours! Join our Telegram group now
Best SEO services! Get 10,000 backlinks and rank first on Google
Play at our online casino and get 200 free spins, no deposit bonus!
Earn $5000 per week working from home! No experience needed. Sign up now!
Hot singles in your area want to meet you tonight! Click here
Dear customer, your account has been suspended. Verify your details at http://bank.xyz
WINNER!! Txt CLAIM to 80123 to collect your prize. 150p/msg, T&Cs apply, 18+
Sie haben ein iPhone gewonnen, herzlichen Glückwunsch! Klicken Sie hier: www.gewinn.de
¡Felicidades! Ha ganado un premio de 1000 euros. Haga clic aquí ahora
Félicitations ! Vous avez gagné un iPhone. Cliquez ici pour réclamer votre prix
おめでとうございます！当選しました。今すぐこちらをクリック http://x.jp""".replace("\n", "|"),
    "machine_like": """As an AI language model, I cannot do that.|Lorem ipsum dolor sit amet
Dear {{first_name}}, welcome back to us|asdfasdf|asdf jkl qwer|sdkjfhskdjfh|aaaaaaaaaa
buy buy buy buy buy buy buy|Als KI-Sprachmodell kann ich das nicht|Hello [your name], nice bag
En tant que modèle de langage, je ne peux pas|AI言語モデルとしてお答えします""",
    "empty": "|  |...|???|👍👍|🎉 !!!|\u200b\u200b",
}


def messages(lines: str) -> list[str]:
    """The messages of a list, one a line or between bars."""
    return lines.removeprefix("\n").removesuffix("\n").replace("\n", "|").split("|")


@pytest.mark.parametrize("text", [*messages(WORTH_ASKING), *messages(OTHER_LANGUAGES)])
def test_wishes_questions_and_feelings_pass(text: str) -> None:
    assert screen(text) == Screened(passed=True)


@pytest.mark.parametrize(
    ("reason", "text"),
    [(reason, text) for reason, lines in NOT_WORTH_ASKING.items() for text in messages(lines)],
)
def test_what_carries_nothing_is_dropped_with_the_reason(reason: str, text: str) -> None:
    assert screen(text).reason == reason


def test_what_spoke_for_it_is_told() -> None:
    assert "prize" in screen("URGENT! You have won a £500 prize. Call 09061701461 now").detail


@pytest.mark.parametrize(
    "again", ["Where is my parcel?", "  where is MY parcel ", "whére is my parcel!!"]
)
def test_a_message_said_before_is_repeated(again: str) -> None:
    assert screen(again, recent=["hi", "Where is my parcel?"]).reason == "repeated"


def test_a_message_that_only_begins_like_one_before_is_not() -> None:
    long = "Where is my parcel? " + "I have waited for so many days, you see. " * 60
    assert screen(long + "Bye", recent=[long + "Hi"]).reason != "repeated"
    assert screen("Where is my other parcel?", recent=["Where is my parcel?"]).passed


def test_a_phrase_may_have_alternatives_stems_and_gaps() -> None:
    table = phrase_table([("who ... made|built you", 1), ("sing*", 2)])
    said = tokens_of("tell me who on earth built you and singing")
    assert list(table.found(said)) == [(2, 7, 1), (8, 9, 2)]
    assert not list(table.found(tokens_of("who of all of them made you")))


def test_tokens_are_words_or_characters_without_accents() -> None:
    assert tokens_of("Übergrößen, ça va? 靴が") == ["ubergrossen", "ca", "va", "靴", "が"]


def test_all_languages_have_a_vocabulary_of_one_shape() -> None:
    assert [each.language for each in vocabularies()] == sorted(
        ["ar", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "others"]
    )
    assert len({tuple(each.words) for each in vocabularies()}) == 1


@given(st.text(max_size=300), st.lists(st.text(max_size=20), max_size=3))
def test_no_text_is_too_odd(text: str, recent: list[str]) -> None:
    found = screen(text, recent=recent)
    assert found.reason in REASONS
    assert found.passed == (found.reason == "")


@given(st.text(max_size=300))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text(min_size=1, max_size=100))
def test_what_has_just_been_said_never_passes(text: str) -> None:
    assert not screen(text, recent=[text]).passed


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "what ", "who you ", "tell me ", "do you have ", "\u0301", "a\u0301", "\u0e34"),
        *("\ufdfa", "!", "1 ", "2", "[your ", "{{", "call 0", "A", "http://", "ありがとう", "no, "),
    ],
)
def test_a_long_hostile_text_is_read_in_time(unit: str) -> None:
    text = unit * (8000 // len(unit))
    screen(text)
    begun = time.perf_counter()
    screen(text)
    assert time.perf_counter() - begun < 0.1
