"""The language of a message, out of those of the site."""

import subprocess
import sys
from pathlib import Path

import pytest

from labelhub.core.interview.language import detect_language
from tests.cases import all_cases

ROOT = Path(__file__).resolve().parents[3]
ALL = ("en", "de", "es", "fr", "ja", "pt", "it", "nl")


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
    ],
)
def test_a_sentence_is_known_by_its_words(text: str, language: str) -> None:
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
        "before = language._load.cache_info().currsize\n"
        "language.detect_language('where is my phone', ('en', 'de'), 'en')\n"
        "print(before, language._load.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"]
