"""Features, which a site wants to learn from authors: definition, parsing, starter library.

A feature is answered by choosing (``choice``), yes or no (``yes_no``), one of several bands of
numbers (``number``), or with one word (``word``). A choice is closed if ``values`` lists all
answers, and open if it is empty. The values of ``yes_no`` and ``number`` are derived: they are
English in every language, unlike the words for authors. Numbers are asked for as bands, because
authors answer by a click. Source: paper 004, sections 2.2 and 4.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.number_ranges import (
    begins_above,
    ends_below,
    numbers_in,
    overlapping_ranges,
)
from labelhub.core.phrases import Phrase
from labelhub.core.schema import fold, unstorable
from labelhub.core.schema.parser import FORBIDDEN_IN_NAMES

#: There is one band more than bounds.
LEAST_BOUNDS, MOST_BOUNDS = 2, 19
LARGEST = 10**12

YES, NO = "yes", "no"
_YES_NO: Mapping[str, tuple[str, str]] = {
    "en": ("Yes", "No"),
    "de": ("Ja", "Nein"),
    "es": ("Sí", "No"),
    "fr": ("Oui", "Non"),
    "ja": ("はい", "いいえ"),
    "ar": ("نعم", "لا"),
}
#: Below the first bound, between two bounds, from the last bound on; "{u}" is the unit after a
#: blank. A bound belongs to the band that it begins, so every number has exactly one band.
_BANDS: Mapping[str, tuple[str, str, str]] = {
    "en": ("under {0}{u}", "{0} to under {1}{u}", "{0}{u} or more"),
    "de": ("unter {0}{u}", "{0} bis unter {1}{u}", "{0}{u} oder mehr"),
    "es": ("menos de {0}{u}", "{0} a menos de {1}{u}", "{0}{u} o más"),
    "fr": ("moins de {0}{u}", "{0} à moins de {1}{u}", "{0}{u} ou plus"),
    "ja": ("{0}{u}未満", "{0}以上{1}{u}未満", "{0}{u}以上"),
    "ar": ("أقل من {0}{u}", "{0} إلى أقل من {1}{u}", "{0}{u} أو أكثر"),
}
#: The names of the values, which are stored in labels.
_NAMES = ("under {0}{u}", "{0} to {1}{u}", "over {0}{u}")


def band_values(bounds: Sequence[float]) -> tuple[str, ...]:
    """The names of the bands, lowest first: "under 25", "25 to 50", "over 50".

    A bound belongs to the band that begins with it, as :func:`band_words` says.
    """
    return _bands(bounds, "", _NAMES)


def band_words(bounds: Sequence[float], unit: str, language: str) -> dict[str, str]:
    """Value → its band in words of an author's language; empty for other languages than ours."""
    if _short(language) not in _BANDS:
        return {}
    words = _bands(bounds, unit, _BANDS[_short(language)])
    return dict(zip(band_values(bounds), words, strict=True))


def overlapping_words(words: Sequence[str]) -> str:
    """Two neighbouring bands in words that share a number or miss one; "" if there are none.

    Numbers are taken as whole numbers.
    """
    for low, high in pairwise(words):
        ends, begins = numbers_in(low), numbers_in(high)
        if not ends or not begins:
            continue
        end, begin = ends[-1], begins[0]
        is_open = ends_below(low)
        if (end == begin and is_open == begins_above(high)) or not (
            end <= begin <= end + (not is_open)
        ):
            return f"'{low}' and '{high}'"
    return ""


