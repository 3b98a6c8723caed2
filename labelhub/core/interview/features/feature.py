"""A feature: one thing a site wants to learn from authors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.interview.features.spaces import band_words, yes_no_words

CHOICE, YES_NO, NUMBER, WORD = "choice", "yes_no", "number", "word"
ANSWERS = (CHOICE, YES_NO, NUMBER, WORD)
#: How many options a choice shows; fewer only where fewer values exist.
OPTIONS = 4


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
        answer: "choice", "yes_no", "number" or "word".
        values: the closed space of a choice; empty where it is open. Those of "yes_no" (yes, no)
            and "number" (its bands, lowest first) are derived.
        ordinal: the values are a scale, given from one end to the other; numbers always are.
        always: it applies to every message, and no model is asked whether it does.
        applies: when it applies, in words for a model.
        cues: words that speak for it, for models that match text.
        hint: how to word a question about it.
        meanings: what a value means, with words that speak for it.
        templates: ready questions by language ("en").
        bounds: what parts the bands of a number, ascending; in ``unit``.
        unit: what a number counts ("USD", "days"); may be empty.
        prior: how much being right about it is expected to help downstream, from -1 (it will do
            harm) over 0 (as much as any other) to 1; None where nobody has said.
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
    bounds: tuple[float, ...] = ()
    unit: str = ""
    prior: float | None = None

    @property
    def kind(self) -> str:
        """How a question about it is answered: by choosing ("choice") or with a word ("word")."""
        return WORD if self.answer == WORD else CHOICE

    @property
    def option_count(self) -> int:
        """How many options a question about it has: none for a word, else at most four."""
        if self.answer == WORD:
            return 0
        return min(OPTIONS, len(self.values)) if self.values else OPTIONS

    def template(self, language: str) -> Template | None:
        """The ready question in that language ("de", "de-AT"), if there is one."""
        return self.templates.get(language) or self.templates.get(language.partition("-")[0])

    def own_words(self, language: str) -> Mapping[str, str]:
        """What an author reads for each of its values: the template's words in that language, else
        ours, else the values' own names. Empty where it has no fixed values, or they are yes and no
        or bands and the language is none of ours."""
        if not self.values:
            return {}
        ready = self.template(language)
        if ready is not None:
            return ready.options
        if self.answer in (YES_NO, NUMBER):
            return derived_words(self, language)
        return {value: " ".join(value.replace("_", " ").split()) for value in self.values}

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :func:`parse_feature` reads back unchanged. What only numbers have,
        and a prior, are left out where there are none; so are options that are derived."""
        told: dict[str, Any] = {
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
                language: {"question": each.question, "options": _told(self, language, each)}
                for language, each in self.templates.items()
            },
        }
        if self.answer == NUMBER:
            told |= {"bounds": list(self.bounds), "unit": self.unit}
        return told if self.prior is None else told | {"prior": self.prior}


def derived_words(feature: Feature, language: str) -> dict[str, str]:
    """Our own words for the values of a yes or no, or of a number; empty for any other feature."""
    if feature.answer == YES_NO:
        return yes_no_words(language)
    if feature.answer == NUMBER:
        return band_words(feature.bounds, feature.unit, language)
    return {}


def _told(feature: Feature, language: str, template: Template) -> dict[str, str]:
    options = dict(template.options)
    return {} if options and options == derived_words(feature, language) else options
