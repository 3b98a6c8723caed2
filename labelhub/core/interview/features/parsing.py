"""From JSON to a feature: every field checked, and the label space derived where it is."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features.feature import (
    ANSWERS,
    CHOICE,
    NUMBER,
    OPTIONS,
    WORD,
    YES_NO,
    Feature,
    Template,
    derived_words,
)
from labelhub.core.interview.features.numbers import overlapping_ranges
from labelhub.core.interview.features.spaces import (
    LARGEST,
    LEAST_BOUNDS,
    MOST_BOUNDS,
    NO,
    YES,
    band_values,
    is_bound,
    overlapping_words,
)
from labelhub.core.schema import fold, unstorable
from labelhub.core.schema.reading import FORBIDDEN_IN_NAMES

MOST_VALUES = 20

_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_MOST_CUES = 200
_LONGEST = {"name": 60, "definition": 500, "applies": 500, "hint": 500, "unit": 12}
_BETTER_BANDS = "Write '2 to under 4' and '4 to under 7'."
_LONGEST_VALUE, _LONGEST_MEANING, _LONGEST_QUESTION = 60, 500, 140


def parse_feature(raw: Mapping[str, Any]) -> Feature:
    """Read a feature from JSON, in the form of :meth:`Feature.to_json`; empty fields may be absent.

    Raises:
        InvalidInput: naming the field, and what would be right.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput("A feature must be an object with 'key', 'name' and 'definition'.")
    strange = sorted(set(map(str, raw)) - set(Feature.__dataclass_fields__))
    if strange:
        raise InvalidInput.at(strange[0], "is not a field of a feature.")
    answer = _answer(raw)
    bounds, unit = _bounds(raw, answer), _unit(raw, answer)
    values = _space(raw, answer, bounds)
    plain = Feature(
        key=_key(raw),
        name=_text(raw, "name", required=True),
        definition=_text(raw, "definition", required=True),
        answer=answer,
        values=values,
        ordinal=_ordinal(raw, answer, values),
        always=_flag(raw, "always"),
        applies=_text(raw, "applies"),
        cues=_words(raw, "cues", _MOST_CUES, _LONGEST_VALUE),
        hint=_text(raw, "hint"),
        meanings=_meanings(raw, values),
        bounds=bounds,
        unit=unit,
        prior=_prior(raw),
    )
    return replace(plain, templates=_templates(raw, plain))


def _key(raw: Mapping[str, Any]) -> str:
    key = raw.get("key", "")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput.at(
            "key", "must begin with a small letter, then small letters, digits, underscores."
        )
    return key


def _answer(raw: Mapping[str, Any]) -> str:
    answer = raw.get("answer", CHOICE)
    if answer not in ANSWERS:
        raise InvalidInput.at("answer", f"must be one of {', '.join(ANSWERS)}.")
    return str(answer)


