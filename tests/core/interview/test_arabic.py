"""Arabic from end to end: the language is known, and the questions are in Arabic."""

import pytest

from labelhub.core.interview.features import parse_feature, starter_library
from labelhub.core.interview.language import detect_language
from labelhub.core.interview.pipeline import InterviewPlan
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import read_draft
from labelhub.core.interview.wording import is_written_in
from tests.cases import all_cases
from tests.fakes.offline_interview import PROMPTS, interviewed

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
