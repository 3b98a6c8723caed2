"""Arabic from end to end: the language is known, and the questions are in Arabic."""

import pytest

from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.interview.language import detect_language, tokens_of
from labelhub.core.interview.pipeline import InterviewPlan
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import read_draft, template_draft
from labelhub.core.interview.wording import is_written_in, word_count
from tests.cases import all_cases
from tests.fakes.offline_interview import PROMPTS, interviewed

LANGUAGES = ("en", "de", "es", "fr", "ja", "ar")
FEATURES = [feature for features in starter_library().values() for feature in features]


@pytest.mark.parametrize("text", ["أريد شراء هاتف جديد", "أحذية جديدة", "هاتف", "هاتف iPhone"])
def test_letters_tell_the_language_of_a_short_message(text: str) -> None:
    assert detect_language(text, LANGUAGES, "en") == "ar"


@pytest.mark.parametrize(
    ("text", "among"),
    [
        ("هاتف", ("en", "fa", "ar")),
        ("هاتف", ("en", "de")),
        ("WhatsApp هو", ("en", "ar")),
        ("42", ("ar",)),
    ],
)
def test_letters_tell_nothing_where_two_languages_share_them_or_they_are_few(
    text: str, among: tuple[str, ...]
) -> None:
    assert detect_language(text, among, "xx") == "xx"


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


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_no_two_options_of_a_template_are_the_same(feature: Feature) -> None:
    options = feature.templates["ar"].options.values()
    assert len({tuple(tokens_of(option)) for option in options}) == len(options)
    assert all(is_written_in(option, "ar") for option in options)


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


def test_a_model_s_arabic_answer_is_read() -> None:
    feature = next(feature for feature in FEATURES if feature.key == "urgency")
    ready = template_draft(feature, "soon", "ar")
    assert ready is not None
    lines = [
        f"{index}. {words} = {ready.values[words]}" for index, words in enumerate(ready.options)
    ]
    lines = [line.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")) for line in lines]
    reply = "\n".join([f"السؤال: {ready.text}", "الخيارات:", *lines])
    draft = read_draft(reply, feature, "soon", "ar")
    assert (draft.text, draft.options) == (ready.text, ready.options)
    assert faults(draft, "", feature) == ()


def test_vowel_signs_do_not_add_words() -> None:
    assert word_count("شُكْرًا جَزِيلًا") == 2


def test_hamza_and_final_letters_are_written_for_each_other() -> None:
    assert tokens_of("أهلاً إلى مساعدة") == tokens_of("اهلا الي مساعده")
