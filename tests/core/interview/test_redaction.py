"""What redaction finds, what it leaves alone, and what holds for every text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.interview.redaction import Redacted, redact
from tests.cases import all_cases


def rebuilt(text: str, redacted: Redacted) -> str:
    """``text`` with its findings replaced by their marks."""
    for each in reversed(redacted.findings):
        text = text[: each.start] + each.mark + text[each.end :]
    return text


CONTACTS = [
    ("Write to lena.berg+shop@mail.example.co.uk please", "Write to [e-mail] please"),
    ("Mail: ｌｅｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "Mail: [e-mail]"),
    ("tom dot reed at gmail dot com", "[e-mail]"),
    ("schreib an lena (at) example (punkt) de", "schreib an [e-mail]"),
    ("lena.berg [at] web.de", "[e-mail]"),
    ("escribe a lena arroba correo punto es", "escribe a [e-mail]"),
    ("l e n a @ m a i l . c o m", "[e-mail]"),
    ("メールはlena@example.jpです", "メールは[e-mail]です"),
    ("Call me at (415) 555-2671.", "Call me at [phone]."),
    ("+44 20 7946 0958 is my line", "[phone] is my line"),
    ("my line: 0044 20 7946 0958", "my line: [phone]"),
    ("Ruf mich an: 0171 2345678", "Ruf mich an: [phone]"),
    ("Mon téléphone : 06 12 34 56 78", "Mon téléphone : [phone]"),
    ("Llámame al 612 345 678", "Llámame al [phone]"),
    ("電話は０９０-１２３４-５６７８です", "電話は[phone]です"),
    ("my number is 55\u200b5\u200b-0123", "my number is [phone]"),
    ("call me about order 5551234567 on 030 1234567", "call me about order 5551234567 on [phone]"),
    ("450 0840 is my new number", "[phone] is my new number"),
    ("What's your number? 450 0840", "What's your number? [phone]"),
    ("Lena Berg\n99 668472\nOslo", "Lena Berg\n[phone]\nOslo"),
    ("see https://example.com/a?b=c, or www.shop.test.", "see [link], or [link]."),
    ("bought it at kettles.de yesterday", "bought it at [link] yesterday"),
    ("my site is kettles.it", "my site is [link]"),
    ("my host is 203.0.113.77", "my host is [ip]"),
    ("ping 2001:db8::8a2e:370:7334 fails", "ping [ip] fails"),
    ("the printer 00:1A:2B:3C:4D:5E", "the printer [mac]"),
]
NUMBERS = [
    ("pay with 4111 1111 1111 1111 today", "pay with [card] today"),
    ("pay with 5555-5555-5555-4444", "pay with [card]"),
    ("amex 378282246310005", "amex [card]"),
    ("my card 4111 1111 1111 1112 was mistyped", "my card [card] was mistyped"),
    ("IBAN DE89 3704 0044 0532 0130 00 bitte", "IBAN [iban] bitte"),
    ("it is gb82west12345698765432", "it is [iban]"),
    ("to 1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "to [wallet]"),
    ("to 0x52908400098527886E0F7030069857D2E4169EE7", "to [wallet]"),
    ("123-45-6789", "[id]"),
    ("my SSN is 123456789", "my SSN is [id]"),
    ("NI number AB 12 34 56 C", "NI number [id]"),
    ("Meine Steuer-ID ist 36 574 261 809", "Meine Steuer-ID ist [id]"),
    ("2 55 08 14 168 025 38", "[id]"),
    ("12345678Z y X1234567L", "[id] y [id]"),
    ("RSSMRA85T10A562S", "[id]"),
    ("mijn BSN 123456782", "mijn BSN [id]"),
    ("CPF 390.533.447-05", "CPF [id]"),
    ("2341 2341 2346", "[id]"),
    ("PESEL 44051401359", "PESEL [id]"),
    ("880320-0016", "[id]"),
    ("マイナンバーは123456789018です", "マイナンバーは[id]です"),
    ("passport number C01X00T47", "passport number [id]"),
    ("Führerscheinnummer: B072RRE2I55", "Führerscheinnummer: [id]"),
    ("I was born on 12 March 1985", "I was born on [birth date]"),
    ("geboren am 03.04.1990", "geboren am [birth date]"),
    ("née le 5 mai 1978", "née le [birth date]"),
    ("生年月日は1990年4月3日", "生年月日は[birth date]"),
]
#: In two parts, or the file itself would look as if it held one.
PEM = "PRIVATE" + " KEY"
SECRETS = [
    ("my password is hunter2!", "my password is [secret]!"),
    ("password: correcthorse", "password: [secret]"),
    ("mein Passwort lautet Geheim123", "mein Passwort lautet [secret]"),
    ("mot de passe : soleil", "mot de passe : [secret]"),
    ("la contraseña es Perro#99", "la contraseña es [secret]"),
    ("パスワードはneko1234", "パスワードは[secret]"),
    ("key AKIAIOSFODNN7EXAMPLE", "key [secret]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[secret]"),
    (f"-----BEGIN {PEM}-----\nMIIEvQ\n-----END {PEM}-----", "[secret]"),
    ("token 9fJ2kLm8QzX4vB7nR1tY6wEa", "token [secret]"),
]
ADDRESSES = [
    ("I live at 221B Baker Street, London", "I live at [address]"),
    ("Ship to 12 Oak Ave, Springfield, IL 62704", "Ship to [address]"),
    ("Lieferung an Hauptstraße 12, 10115 Berlin", "Lieferung an [address]"),
    ("J'habite 12 rue de la Paix, 75002 Paris", "J'habite [address]"),
    ("Vive en Calle Mayor 5, 28013 Madrid", "Vive en [address]"),
    ("Abito in Via Roma 131", "Abito in [address]"),
    ("東京都千代田区千代田1-1に送って", "[address]に送って"),
    ("my zip code is 04609", "my zip code is [address]"),
    ("postcode SW1A 1AA", "postcode [address]"),
    ("P.O. Box 242", "[address]"),
]
INTRODUCTIONS = [
    ("My name is Tom Reed and it broke", "My name is [name] and it broke"),
    ("my name is tom reed", "my name is [name]"),
    ("I'm Tom Reed.", "I'm [name]."),
    ("Dear Ms. O'Neill, thank you", "Dear [name], thank you"),
    ("Hallo Lena, alles gut", "Hallo [name], alles gut"),
    ("Ich heiße Jürgen und komme aus München", "Ich heiße [name] und komme aus [place]"),
    ("Je m'appelle Zoé Martin, j'habite à Lyon", "Je m'appelle [name], j'habite à [place]"),
    ("Me llamo Ana de Souza y vivo en Sevilla", "Me llamo [name] y vivo en [place]"),
    ("меня зовут Иван Петров", "меня зовут [name]"),
    ("私の名前は田中太郎です。京都に住んでいます", "私の名前は[name]です。[place]に住んでいます"),
    ("It broke.\n\nBest regards,\nTom", "It broke.\n\nBest regards,\n[name]"),
    ("Mit freundlichen Grüßen\nLena Berg", "Mit freundlichen Grüßen\n[name]"),
    ("Frau Berg hat mir geholfen", "Frau [name] hat mir geholfen"),
    ("I'm from New York", "I'm from [place]"),
]


@all_cases(("text", "expected"), [*CONTACTS, *NUMBERS, *SECRETS, *ADDRESSES, *INTRODUCTIONS])
def test_personal_data_is_replaced_by_its_mark(text: str, expected: str) -> None:
    assert redact(text).text == expected


@all_cases(
    "text",
    [
        "Order 12345678 from 2023-05-14 cost 1,299.99 EUR, paid 12/11/2023 14:30:22",
        "Bestellnummer 40012345678, Preis 1.299,00 €",
        "my order number is 4155552671",
        "In 2019-2020 we sold 12 500 000 units",
        "Version 10.15.7.1 and update to 5.2.0.1 crashed",
        "EAN 4006381333931, tracking 1Z999AA10123456784",
        "What is 123456789 times 987654321? About 0.123456789012",
        "iPhone 13 Pro 256GB or an i5 8th gen with a 1 TB Hard Drive",
        "Spring 2024 collection. During 2023 I paid 50 via PayPal 2 days ago",
        "2 Samsung TVs way too small, 3 Nights Park Hyatt, 2 hours on the road",
        "my password is wrong and the pin is missing, is a reset possible?",
        "my name is on the list; product name: kettle",
        "Dear Customer, hello world! I am Very Happy with MS Office, 200 ms Delay",
        "I like it.So do you. Is it working.it is not. Use node.js, numpy.py and std::vector a::b",
        "I'm from the support team and live in hope",
        "Is this made in China or from Germany?",
        "lorem_ipsum_dolor_sit_amet_consectetur",
        "nie mehr als 10000 Stück; お客様と皆様",
    ],
)
def test_what_only_looks_like_personal_data_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_finding_names_its_kind_and_its_place_in_the_original() -> None:
    text = "Hi, I'm at te\u200bst@exam\u200bple.com!"
    (finding,) = redact(text).findings
    assert (finding.type, finding.mark) == ("email", "[e-mail]")
    assert text[finding.start : finding.end] == "te\u200bst@exam\u200bple.com"


def test_the_longest_finding_wins_over_those_within() -> None:
    (finding,) = redact("https://tom:x@203.0.113.77/a@b.com").findings
    assert finding.type == "url"


@pytest.mark.parametrize(
    ("region", "expected"), [("DE", "[phone]"), ("US", "03012345678"), ("??", "03012345678")]
)
def test_the_region_tells_which_bare_national_numbers_are_phones(
    region: str, expected: str
) -> None:
    assert redact("03012345678", region=region).text == expected


def test_marks_that_are_there_already_stay() -> None:
    text = "My name is [name], mail [e-mail], card [card] and ssn [id]."
    assert redact(text) == Redacted(text, ())


PIECES = [text for text, _ in (*CONTACTS, *NUMBERS, *SECRETS, *ADDRESSES, *INTRODUCTIONS)]
JOINTS = [" ", ", ", "\n", "", "-", ". ", " 12 ", " and ", "(", "@", "\u200b", "です", "[name]"]


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(PIECES) | st.sampled_from(JOINTS) | st.text(max_size=12), max_size=8
    ).map("".join)
)
def test_findings_replaced_make_the_text_and_a_second_time_changes_nothing(text: str) -> None:
    redacted = redact(text)
    assert rebuilt(text, redacted) == redacted.text
    assert redact(redacted.text) == Redacted(redacted.text, ())
    ends = [0, *(each.end for each in redacted.findings)]
    starts = [*(each.start for each in redacted.findings), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert all(each.start < each.end for each in redacted.findings)
