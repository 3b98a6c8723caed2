"""Messages that are left alone without a model, in any language."""

import subprocess
import sys
from pathlib import Path

import pytest

from labelhub.core.interview.language import detect_language
from labelhub.core.interview.message_filter import screen
from tests.cases import all_cases

DROPPED = {
    "empty": ["", "   ", "?!", "🙂"],
    "too_short": ["ok", "hello", "Danke!", "はい", "broken"],
    "machine_like": [
        *("asdfghjkl", "sdfkjhsdkfjh skdjfhksjdf", "aaaaaaaaaa", "x" * 80),
        *("buy buy buy buy buy buy buy", "one two three " * 5, "Dear {{name}}, it is here"),
    ],
    "spam": [
        "Great deals at https://a.example and https://b.example",
        "Write me on t.me/deals for cheap watches",
        "Visit www.shop.example or call +1 555 123 45 67 89",
    ],
    "overlong": [" ".join(f"The lamp number {n} is far too bright for me." for n in range(99))],
}  # fmt: skip


def test_what_says_nothing_is_left_alone() -> None:
    wrong = {
        text[:60]: screen(text)
        for reason, texts in DROPPED.items()
        for text in texts
        if screen(text) != reason
    }
    assert wrong == {}


def test_the_same_again_is_not_asked_about_twice() -> None:
    assert screen("A tent, please!", recent=["a tent please"]) == "repeated"
    assert screen("A tent, please!", recent=["a red tent please"]) == ""


def test_a_hostile_text_is_screened_at_once() -> None:
    for text in ("(" * 50_000, "a " * 50_000, "\u0301" * 50_000, "x=" * 20_000):
        assert screen(text) in {"empty", "machine_like", "overlong"}


ROOT = Path(__file__).resolve().parents[3]
ALL = ("en", "de", "es", "fr", "ja", "pt", "it", "nl", "ar")


@all_cases(
    ("text", "language"),
    [
        ("I would like to buy a new phone", "en"),
        ("Ich möchte ein neues Fahrrad kaufen", "de"),
        ("Quiero comprar un teléfono nuevo", "es"),
        ("Je voudrais acheter un nouveau vélo", "fr"),
        ("新しい電話が欲しいです", "ja"),
        ("Eu gostaria de comprar um celular novo", "pt"),
        ("Vorrei comprare un telefono nuovo", "it"),
        ("Ik wil graag een nieuwe telefoon kopen", "nl"),
        ("أريد شراء هاتف جديد", "ar"),
        ("أحذية جديدة", "ar"),
        ("هاتف", "ar"),
        ("هاتف iPhone", "ar"),
    ],
)
def test_a_sentence_is_known_by_its_words_or_letters(text: str, language: str) -> None:
    assert detect_language(text, ALL, "xx") == language


@all_cases("text", ["", "ok", "hallo du", "12 34 56 78", "!!! ??? ...", "👍 👍 👍", "東京"])
def test_what_could_be_of_any_language_gets_the_default(text: str) -> None:
    assert detect_language(text, ALL, "xx") == "xx"


def test_only_languages_of_the_site_are_answered() -> None:
    german = "Ich möchte ein neues Fahrrad kaufen"
    assert detect_language(german, ("en", "nl"), "en") in {"en", "nl"}
    assert detect_language(german, (), "en") == "en"
    assert detect_language(german, ("tlh",), "en") == "en"


@pytest.mark.thorough
def test_the_model_is_not_loaded_before_it_is_needed() -> None:
    script = (
        "from labelhub.core.interview import language\n"
        "before = language._load_identifier.cache_info().currsize\n"
        "language.detect_language('where is my phone', ('en', 'de'), 'en')\n"
        "print(before, language._load_identifier.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"]
