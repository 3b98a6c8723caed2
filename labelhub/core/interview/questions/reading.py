"""From what a model wrote to a question: JSON, or "Question:" and a list of options.

The form that is asked for is a line ``Question: …`` and, of an open choice, lines ``- words``;
models also number or letter their lists, wrap them into code fences or JSON, and quote what they
write.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from labelhub.core.interview.features import WORD, Feature
from labelhub.core.interview.questions.draft import Draft, Unreadable, closed_draft
from labelhub.core.llm.parsing import without_thinking
from labelhub.core.llm.parsing.cleaning import one_line_end, without_echo
from labelhub.core.schema import fold

MOST_CHARACTERS = 6_000
#: More options than any question has, and longer ones: what is beyond is not read.
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
        reply_text: what the model wrote; thinking, echoed material and code fences are cut off.
        feature: what is asked about; it alone says of what kind the question is.
        predicted: the predicted value (closed) or words (open).
        language: that the question was asked for in.

    Raises:
        Unreadable: there is no question, more than one, or none of the options a choice needs.
    """
    if len(reply_text) > MOST_CHARACTERS:
        raise Unreadable(f"The answer is longer than {MOST_CHARACTERS:,} characters.")
    text = without_echo(one_line_end(without_thinking(reply_text)))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("```")]
    question, raw = _from_json("\n".join(lines)) or _from_lines(lines)
    question = _plain(question)
    if not question:
        raise Unreadable("The answer holds no question.")
    if feature.answer == WORD:
        return Draft(feature.key, WORD, question, language=language)
    if feature.values:
        closed = closed_draft(feature, question, predicted, language)
        if closed is None:
            raise Unreadable("The feature has no words for its answers in this language.")
        return closed
    if not raw:
        raise Unreadable("The answer holds no options.")
    return _choice(
        question, [_option(each) for each in raw[:MOST_OPTIONS]], feature, predicted, language
    )


def _choice(
    question: str, options: Sequence[str], feature: Feature, predicted: str, language: str
) -> Draft:
    wanted = _same(predicted)
    return Draft(
        feature=feature.key,
        kind=feature.kind,
        text=question,
        options=tuple(options),
        predicted=next((words for words in options if _same(words) == wanted and wanted), ""),
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
            return question, _listed(_first(data, _OPTIONS_KEYS))
    return None


def _listed(options: Any) -> list[Any]:
    if isinstance(options, Mapping):
        return [list(pair) for pair in options.items()]
    return list(options) if isinstance(options, list) else []


def _first(data: Any, keys: Iterable[str]) -> Any:
    folded = {str(key).casefold(): value for key, value in data.items()}
    return next((folded[key] for key in keys if key in folded), None)


def _from_lines(lines: Sequence[str]) -> tuple[str, list[Any]]:
    labelled = [(at, found) for at, line in enumerate(lines) if (found := _LABEL.match(line))]
    if len(labelled) > 1:
        raise Unreadable("The answer holds more than one question.")
    if labelled:
        at, found = labelled[0]
        question = found["rest"] or next(filter(str.strip, lines[at + 1 :]), "")
    else:
        at = next((n for n, line in enumerate(lines) if _asks(line)), len(lines))
        question = lines[at] if at < len(lines) else ""
    return question, list(_option_lines(lines[at + 1 :], question))


def _asks(line: str) -> bool:
    return line.rstrip(_EDGE + "\"”'’」").endswith(("?", "？"))


def _option_lines(lines: Sequence[str], question: str) -> Iterator[str]:
    # A bold "Options:" begins like an item of a list.
    listed = (line for line in lines if not _OPTIONS.match(line))
    items = [found["rest"] for line in listed if (found := _ITEM.match(line))]
    if items:
        yield from items
        return
    start = next((at for at, line in enumerate(lines) if _OPTIONS.match(line)), None)
    if start is None:
        return
    found = _OPTIONS.match(lines[start])
    inline = " ".join(found["rest"].split()) if found else ""
    if inline:
        cut = _INLINE_LETTER if len(_INLINE_LETTER.findall(inline)) > 1 else _INLINE_CUT
        yield from filter(str.strip, cut.split(inline))
        return
    yield from (line for line in lines[start + 1 :] if line.strip() and line != question)


def _option(raw: Any) -> str:
    """The words of an option; what it is said to stand for beside them means nothing here."""
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


def _same(words: str) -> str:
    """The form in which values are compared: case, width, blanks, hyphens and quotes aside."""
    return _BETWEEN_WORDS.sub(" ", fold(_plain(words))).strip()
