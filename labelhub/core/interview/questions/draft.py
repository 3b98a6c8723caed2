"""A question as it could be shown, and the ready ones that need no model."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import CHOICE, OPTIONS, WORD, Feature, Template
from labelhub.core.schema import fold


class Unreadable(InvalidInput):
    """What a model wrote holds no question; the message says what is missing."""

    code = "unreadable_question"


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason not to show a question: a code for programs, and what is wrong in words."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A question to an author.

    Args:
        feature: the key of the feature it asks about.
        kind: "choice" or "word".
        text: the question.
        options: what can be chosen, an ordinal feature's in the order of its scale; none for a
            word. "None of these" and "Skip" are the widget's own and never among them.
        values: the closed value that an option stands for; empty where the feature is open.
        predicted: the option that says what a model predicted; "" for a word.
        language: of the question ("en").
        source: "model" or "template".
        ordinal: the options are points of a scale.
    """

    feature: str
    kind: str
    text: str
    options: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, hash=False)
    predicted: str = ""
    language: str = ""
    source: str = "model"
    ordinal: bool = False


def template_draft(feature: Feature, predicted: str, language: str) -> Draft | None:
    """The feature's ready question with the predicted option and up to three others.

    ``predicted`` is a value of a closed feature, any words for an open one. None where the feature
    has no template in that language, or the predicted value is none of its values.
    """
    template = feature.template(language)
    if template is None:
        return None
    if feature.answer == WORD:
        return Draft(feature.key, WORD, template.question, language=language, source="template")
    words = dict(template.options)
    key = next((value for value in words if fold(value) == fold(predicted)), "")
    if not key:
        if feature.values or not predicted.strip():
            return None
        key, words = predicted, {predicted: predicted} | words
    return _offered(feature, Template(template.question, words), key, language, source="template")


def closed_draft(feature: Feature, question: str, predicted: str, language: str) -> Draft | None:
    """A model's ``question`` about a feature with fixed values. What can be answered is the
    feature's own, in its own words, whatever the model wrote; of many values those nearest to the
    predicted one are shown.

    None where the feature has no words in that language, or ``predicted`` is no value.
    """
    words = feature.own_words(language)
    if predicted not in words:
        return None
    return _offered(feature, Template(question, words), predicted, language, source="model")


def shuffled(draft: Draft, seed: str) -> tuple[str, ...]:
    """The options in the order to show them, the same each time for the same seed.

    A scale keeps its order or is turned round; the options of all others are permuted. Every order
    is equally probable over seeds. Source: author-widget.md, section 7, point 4.
    """
    if draft.ordinal:
        turned = _digest(seed, "scale")[0] & 1
        return draft.options[::-1] if turned else draft.options
    places = range(len(draft.options))
    order = sorted(places, key=lambda at: _digest(seed, str(at)))
    return tuple(draft.options[at] for at in order)


def _offered(
    feature: Feature, ready: Template, predicted: str, language: str, *, source: str
) -> Draft:
    """A choice with the predicted option and those nearest to it, by their values."""
    words = ready.options
    shown = _shown(tuple(words), predicted)
    return Draft(
        feature=feature.key,
        kind=CHOICE,
        text=ready.question,
        options=tuple(words[value] for value in shown),
        values={words[value]: value for value in shown} if feature.values else {},
        predicted=words[predicted],
        language=language,
        source=source,
        ordinal=feature.ordinal,
    )


def _shown(values: Sequence[str], predicted: str) -> tuple[str, ...]:
    """Of a longer list, in its order, the predicted value and those nearest to it."""
    at = values.index(predicted)
    near = sorted(range(len(values)), key=lambda other: (abs(other - at), other))[:OPTIONS]
    return tuple(values[other] for other in sorted(near))


def _digest(seed: str, part: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{part}".encode("utf-8", "surrogatepass")).digest()
