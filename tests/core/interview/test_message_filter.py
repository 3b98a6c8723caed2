"""Messages that are left alone without a model, in any language."""

import subprocess
import sys
from pathlib import Path

import pytest

from labelhub.core.interview.features import parse_feature, starter_library
from labelhub.core.interview.language import detect_language
from labelhub.core.interview.message_filter import screen
from labelhub.core.interview.pipeline import InterviewPlan
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import read_draft
from labelhub.core.interview.wording import is_written_in
from tests.cases import all_cases
from tests.fakes.offline_interview import PROMPTS, interviewed

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
        "before = language._load_identifier.cache_info().currsize\n"
        "language.detect_language('where is my phone', ('en', 'de'), 'en')\n"
        "print(before, language._load_identifier.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"]


LANGUAGES = ("en", "de", "es", "fr", "ja", "ar")
FEATURES = [feature for features in starter_library().values() for feature in features]


@pytest.mark.parametrize("text", ["أريد شراء هاتف جديد", "أحذية جديدة", "هاتف", "هاتف iPhone"])
def test_letters_tell_the_language_of_a_short_message(text: str) -> None:
    assert detect_language(text, LANGUAGES, "en") == "ar"


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["أريد شراء هاتف جديد", "حذاء رياضي بلون أسود من فضلك"])
async def test_the_offline_model_asks_an_arabic_author_in_arabic(text: str) -> None:
    for feature in FEATURES:
        always = parse_feature({**feature.to_json(), "always": True})
        given = InterviewPlan(features=(always,), prompts=PROMPTS, salt="s")
        language = detect_language(text, LANGUAGES, "en")
        (draft,) = (await interviewed(text, given, language)).drafts
        assert draft.language == "ar"
        assert draft.text.endswith("؟")
        assert is_written_in(draft.text, "ar")
        assert draft.text == feature.templates["ar"].question


@all_cases(
    ("code", "text"),
    [
        ("leading", "كنت مستعجلًا، أليس كذلك؟"),
        ("reward", "هل كنت تريد الحصول على جائزة؟"),
        ("not_the_author", "ما مدى استعجال المستخدم؟"),
        ("private", "ما رقم هاتفك؟"),
        ("several_questions", "متى كتبت هذا ولماذا كنت غاضبًا؟"),
        ("no_question", "كنت مستعجلًا عندما كتبت هذا."),
        ("language", "How urgent was it to you?"),
    ],
)
def test_the_faults_of_an_arabic_question_are_found(code: str, text: str) -> None:
    feature = next(feature for feature in FEATURES if feature.key == "urgency")
    draft = read_draft(f"السؤال: {text}\nالخيارات:\n- فورًا = right_now", feature, "soon", "ar")
    assert code in {fault.code for fault in faults(draft, "", feature)}