def _text(raw: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    text = _checked(raw.get(name, ""), name, _LONGEST[name])
    if required and not text:
        raise InvalidInput.at(name, "must not be empty.")
    return text


def _checked(text: Any, where: str, longest: int) -> str:
    if not isinstance(text, str):
        raise InvalidInput.at(where, "must be text.")
    if bad := unstorable(text):
        raise InvalidInput.at(where, f"must not contain {bad}.")
    if len(text.strip()) > longest:
        raise InvalidInput.at(where, f"must be at most {longest} characters.")
    return " ".join(text.split())


def _flag(raw: Mapping[str, Any], name: str) -> bool:
    given = raw.get(name, False)
    if not isinstance(given, bool):
        raise InvalidInput.at(name, "must be true or false.")
    return given


def _words(raw: Mapping[str, Any], name: str, most: int, longest: int) -> tuple[str, ...]:
    given = raw.get(name, [])
    if not isinstance(given, list | tuple):
        raise InvalidInput.at(name, "must be a list of words.")
    if len(given) > most:
        raise InvalidInput.at(name, f"must be at most {most}.")
    words = [_checked(each, f"{name}, number {at}", longest) for at, each in enumerate(given, 1)]
    if not all(words):
        raise InvalidInput.at(name, "must not contain an empty one.")
    return tuple(words)


def _bounds(raw: Mapping[str, Any], answer: str) -> tuple[float, ...]:
    """What parts the bands of a number; whole numbers stay whole."""
    given = raw.get("bounds", [])
    if answer != NUMBER:
        if given not in ([], ()):
            raise InvalidInput.at("bounds", "only a number has bounds.")
        return ()
    if not isinstance(given, list | tuple) or not LEAST_BOUNDS <= len(given) <= MOST_BOUNDS:
        raise InvalidInput.at("bounds", f"must be {LEAST_BOUNDS} to {MOST_BOUNDS} numbers.")
    if not all(map(is_bound, given)):
        raise InvalidInput.at("bounds", f"must be numbers of at most {LARGEST:,} either way.")
    if any(low >= high for low, high in pairwise(given)):
        raise InvalidInput.at("bounds", "must ascend, and none come twice.")
    return tuple(int(each) if float(each).is_integer() else float(each) for each in given)


def _unit(raw: Mapping[str, Any], answer: str) -> str:
    unit = _text(raw, "unit")
    if unit and answer != NUMBER:
        raise InvalidInput.at("unit", "only a number has a unit.")
    if _is_forbidden(unit):
        raise InvalidInput.at("unit", "must not contain commas, '#', '|' or '='.")
    return unit


def _space(raw: Mapping[str, Any], answer: str, bounds: tuple[float, ...]) -> tuple[str, ...]:
    """All it can be: as listed, or as derived, and then as read before where it is sent along."""
    values = _words(raw, "values", MOST_VALUES, _LONGEST_VALUE)
    if answer in (YES_NO, NUMBER):
        derived = (YES, NO) if answer == YES_NO else band_values(bounds)
        if values not in ((), derived):
            made = f"are made by us: {', '.join(derived)}. Leave them out."
            raise InvalidInput.at("values", made)
        return derived
    _check_values(values, answer)
    return values


def _ordinal(raw: Mapping[str, Any], answer: str, values: tuple[str, ...]) -> bool:
    given = _flag(raw, "ordinal")
    if given and (answer == YES_NO or not values):
        raise InvalidInput.at("ordinal", "only a closed choice can be a scale; name its values.")
    return given or answer == NUMBER


def _prior(raw: Mapping[str, Any]) -> float | None:
    given = raw.get("prior")
    if given is None:
        return None
    if not is_bound(given) or not -1 <= given <= 1:
        raise InvalidInput.at("prior", "must be a number from -1 to 1, or absent.")
    return float(given)


def _is_forbidden(text: str) -> bool:
    return bool(set(text) & set(f"{FORBIDDEN_IN_NAMES},="))


def _check_values(values: tuple[str, ...], answer: str) -> None:
    if not values:
        return
    if answer == WORD:
        raise InvalidInput.at("values", "an answer in one word has no list of values.")
    if len(values) < 2:
        raise InvalidInput.at("values", "must be at least 2, or none for an open choice.")
    bad = next(filter(_is_forbidden, values), None)
    if bad is not None:
        raise InvalidInput.at("values", f"'{bad}' must not contain commas, '#', '|' or '='.")
    if len({fold(value) for value in values}) < len(values):
        raise InvalidInput.at("values", "must not name the same value twice.")
    if pair := overlapping_ranges([value.replace("_", " ") for value in values]):
        raise InvalidInput.at("values", f"{pair} overlap. {_BETTER_BANDS}")


def _meanings(raw: Mapping[str, Any], values: tuple[str, ...]) -> dict[str, str]:
    given = raw.get("meanings", {})
    if not isinstance(given, Mapping) or not set(given) <= set(values):
        raise InvalidInput.at("meanings", "must map values of the feature to words.")
    return {
        value: _checked(given[value], f"meanings, {value}", _LONGEST_MEANING)
        for value in values
        if value in given
    }


def _templates(raw: Mapping[str, Any], feature: Feature) -> dict[str, Template]:
    given = raw.get("templates", {})
    if not isinstance(given, Mapping):
        raise InvalidInput.at("templates", "must map languages to questions.")
    made = {}
    for language, each in given.items():
        where = f"templates, {language}"
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise InvalidInput.at("templates", f"'{language}' is no language; write 'en' or 'de'.")
        if not isinstance(each, Mapping) or not set(each) <= {"question", "options"}:
            raise InvalidInput.at(where, "must have 'question' and 'options'.")
        question = _checked(each.get("question", ""), f"{where}, question", _LONGEST_QUESTION)
        if not question:
            raise InvalidInput.at(f"{where}, question", "must not be empty.")
        options = each.get("options", {})
        if options == {}:
            options = derived_words(feature, language)
        made[language] = Template(question, _options(options, where, feature))
    return made


def _options(given: Any, where: str, feature: Feature) -> dict[str, str]:
    where, values = f"{where}, options", feature.values
    if not isinstance(given, Mapping):
        raise InvalidInput.at(where, "must map values to words.")
    if feature.answer == WORD and given:
        raise InvalidInput.at(where, "an answer in one word has none.")
    if values and set(given) != set(values):
        raise InvalidInput.at(where, "must have words for every value of the feature, and no more.")
    if feature.answer == CHOICE and not values and len(given) < OPTIONS:
        raise InvalidInput.at(where, f"an open choice needs at least {OPTIONS}.")
    named = values or [_checked(value, where, _LONGEST_VALUE) for value in given]
    words = {
        value: _checked(told, f"{where}, {value}", _LONGEST_VALUE)
        for value, told in zip(named, map(given.get, values or given), strict=True)
    }
    told = list(words.values())
    if feature.answer == NUMBER and (pair := overlapping_words(told)):
        raise InvalidInput.at(where, f"{pair} overlap or leave a number out. {_BETTER_BANDS}")
    if pair := overlapping_ranges(told):
        raise InvalidInput.at(where, f"{pair} overlap. {_BETTER_BANDS}")
    return words
