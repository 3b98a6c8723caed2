"""What a site wants to learn from authors: features, and the starter library of them.

A feature is answered by choosing (``choice``) or with one word (``word``). A choice is closed where
``values`` names all it can be, and open where it names none. Source: paper 004, sections 2.2 and 4
(binary values, closed sets of labels, and free text, depending on the feature).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold, unstorable
from labelhub.core.schema.reading import FORBIDDEN_IN_NAMES

CHOICE, WORD = "choice", "word"
#: How many options a choice shows; fewer only where fewer values exist.
OPTIONS = 4
MOST_VALUES = 20

_LIBRARY = Path(__file__).with_name("library")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_MOST_CUES = 200
_LONGEST = {"name": 60, "definition": 500, "applies": 500, "hint": 500}
_LONGEST_VALUE, _LONGEST_MEANING, _LONGEST_QUESTION = 60, 500, 140
_FLAGS = ("ordinal", "always")


@dataclass(frozen=True, slots=True)
class Template:
    """A question that needs no model: its words, and words for every value it offers."""

    question: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a site wants to learn from authors.

    Args:
        key: its name for programs: small letters, digits and underscores.
        name: its name for people.
        definition: what it is, for people and models.
        answer: "choice" or "word".
        values: the closed space of a choice; empty where it is open.
        ordinal: the values are a scale, given from one end to the other.
        always: it applies to every message, and no model is asked whether it does.
        applies: when it applies, in words for a model.
        cues: words that speak for it, for models that match text.
        hint: how to word a question about it.
        meanings: what a value means, with words that speak for it.
        templates: ready questions by language ("en").
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
    meanings: Mapping[str, str] = field(default_factory=dict, hash=False)
    templates: Mapping[str, Template] = field(default_factory=dict, hash=False)

    @property
    def option_count(self) -> int:
        """How many options a question about it has: none for a word, else at most four."""
        if self.answer == WORD:
            return 0
        return min(OPTIONS, len(self.values)) if self.values else OPTIONS

    def template(self, language: str) -> Template | None:
        """The ready question in that language ("de", "de-AT"), if there is one."""
        return self.templates.get(language) or self.templates.get(language.partition("-")[0])

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :func:`parse_feature` reads back unchanged."""
        return {
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
                language: {"question": each.question, "options": dict(each.options)}
                for language, each in self.templates.items()
            },
        }


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
    values = _words(raw, "values", MOST_VALUES, _LONGEST_VALUE)
    _check_values(values, answer)
    flags = {name: _flag(raw, name) for name in _FLAGS}
    if flags["ordinal"] and not values:
        raise InvalidInput.at("ordinal", "only a closed choice can be a scale; name its values.")
    return Feature(
        key=_key(raw),
        name=_text(raw, "name", required=True),
        definition=_text(raw, "definition", required=True),
        answer=answer,
        values=values,
        applies=_text(raw, "applies"),
        cues=_words(raw, "cues", _MOST_CUES, _LONGEST_VALUE),
        hint=_text(raw, "hint"),
        meanings=_meanings(raw, values),
        templates=_templates(raw, answer, values),
        **flags,
    )


@lru_cache(maxsize=1)
def starter_library() -> Mapping[str, Sequence[Feature]]:
    """The features that come with the product, by set ("shopping", "emotion")."""
    return {
        path.stem: tuple(map(parse_feature, tomllib.loads(path.read_text("utf-8"))["features"]))
        for path in sorted(_LIBRARY.glob("*.toml"))
    }


def _key(raw: Mapping[str, Any]) -> str:
    key = raw.get("key", "")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput.at(
            "key", "must begin with a small letter, then small letters, digits, underscores."
        )
    return key


def _answer(raw: Mapping[str, Any]) -> str:
    answer = raw.get("answer", CHOICE)
    if answer not in (CHOICE, WORD):
        raise InvalidInput.at("answer", f"must be '{CHOICE}' or '{WORD}'.")
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


def _check_values(values: tuple[str, ...], answer: str) -> None:
    if not values:
        return
    if answer == WORD:
        raise InvalidInput.at("values", "an answer in one word has no list of values.")
    if len(values) < 2:
        raise InvalidInput.at("values", "must be at least 2, or none for an open choice.")
    bad = next((v for v in values if set(v) & set(FORBIDDEN_IN_NAMES) or "=" in v), None)
    if bad is not None:
        raise InvalidInput.at("values", f"'{bad}' must not contain commas, '#', '|' or '='.")
    if len({fold(value) for value in values}) < len(values):
        raise InvalidInput.at("values", "must not name the same value twice.")


def _meanings(raw: Mapping[str, Any], values: tuple[str, ...]) -> dict[str, str]:
    given = raw.get("meanings", {})
    if not isinstance(given, Mapping) or not set(given) <= set(values):
        raise InvalidInput.at("meanings", "must map values of the feature to words.")
    return {
        value: _checked(given[value], f"meanings, {value}", _LONGEST_MEANING)
        for value in values
        if value in given
    }


def _templates(raw: Mapping[str, Any], answer: str, values: tuple[str, ...]) -> dict[str, Template]:
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
        made[language] = Template(
            question, _options(each.get("options", {}), where, answer, values)
        )
    return made


def _options(given: Any, where: str, answer: str, values: tuple[str, ...]) -> dict[str, str]:
    where = f"{where}, options"
    if not isinstance(given, Mapping):
        raise InvalidInput.at(where, "must map values to words.")
    if answer == WORD and given:
        raise InvalidInput.at(where, "an answer in one word has none.")
    if values and set(given) != set(values):
        raise InvalidInput.at(where, "must have words for every value of the feature, and no more.")
    if answer == CHOICE and not values and len(given) < OPTIONS:
        raise InvalidInput.at(where, f"an open choice needs at least {OPTIONS}.")
    return {
        value: _checked(given[value], f"{where}, {value}", _LONGEST_VALUE)
        for value in values or given
    }
