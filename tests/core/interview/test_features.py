"""Features: what may be learned from authors, and the starter library."""

from typing import Any

import pytest

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.interview.question_checks import MOST_OPTION_WORDS, faults
from labelhub.core.interview.questions import template_draft
from labelhub.core.interview.wording import word_count
from tests.cases import all_cases

LANGUAGES = {"en", "de", "es", "fr", "ja", "ar"}
LIBRARY = starter_library()
FEATURES = [feature for features in LIBRARY.values() for feature in features]


def raw(**more: Any) -> dict[str, Any]:
    return {"key": "mood", "name": "Mood", "definition": "How it felt.", **more}


def test_the_library_has_a_set_for_shops_and_one_for_feelings() -> None:
    assert set(LIBRARY) == {"emotion", "shopping"}
    assert len(LIBRARY["shopping"]) >= 30
    assert len(LIBRARY["emotion"]) >= 15


def test_every_kind_of_answer_is_in_the_library() -> None:
    kinds = {(feature.answer, bool(feature.values), feature.ordinal) for feature in FEATURES}
    assert kinds == {
        ("choice", True, True), ("choice", True, False),
        ("choice", False, False), ("word", False, False),
        ("yes_no", True, False), ("number", True, True),
    }  # fmt: skip


@pytest.mark.parametrize("name", LIBRARY)
def test_keys_are_unique_within_a_set(name: str) -> None:
    keys = [feature.key for feature in LIBRARY[name]]
    assert len(set(keys)) == len(keys)


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_a_feature_goes_to_json_and_back(feature: Feature) -> None:
    assert parse_feature(feature.to_json()) == feature


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_a_feature_of_the_library_can_be_asked_about_in_every_language(feature: Feature) -> None:
    assert set(feature.templates) == LANGUAGES
    for language in LANGUAGES:
        for predicted in feature.values or ("boredom",):
            draft = template_draft(feature, predicted, language)
            assert draft is not None
            assert faults(draft, "", feature) == ()
            assert len(draft.options) == feature.option_count


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_the_words_of_the_library_are_short(feature: Feature) -> None:
    for template in feature.templates.values():
        assert word_count(template.question) <= 14
        # "de 25 a 50 USD" takes more words than are asked of people and models.
        most = MOST_OPTION_WORDS if feature.answer == "number" else 4
        assert all(word_count(option) <= most for option in template.options.values())


@all_cases("feature", FEATURES, ids=lambda feature: feature.key)
def test_a_feature_of_the_library_says_when_it_applies_and_what_its_values_mean(
    feature: Feature,
) -> None:
    assert feature.applies
    assert feature.cues
    assert feature.hint
    assert set(feature.meanings) == (set() if feature.bounds else set(feature.values))


def test_the_least_a_feature_needs() -> None:
    feature = parse_feature(raw())
    assert (feature.answer, feature.values, feature.option_count) == ("choice", (), 4)
    assert not feature.always


def test_blanks_around_and_within_words_are_made_single() -> None:
    assert parse_feature(raw(name="  How \n it is ")).name == "How it is"


@pytest.mark.parametrize(
    ("answer", "values", "count"),
    [
        ("choice", ["yes", "no"], 2),
        ("choice", list("abcdef"), 4),
        ("choice", [], 4),
        ("word", [], 0),
    ],
)
def test_how_many_options_a_question_has(answer: str, values: list[str], count: int) -> None:
    assert parse_feature(raw(answer=answer, values=values)).option_count == count


def test_a_language_with_a_region_finds_its_template() -> None:
    feature = parse_feature(raw(answer="word", templates={"de": {"question": "Wie war dir?"}}))
    assert feature.template("de-AT") == feature.template("de")
    assert feature.template("nl") is None


TWO = ["up", "down"]
GOOD = {"question": "How did you feel?", "options": {"up": "Up", "down": "Down"}}


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
    ],
)
def test_a_malformed_feature_is_refused_by_its_field(field: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_feature(raw(**wrong))
    assert caught.value.data["errors"][0]["field"] == field


def test_what_is_no_object_is_no_feature() -> None:
    with pytest.raises(InvalidInput, match="must be an object"):
        parse_feature(["mood"])  # type: ignore[arg-type]