def number_text(number: float) -> str:
    """A number without exponent and trailing zeros: "25", "0.5", "1000000"."""
    text = f"{Decimal(str(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_bound(given: object) -> bool:
    """Whether ``given`` is a number that can bound a band."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) <= LARGEST


def _bands(bounds: Sequence[float], unit: str, forms: tuple[str, str, str]) -> tuple[str, ...]:
    below, between, above = forms
    numbers = [number_text(bound) for bound in bounds]
    tail = f" {unit}" if unit else ""
    return (
        below.format(numbers[0], u=tail),
        *(between.format(low, high, u=tail) for low, high in pairwise(numbers)),
        above.format(numbers[-1], u=tail),
    )


def _short(language: str) -> str:
    return language.partition("-")[0]


CHOICE, YES_NO, NUMBER, WORD = "choice", "yes_no", "number", "word"
ANSWERS = (CHOICE, YES_NO, NUMBER, WORD)
#: The options of a choice; fewer only if there are fewer values.
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Template:
    """A ready question: its words, and words for all its values."""

    question: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a site wants to learn from authors.

    Args:
        key: its name for programs: small letters, digits and underscores.
        name: its name for people.
        definition: what it is, for people and models.
        answer: "choice", "yes_no", "number" or "word".
        values: all answers of a closed choice; empty if it is open. Those of "yes_no" (yes, no) and
            "number" (its bands, lowest first) are derived.
        ordinal: the values are a scale in order; numbers always are.
        always: it applies to every message, without a call of a model.
        applies: when it applies, in words for a model.
        cues: words that support it, for models that match words.
        hint: how to word a question about it.
        meanings: value → its meaning, with words that support it.
        templates: ready questions by language ("en").
        bounds: the bounds between the bands of a number, ascending, in ``unit``.
        unit: of the number ("USD", "days"); may be empty.
        prior: the expected benefit of knowing it, from -1 (harm) over 0 (as any other) to 1; None
            if unknown.
    """

    key: str
    name: str
    definition: str
    answer: str = CHOICE
    values: tuple[str, ...] = ()
    ordinal: bool = False
    always: bool = False
    applies: str = ""
    cues: tuple[str, ...] = ()
    hint: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    bounds: tuple[float, ...] = ()
    unit: str = ""
    prior: float | None = None

    def __hash__(self) -> int:
        return hash((self.key, self.definition))  # of all fields it takes long

    @property
    def kind(self) -> str:
        """The kind of answer: by choosing ("choice") or with a word ("word")."""
        return WORD if self.answer == WORD else CHOICE

    @property
    def option_count(self) -> int:
        """The number of options of a question about it: none for a word, else at most four."""
        if self.answer == WORD:
            return 0
        return min(OPTIONS, len(self.values)) if self.values else OPTIONS

    def template(self, language: str) -> Template | None:
        """The ready question in that language ("de", "de-AT"), if there is one."""
        return self.templates.get(language) or self.templates.get(language.partition("-")[0])

    def own_words(self, language: str) -> Mapping[str, str]:
        """Value → its words for an author: of the template in that language, else ours, else its
        name. Empty without fixed values, and for yes and no or bands in other languages than ours.
        """
        if not self.values:
            return {}
        ready = self.template(language)
        if ready is not None:
            return ready.options
        if self.answer in (YES_NO, NUMBER):
            return derived_words(self, language)
        return {value: " ".join(value.replace("_", " ").split()) for value in self.values}

    def to_json(self) -> dict[str, Any]:
        """JSON form, which :func:`parse_feature` reads back unchanged; without fields of other
        kinds of answer, a missing prior and derived options."""
        form: dict[str, Any] = {
            "key": self.key,
            "name": self.name,
            "definition": self.definition,
            "answer": self.answer,
            "values": list(self.values),
            "ordinal": self.ordinal,
            "always": self.always,
            "applies": self.applies,
            "cues": list(self.cues),
            "hint": self.hint,
            "meanings": dict(self.meanings),
            "templates": {
                language: {
                    "question": template.question,
                    "options": {}
                    if template.options == derived_words(self, language)
                    else dict(template.options),
                }
                for language, template in self.templates.items()
            },
        }
        if self.answer == NUMBER:
            form |= {"bounds": list(self.bounds), "unit": self.unit}
        return form if self.prior is None else form | {"prior": self.prior}


def derived_words(feature: Feature, language: str) -> dict[str, str]:
    """Our own words for the values of yes or no or of a number; empty for other features, and for
    other languages than ours."""
    if feature.answer == YES_NO:
        return dict(zip((YES, NO), _YES_NO.get(_short(language), ()), strict=False))
    if feature.answer == NUMBER:
        return band_words(feature.bounds, feature.unit, language)
    return {}


MOST_VALUES = 20

_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_MOST_CUES = 200
_LONGEST = {"name": 60, "definition": 500, "applies": 500, "hint": 500, "unit": 12}
_BETTER_BANDS = Phrase("Write '2 to under 4' and '4 to under 7'.")
_LONGEST_VALUE, _LONGEST_MEANING, _LONGEST_QUESTION = 60, 500, 140


