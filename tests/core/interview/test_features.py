"""Features, the starter library, and answers that are yes, no or bands of numbers."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.calls import prediction_turn
from labelhub.core.interview.features import (
    MOST_BOUNDS,
    Feature,
    parse_feature,
    starter_library,
)
from labelhub.core.interview.pipeline import AuthorMessage, InterviewPlan
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import (
    template_draft,
)
from tests.cases import all_cases
from tests.fakes.offline_interview import PROMPTS, said

LANGUAGES = ("en", "de", "es", "fr", "ja", "ar")
LIBRARY = starter_library()
FEATURES = [feature for features in LIBRARY.values() for feature in features]


def raw(**more: Any) -> dict[str, Any]:
    return {"key": "mood", "name": "Mood", "definition": "How it felt.", **more}


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_a_feature_of_the_library_can_be_asked_about_in_every_language(feature: Feature) -> None:
    assert set(feature.templates) == set(LANGUAGES)
    for language in LANGUAGES:
        for predicted in feature.values or ("boredom",):
            draft = template_draft(feature, predicted, language)
            assert draft is not None
            assert faults(draft, "", feature) == ()
            assert len(draft.options) == feature.option_count


TWO = ["up", "down"]
BOUNDS = [25, 50, 100, 200]
GOOD = {"question": "How did you feel?", "options": {"up": "Up", "down": "Down"}}


WRONG_NUMBERS: list[tuple[str, dict[str, Any]]] = [
    ("bounds", {}),
    ("bounds", {"bounds": [1]}),
    ("bounds", {"bounds": "1;2"}),
    ("bounds", {"bounds": [1, "2"]}),
    ("bounds", {"bounds": [1, True]}),
    ("bounds", {"bounds": [1, float("inf")]}),
    ("bounds", {"bounds": [1, 10**13]}),
    ("bounds", {"bounds": [2, 1]}),
    ("bounds", {"bounds": [1, 1.0]}),
    ("bounds", {"bounds": list(range(MOST_BOUNDS + 1))}),
    ("bounds", {"bounds": BOUNDS, "answer": "choice"}),
    ("bounds", {"bounds": BOUNDS, "answer": "yes_no"}),
    ("unit", {"bounds": BOUNDS, "unit": "a=b"}),
    ("unit", {"bounds": BOUNDS, "unit": "x" * 13}),
    ("unit", {"bounds": [], "unit": "USD", "answer": "word"}),
    ("values", {"bounds": BOUNDS, "values": ["low", "high"]}),
    ("values", {"values": ["yes", "no", "perhaps"], "answer": "yes_no"}),
    ("ordinal", {"ordinal": True, "answer": "yes_no"}),
    ("meanings", {"bounds": BOUNDS, "meanings": {"25-50": "x"}}),
    ("prior", {"bounds": BOUNDS, "prior": 1.5}),
    ("prior", {"bounds": BOUNDS, "prior": "high"}),
    ("prior", {"bounds": BOUNDS, "prior": float("nan")}),
    (
        "templates, nl, options",
        {"answer": "yes_no", "templates": {"nl": {"question": "Was je boos?"}}},
    ),
    (
        "templates, en, options",
        {"answer": "yes_no", "templates": {"en": {"question": "Did you?", "options": []}}},
    ),
]


@all_cases(
    ("field", "wrong"),
    [
        ("key", {"key": "Mood"}),
        ("key", {"key": 7}),
        ("key", {"key": "x" * 41}),
        ("name", {"name": " "}),
        ("name", {"name": "x" * 61}),
        ("definition", {"definition": ""}),
        ("definition", {"definition": "a\0b"}),
        ("answer", {"answer": "essay"}),
        ("values", {"values": "up"}),
        ("values", {"values": ["up"]}),
        ("values", {"values": ["up", "UP "]}),
        ("values", {"values": ["up, down", "left"]}),
        ("values", {"values": ["a=b", "c"]}),
        ("values", {"values": ["up", ""]}),
        ("values", {"values": [str(number) for number in range(21)]}),
        ("values", {"values": TWO, "answer": "word"}),
        ("values, number 2", {"values": ["up", 2]}),
        ("ordinal", {"ordinal": True}),
        ("ordinal", {"ordinal": "yes", "values": TWO}),
        ("always", {"always": 1}),
        ("cues", {"cues": "cheap"}),
        ("meanings", {"values": TWO, "meanings": {"left": "x"}}),
        ("meanings", {"meanings": ["up"]}),
        ("templates", {"templates": []}),
        ("templates", {"templates": {"English": GOOD}}),
        ("templates, en", {"templates": {"en": "How?"}}),
        ("templates, en, question", {"templates": {"en": {"question": " "}}}),
        ("templates, en, options", {"values": TWO, "templates": {"en": {"question": "How?"}}}),
        ("templates, en, options", {"values": [*TWO, "left"], "templates": {"en": GOOD}}),
        ("templates, en, options", {"answer": "word", "templates": {"en": GOOD}}),
        ("templates, en, options", {"templates": {"en": GOOD}}),
        ("templates, en, options", {"values": TWO, "templates": {"en": GOOD | {"options": "up"}}}),
        ("colour", {"colour": "red"}),
    ]
    + [(field, {"answer": "number"} | wrong) for field, wrong in WRONG_NUMBERS],
)
def test_a_malformed_feature_is_refused_by_its_field(field: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_feature(raw(**wrong))
    assert caught.value.data["errors"][0]["field"] == field


def test_what_is_no_object_is_no_feature() -> None:
    with pytest.raises(InvalidInput, match="must be an object"):
        parse_feature(["mood"])  # type: ignore[arg-type]


BANDS = ("under 25", "25 to 50", "50 to 100", "100 to 200", "over 200")
ASKED = {
    "en": "How much did you mean?",
    "de": "Wie viel meinten Sie?",
    "es": "¿Cuánto quería usted?",
    "fr": "Combien vouliez-vous ?",
    "ja": "いくらのつもりでしたか？",
    "ar": "كم كنت تريد؟",
}

numbers = st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6).map(lambda number: round(number, 2))
ascending = st.lists(numbers, min_size=2, max_size=MOST_BOUNDS, unique=True).map(sorted)


def raw_answer(answer: str, **more: Any) -> dict[str, Any]:
    return raw(answer=answer, **more)


def number(bounds: Any = tuple(BOUNDS), unit: str = "USD", **more: Any) -> Feature:
    return parse_feature(raw_answer("number", bounds=list(bounds), unit=unit, **more))


async def predicted(feature: Feature, text: str) -> str:
    always = parse_feature(feature.to_json() | {"always": True})
    plan = InterviewPlan(features=(always,), prompts=PROMPTS, salt="s")
    return str((await said(prediction_turn(AuthorMessage(text, "en"), plan, always))).value)


def test_a_number_is_a_scale_of_bands() -> None:
    feature = number()
    assert (feature.values, feature.ordinal, feature.option_count) == (BANDS, True, 4)
    assert feature.bounds == tuple(BOUNDS)


@pytest.mark.thorough
@given(language=st.sampled_from(LANGUAGES), bounds=ascending)
def test_options_made_of_bounds_have_no_fault_in_any_language(
    language: str, bounds: list[float]
) -> None:
    feature = number(bounds, templates={language: {"question": ASKED[language]}})
    for value in feature.values:
        draft = template_draft(feature, value, language)
        assert draft is not None
        assert {fault.code for fault in faults(draft, "", feature)} <= {"option_too_long"}
        assert draft.values[draft.predicted] == value
        ranks = [feature.values.index(draft.values[option]) for option in draft.options]
        assert all(high - low == 1 for low, high in pairwise(ranks))


BAD_BANDS = (
    ("under 2", "2 to 4 days", "4 to 7 days", "over 7"),
    ("under 2", "3 to 4 days", "5 to 7 days", "over 7"),
    ("under 2", "2 to under 4 days", "5 to 7 days", "over 7"),
    ("bis 2", "2 bis 4 Tage", "5 bis 7 Tage", "über 7"),
    ("a day or two", "two to four days", "four to seven days", "a week or more"),
    ("weniger als zwei", "zwei bis vier Tage", "vier bis sieben Tage", "mehr als sieben"),
)


@all_cases("words", BAD_BANDS)
def test_bands_that_overlap_or_leave_a_number_out_are_refused(words: tuple[str, ...]) -> None:
    assert "overlap" in refusal(words)


APART: tuple[tuple[str, ...], ...] = (
    ("2 to under 4 days", "4 to 7 days", "over 7 days"), ("a pair", "one more pair"),
    ("1 adult and 3 kids", "2 adults and 4 kids"), ("iPhone 12", "iPhone 15"),
    ("up to 3", "4 to 6", "7 or more"), ("under two", "two to three", "über drei"),
    ("24/7 help", "9 to 5 help"), ("moins de 4 jours", "4 à 7 jours"),
    ("2以上4日未満", "4以上7日未満"),
    ("a couple of days", "a week", "no hurry"), ("10-20 cm", "21-30 cm"),
    ("no more than 5", "more than 5"), ("pas plus de 4", "plus de 4"), ("$0-$99", "$100-$200"),
    ("not over 5", "6 to 9"), ("less than 5", "not under 5"), ("لا أقل من ٥", "أقل من ٥"),
    ("less than 3", "no less than 3"), ("لا أكثر من ٥", "أكثر من ٥"), ("١ إلى ٣", "٤ إلى ٦"),
)  # fmt: skip
TOGETHER: tuple[tuple[str, ...], ...] = (
    ("0 to 2 days", "2 to 4 days"), ("2-4 days", "4-7 days"), ("two to four", "three to five"),
    ("up to 4 days", "4 to 7 days"), ("between 2 and 5", "3 to 4"), ("5 or more", "over 7"),
    ("zwei bis vier Tage", "vier bis sieben Tage"), ("de dos a cuatro días", "de cuatro a siete"),
    ("deux à quatre jours", "quatre à sept jours"), ("2日から4日", "4日から7日"),
    ("من يومين 2 إلى 4", "من 4 إلى 7"), ("twenty to fifty", "forty to two hundred"),
    ("خمسة إلى عشرة أيام", "عشرة إلى عشرين يوما"), ("500 to 1,000", "900 to 2,000"),
    ("no more than 5 days", "5 to 10 days"), ("höchstens 5", "4 bis 6"), ("€10-€20", "15€-30€"),
    ("not less than 5", "5 or more"), ("nicht unter 5", "5 oder mehr"),
    ("not over 5", "5 to 9"), ("لا أقل من ٥", "٥ أو أكثر"),
    ("between $10 and $20", "$20 or more"), ("١ إلى ٤", "٤ إلى ٦"), ("no más de 4", "3 a 6"),
)  # fmt: skip


def test_values_and_options_of_a_choice_that_have_a_number_in_common_are_refused() -> None:
    wrong = [(item, refusals(item)) for item in TOGETHER if refusals(item) != (True, True)]
    wrong += [(item, refusals(item)) for item in APART if refusals(item) != (False, False)]
    assert wrong == []


def refusals(words: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether they are refused as values, and as options for others."""
    named = {f"v{index}": word for index, word in enumerate(words)}
    template = {"en": {"question": "How long was it for you?", "options": named}}
    return (
        "overlap" in refusal_of(values=[word.replace(",", "") for word in words]),
        "overlap" in refusal_of(values=list(named), templates=template),
    )


def refusal_of(**fields: Any) -> str:
    try:
        parse_feature(raw_answer("choice", **fields))
    except InvalidInput as error:
        return error.message
    return ""


def refusal(words: tuple[str, ...]) -> str:
    plain = {**raw_answer("number"), "bounds": [2, 4, 7], "unit": "days"}
    values = parse_feature(plain).values
    template = {"question": "How many days?", "options": dict(zip(values, words, strict=True))}
    try:
        parse_feature({**plain, "templates": {"en": template}})
    except InvalidInput as error:
        return error.message
    return ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a gift for her", "yes"),
        ("it is not a gift", "no"),
        ("only for myself", "no"),
        ("something else", "no"),
        ("well wrapped, please", "yes"),
    ],
)
async def test_yes_is_told_by_its_words(text: str, value: str) -> None:
    meanings = {"yes": "gift, present", "no": "myself"}
    feature = parse_feature(raw_answer("yes_no", meanings=meanings, cues=["wrapped"]))
    assert await predicted(feature, text) == value
