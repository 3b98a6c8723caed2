"""Questions to authors: read from a model's reply, or made from a template, with ordered options.

The requested form is a line ``Question: …`` and, for an open choice, lines ``- words``. Models also
number or letter their lists, wrap them in code fences or JSON, and quote their words.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import CHOICE, OPTIONS, WORD, Feature, Template
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.parsing.decision import normalise_line_ends, strip_echo
from labelhub.core.schema import fold


class Unreadable(InvalidInput):
    """The reply of a model holds no question; the message says what is missing."""

    code = "unreadable_question"


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason not to show a question: a code for programs, and the detail in words."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A question to an author.

    Args:
        feature: the key of the feature it asks about.
        kind: "choice" or "word".
        text: the question.
        options: the choices, of an ordinal feature in the order of its scale; none for a word. The
            widget adds "None of these" and "Skip".
        values: option → its closed value; empty if the feature is open.
        predicted: the option with the predicted value; "" for a word.
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

    ``predicted`` is a value of a closed feature, any words for an open one. None if the feature has
    no template in that language, or no such value.
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
    return _make_choice(
        feature, Template(template.question, words), key, language, source="template"
    )


def shuffle_options(draft: Draft, seed: str) -> tuple[str, ...]:
    """The options in the order to show them, always the same for the same seed.

    A scale keeps its order or is reversed; all other options are permuted. Every order is equally
    probable over seeds. Source: author-widget.md, section 7, point 4.
    """
    if draft.ordinal:
        turned = _digest(seed, "scale")[0] & 1
        return draft.options[::-1] if turned else draft.options
    places = range(len(draft.options))
    order = sorted(places, key=lambda place: _digest(seed, str(place)))
    return tuple(draft.options[place] for place in order)


def _make_choice(
    feature: Feature, ready: Template, predicted: str, language: str, *, source: str
) -> Draft:
    """A choice with the predicted option and those nearest to it, by their values."""
    words = ready.options
    values = tuple(words)
    place = values.index(predicted)
    near = sorted(range(len(values)), key=lambda other: (abs(other - place), other))[:OPTIONS]
    shown = [values[other] for other in sorted(near)]
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


def _digest(seed: str, part: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{part}".encode("utf-8", "surrogatepass")).digest()


MOST_CHARACTERS = 6_000
#: The most options that are read, and their most characters; no question has as many.
MOST_OPTIONS, _LONGEST_OPTION = 12, 200
_MOST_BRACES = 8

_EDGE = " \t*_`~"
_QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“",
    "”": "”",
    "‘": "’",
    "«": "»",
    "「": "」",
    "『": "』",
}
_LABEL = re.compile(
    r"[ \t#*_>]*(?:question|frage|pregunta|質問|問い|問|السؤال|سؤال)[ \t]*\d{0,2}[*_ \t]*[:：]"
    r"[ \t*_]*(?P<rest>.*)",
    re.IGNORECASE,
)
_OPTIONS = re.compile(
    r"[ \t#*_>]*(?:(?:answer )?options|choices|answers|optionen|antworten|opciones|respuestas"
    r"|réponses|choix|選択肢|回答|الخيارات|خيارات|الإجابات|الأجوبة)[*_ \t]*[:：][ \t*_]*"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"[ \t]*(?:[-*•·・–—▪][ \t]*|\(?(?:[0-9０-９٠-٩]{1,2}|[A-Ha-hＡ-Ｈ])[.)．）:：、][ \t]*)"
    r"(?P<rest>\S.*)"
)
_INLINE_LETTER = re.compile(r"(?:^|(?<=\s))\(?[A-H1-8][.)][ \t]")
_INLINE_CUT = re.compile(r" ?[|;；؛、] ?| / ")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_QUESTION_KEYS = ("question", "text", "frage", "pregunta")
_OPTIONS_KEYS = ("options", "choices", "answers")
_WORDS_KEYS = ("option", "text", "words", "label", "answer")


def read_draft(reply_text: str, feature: Feature, predicted: str, language: str) -> Draft:
    """The question in ``reply_text``, not checked yet (see :func:`.faults`).

    Args:
        reply_text: the model's reply; thinking, echoed material and code fences are removed.
        feature: the subject, which also decides the kind of question.
        predicted: the predicted value (closed) or words (open).
        language: the requested language.

    Raises:
        Unreadable: there is no question or more than one, or a choice has no options.
    """
    if len(reply_text) > MOST_CHARACTERS:
        raise Unreadable(f"The answer is longer than {MOST_CHARACTERS:,} characters.")
    text = strip_echo(normalise_line_ends(strip_thinking(reply_text)))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("```")]
    question, raw = _from_json("\n".join(lines)) or _from_lines(lines)
    question = _plain(question)
    if not question:
        raise Unreadable("The answer holds no question.")
    if feature.answer == WORD:
        return Draft(feature.key, WORD, question, language=language)
    if feature.values:
        # The options are always the feature's own words.
        words = feature.own_words(language)
        if predicted not in words:
            raise Unreadable("The feature has no words for its answers in this language.")
        ready = Template(question, words)
        return _make_choice(feature, ready, predicted, language, source="model")
    if not raw:
        raise Unreadable("The answer holds no options.")
    options = tuple(_read_option(option) for option in raw[:MOST_OPTIONS])
    wanted = _comparable(predicted)
    return Draft(
        feature=feature.key,
        kind=feature.kind,
        text=question,
        options=options,
        predicted=next(
            (option for option in options if _comparable(option) == wanted and wanted), ""
        ),
        language=language,
    )


def _from_json(text: str) -> tuple[str, list[Any]] | None:
    decoder = json.JSONDecoder()
    for found in list(re.finditer(r"\{", text))[:_MOST_BRACES]:
        try:
            data, _ = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        question = _first(data, _QUESTION_KEYS)
        if isinstance(question, str):
            options = _first(data, _OPTIONS_KEYS)
            if isinstance(options, Mapping):
                options = [list(pair) for pair in options.items()]
            return question, list(options) if isinstance(options, list) else []
    return None


def _first(data: Any, keys: Iterable[str]) -> Any:
    folded = {str(key).casefold(): value for key, value in data.items()}
    return next((folded[key] for key in keys if key in folded), None)


def _from_lines(lines: Sequence[str]) -> tuple[str, list[Any]]:
    labelled = [(index, found) for index, line in enumerate(lines) if (found := _LABEL.match(line))]
    if len(labelled) > 1:
        raise Unreadable("The answer holds more than one question.")
    if labelled:
        place, found = labelled[0]
        question = found["rest"] or next(filter(str.strip, lines[place + 1 :]), "")
    else:
        ends = [line.rstrip(_EDGE + "\"”'’」") for line in lines]
        place = next((n for n, end in enumerate(ends) if end.endswith(("?", "？"))), len(lines))
        question = lines[place] if place < len(lines) else ""
    return question, list(_option_lines(lines[place + 1 :], question))


def _option_lines(lines: Sequence[str], question: str) -> Iterator[str]:
    # A bold "Options:" begins like an item of a list.
    listed = (line for line in lines if not _OPTIONS.match(line))
    items = [found["rest"] for line in listed if (found := _ITEM.match(line))]
    if items:
        yield from items
        return
    start = next((index for index, line in enumerate(lines) if _OPTIONS.match(line)), None)
    if start is None:
        return
    found = _OPTIONS.match(lines[start])
    inline = " ".join(found["rest"].split()) if found else ""
    if inline:
        cut = _INLINE_LETTER if len(_INLINE_LETTER.findall(inline)) > 1 else _INLINE_CUT
        yield from filter(str.strip, cut.split(inline))
        return
    yield from (line for line in lines[start + 1 :] if line.strip() and line != question)


def _read_option(raw: Any) -> str:
    """The words of an option, without a value that a model gives beside them."""
    if isinstance(raw, Mapping):
        raw = _first(raw, _WORDS_KEYS) or ""
    elif isinstance(raw, list):
        raw = raw[0] if raw else ""
    # Single blanks and few characters, so that hostile answers stay cheap to read.
    return _plain(" ".join(str(raw).split())[:_LONGEST_OPTION]).rstrip(".。")


def _plain(text: str) -> str:
    """One line without the decoration and the quotation marks around it."""
    text = unicodedata.normalize("NFC", " ".join(text.split()))
    while text:
        bare = text.strip(_EDGE)
        if len(bare) > 1 and _QUOTES.get(bare[0]) == bare[-1] and bare[0] not in bare[1:-1]:
            bare = bare[1:-1]
        if bare == text:
            break
        text = bare
    return text


def _comparable(words: str) -> str:
    """``words`` without differences of case, width, blanks, hyphens and quotes."""
    return _BETWEEN_WORDS.sub(" ", fold(_plain(words))).strip()