def parse_feature(raw: Mapping[str, Any]) -> Feature:
    """Read a feature from JSON in the form of :meth:`Feature.to_json`; empty fields may be missing.

    Raises:
        InvalidInput: the message names the field and what it must be.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(
            Phrase("A feature must be an object with 'key', 'name' and 'definition'.")
        )
    strange = sorted(set(map(str, raw)) - set(Feature.__dataclass_fields__))
    if strange:
        raise InvalidInput.at(strange[0], Phrase("is not a field of a feature."))
    answer = str(raw.get("answer", CHOICE))
    if answer not in ANSWERS:
        raise InvalidInput.at(
            "answer", Phrase("must be one of %(answers)s.", answers=", ".join(ANSWERS))
        )
    bounds, unit = _bounds(raw, answer), _unit(raw, answer)
    values = _read_values(raw, answer, bounds)
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
            "key",
            Phrase("must begin with a small letter, then small letters, digits, underscores."),
        )
    return key


def _text(raw: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    text = _checked(raw.get(name, ""), name, _LONGEST[name])
    if required and not text:
        raise InvalidInput.at(name, Phrase("must not be empty."))
    return text


def _checked(text: Any, where: str, longest: int) -> str:
    if not isinstance(text, str):
        raise InvalidInput.at(where, Phrase("must be text."))
    if bad := unstorable(text):
        raise InvalidInput.at(where, Phrase("must not contain %(bad)s.", bad=bad))
    if len(text.strip()) > longest:
        raise InvalidInput.at(
            where, Phrase("must be at most %(longest)s characters.", longest=longest)
        )
    return " ".join(text.split())


def _flag(raw: Mapping[str, Any], name: str) -> bool:
    given = raw.get(name, False)
    if not isinstance(given, bool):
        raise InvalidInput.at(name, Phrase("must be true or false."))
    return given


def _words(raw: Mapping[str, Any], name: str, most: int, longest: int) -> tuple[str, ...]:
    given = raw.get(name, [])
    if not isinstance(given, list | tuple):
        raise InvalidInput.at(name, Phrase("must be a list of words."))
    if len(given) > most:
        raise InvalidInput.at(name, Phrase("must be at most %(most)s.", most=most))
    words = [
        _checked(word, f"{name}, number {number}", longest) for number, word in enumerate(given, 1)
    ]
    if not all(words):
        raise InvalidInput.at(name, Phrase("must not contain an empty one."))
    return tuple(words)


def _bounds(raw: Mapping[str, Any], answer: str) -> tuple[float, ...]:
    """The bounds between bands; whole numbers stay whole."""
    given = raw.get("bounds", [])
    if answer != NUMBER:
        if given not in ([], ()):
            raise InvalidInput.at("bounds", Phrase("only a number has bounds."))
        return ()
    if not isinstance(given, list | tuple) or not LEAST_BOUNDS <= len(given) <= MOST_BOUNDS:
        raise InvalidInput.at(
            "bounds",
            Phrase(
                "must be %(least_bounds)s to %(most_bounds)s numbers.",
                least_bounds=LEAST_BOUNDS,
                most_bounds=MOST_BOUNDS,
            ),
        )
    if not all(map(is_bound, given)):
        raise InvalidInput.at(
            "bounds", Phrase("must be numbers of at most %(largest)s either way.", largest=LARGEST)
        )
    if any(low >= high for low, high in pairwise(given)):
        raise InvalidInput.at("bounds", Phrase("must ascend, and none come twice."))
    return tuple(int(number) if float(number).is_integer() else float(number) for number in given)


def _unit(raw: Mapping[str, Any], answer: str) -> str:
    unit = _text(raw, "unit")
    if unit and answer != NUMBER:
        raise InvalidInput.at("unit", Phrase("only a number has a unit."))
    if _is_forbidden(unit):
        raise InvalidInput.at("unit", Phrase("must not contain commas, '#', '|' or '='."))
    return unit


def _read_values(raw: Mapping[str, Any], answer: str, bounds: tuple[float, ...]) -> tuple[str, ...]:
    """All values, as listed or derived; derived values may be given and must then be equal."""
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
        raise InvalidInput.at(
            "ordinal", Phrase("only a closed choice can be a scale; name its values.")
        )
    return given or answer == NUMBER


def _prior(raw: Mapping[str, Any]) -> float | None:
    given = raw.get("prior")
    if given is None:
        return None
    if not is_bound(given) or not -1 <= given <= 1:
        raise InvalidInput.at("prior", Phrase("must be a number from -1 to 1, or absent."))
    return float(given)


def _is_forbidden(text: str) -> bool:
    return bool(set(text) & set(f"{FORBIDDEN_IN_NAMES},="))


def _check_values(values: tuple[str, ...], answer: str) -> None:
    if not values:
        return
    if answer == WORD:
        raise InvalidInput.at("values", Phrase("an answer in one word has no list of values."))
    if len(values) < 2:
        raise InvalidInput.at("values", Phrase("must be at least 2, or none for an open choice."))
    bad = next(filter(_is_forbidden, values), None)
    if bad is not None:
        raise InvalidInput.at(
            "values", Phrase("'%(bad)s' must not contain commas, '#', '|' or '='.", bad=bad)
        )
    if len({fold(value) for value in values}) < len(values):
        raise InvalidInput.at("values", Phrase("must not name the same value twice."))
    if pair := overlapping_ranges([value.replace("_", " ") for value in values]):
        raise InvalidInput.at(
            "values",
            Phrase("%(pair)s overlap. %(better_bands)s", pair=pair, better_bands=_BETTER_BANDS),
        )


def _meanings(raw: Mapping[str, Any], values: tuple[str, ...]) -> dict[str, str]:
    given = raw.get("meanings", {})
    if not isinstance(given, Mapping) or not set(given) <= set(values):
        raise InvalidInput.at("meanings", Phrase("must map values of the feature to words."))
    return {
        value: _checked(given[value], f"meanings, {value}", _LONGEST_MEANING)
        for value in values
        if value in given
    }


def _templates(raw: Mapping[str, Any], feature: Feature) -> dict[str, Template]:
    given = raw.get("templates", {})
    if not isinstance(given, Mapping):
        raise InvalidInput.at("templates", Phrase("must map languages to questions."))
    made = {}
    for language, template in given.items():
        where = f"templates, {language}"
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise InvalidInput.at(
                "templates",
                Phrase("'%(language)s' is no language; write 'en' or 'de'.", language=language),
            )
        if not isinstance(template, Mapping) or not set(template) <= {"question", "options"}:
            raise InvalidInput.at(where, Phrase("must have 'question' and 'options'."))
        question = _checked(template.get("question", ""), f"{where}, question", _LONGEST_QUESTION)
        if not question:
            raise InvalidInput.at(f"{where}, question", Phrase("must not be empty."))
        options = template.get("options", {})
        if options == {}:
            options = derived_words(feature, language)
        made[language] = Template(question, _options(options, where, feature))
    return made


def _options(given: Any, where: str, feature: Feature) -> dict[str, str]:
    where, values = f"{where}, options", feature.values
    if not isinstance(given, Mapping):
        raise InvalidInput.at(where, Phrase("must map values to words."))
    if feature.answer == WORD and given:
        raise InvalidInput.at(where, Phrase("an answer in one word has none."))
    if values and set(given) != set(values):
        raise InvalidInput.at(
            where, Phrase("must have words for every value of the feature, and no more.")
        )
    if feature.answer == CHOICE and not values and len(given) < OPTIONS:
        raise InvalidInput.at(
            where, Phrase("an open choice needs at least %(options)s.", options=OPTIONS)
        )
    named = values or [_checked(value, where, _LONGEST_VALUE) for value in given]
    words = {
        value: _checked(text, f"{where}, {value}", _LONGEST_VALUE)
        for value, text in zip(named, map(given.get, values or given), strict=True)
    }
    text = list(words.values())
    if feature.answer == NUMBER and (pair := overlapping_words(text)):
        raise InvalidInput.at(
            where,
            Phrase(
                "%(pair)s overlap or leave a number out. %(better_bands)s",
                pair=pair,
                better_bands=_BETTER_BANDS,
            ),
        )
    if pair := overlapping_ranges(text):
        raise InvalidInput.at(
            where,
            Phrase("%(pair)s overlap. %(better_bands)s", pair=pair, better_bands=_BETTER_BANDS),
        )
    return words


_LIBRARY = Path(__file__).with_name("library")


@lru_cache(maxsize=1)
def starter_library() -> Mapping[str, Sequence[Feature]]:
    """The features of the product, by set ("shopping", "emotion")."""
    return {
        path.stem: tuple(map(parse_feature, tomllib.loads(path.read_text("utf-8"))["features"]))
        for path in sorted(_LIBRARY.glob("*.toml"))
    }
