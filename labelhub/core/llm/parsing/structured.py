"""Read answers in JSON: the whole text, or an object within it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from labelhub.core.schema import Schema, Value, ValueNotOffered, fold
from labelhub.core.schema.content import NoAnswer, offered, read_content
from labelhub.core.schema.menu import number_words
from labelhub.core.strict_json import DECODER

#: "No answer here"; None is a JSON value.
MISSING: Final = object()

_KEYS = frozenset({"label", "labels", "value", "answer", "decision", "final_decision"})
#: The key of a decision → its name in the text form of the prompts.
_DECISIONS: Final[Mapping[str, str]] = {
    "label": "Final Decision",
    "labels": "Final Decision",
    "first": "First choice",
    "second": "Second choice",
}
_FENCED_LIST = re.compile(r"```(?:json)?\s*(?P<list>\[[^`]*\])\s*```", re.IGNORECASE)
#: An answer with more opening braces is none of our forms; the scan stays linear.
_MOST_BRACES = 200
_NEAR = 200
_OPENED, _CLOSED = re.compile(r"```\w*\s*\Z"), re.compile(r"\A\s*```")
_LOOKS_LIKE_JSON = re.compile(r"\{\s*[\"}]")
_BRACE = re.compile(r"[{}]")
_SPARE_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*+[}\]])", re.DOTALL)
# Words right before an object (up to two lines above, as a fence needs), or right after it.
_REJECTED_BEFORE = re.compile(
    r"(?:\b(?:not|never|wrong|incorrect|instead of|rather than|unlike|disagree\w*|reject\w*"
    r"|example|e\.g|annotators?|critic|extractor|proposed|proposal)\b|n['’]t\b)"
    r"[^!?;}\n]*(?:\n[^.!?;}\n]*){0,2}\Z",
    re.IGNORECASE,
)
_REJECTED_AFTER = re.compile(
    r"[^.!?;{\n]*(?:\b(?:not|never|wrong|incorrect|disagree|reject)\b|n['’]t\b)", re.IGNORECASE
)


def whole_answer(text: str, schema: Schema) -> Any:
    """The answer of a ``text`` that is JSON as a whole; ``MISSING`` if it is not JSON.

    Raises:
        NoAnswer: it is JSON with no answer or several.
    """
    found = whole_json(text)
    # Free text is often a number or a quotation; only an object is meant as JSON.
    if found is MISSING or (schema.task.written and not isinstance(found, dict)):
        return MISSING
    raw = _answer_in(found, schema)
    if raw is MISSING:
        raise NoAnswer("The answer is JSON, but without exactly one answer in it.")
    return raw


def whole_json(text: str) -> Any:
    """The JSON that ``text`` as a whole is, else ``MISSING``."""
    try:
        return DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return MISSING


def embedded_answer(text: str, schema: Schema, *, after: int) -> Any:
    """The answer of the last JSON object or fenced list after ``after``, or ``MISSING``.

    Extra commas before closing brackets are ignored if nothing else is an answer.

    Raises:
        NoAnswer: the words around the object reject it, such as "not" or "for example".
    """
    return last_in_json(text, lambda found: _answer_in(found, schema), after=after)


def last_in_json(text: str, answer: Callable[[Any], Any], *, after: int = -1) -> Any:
    """The result of ``answer`` for the last object or fenced list for which it is not ``MISSING``.

    Raises:
        NoAnswer: the words around the object reject it.
    """
    if text.count("{") > _MOST_BRACES:
        return MISSING
    found = _last_answer(text, answer, after)
    if found is MISSING and "," in text:
        spared = _SPARE_COMMA.sub(lambda match: match[1] or " ", text)
        found = _last_answer(spared, answer, after)
    return found


def _last_answer(text: str, answer: Callable[[Any], Any], after: int) -> Any:
    last, last_start, last_end = MISSING, after, after
    for start, end, found in _objects(text):
        raw = answer(found)
        # A decision within an object, perhaps in its reasoning, comes before its end.
        if raw is not MISSING and end > last_end:
            last, last_start, last_end = raw, start, end
    if last is MISSING:
        return MISSING
    words_before = text[max(last_start - _NEAR, 0) : last_start]
    words_after = text[last_end : last_end + _NEAR]
    if _REJECTED_BEFORE.search(words_before) or _REJECTED_AFTER.match(words_after):
        raise NoAnswer("The words around the JSON say that it is not the answer.")
    return last


def read_json(raw: Any, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that an answer in JSON spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or has the wrong type.
        NoAnswer: it is empty.
    """
    if isinstance(raw, bool):
        raise ValueNotOffered(f"'{json.dumps(raw)}' is not a name from the list.")
    if isinstance(raw, list) and schema.task.several:
        names = [_read_name(entry, schema) for entry in raw]
        for name in names:
            offered([name], schema)
        return offered(names, schema)
    if isinstance(raw, int | float) and not schema.task.written:
        raw = number_words(raw)
    if isinstance(raw, str):
        return read_content(raw, schema, options)
    return offered(raw, schema, options)


def _read_name(raw: Any, schema: Schema) -> Any:
    if not isinstance(raw, str):
        return raw
    found = read_content(raw, schema)
    return found[0] if isinstance(found, list) and len(found) == 1 else raw


def _answer_in(found: Any, schema: Schema) -> Any:
    if isinstance(found, dict):
        answers = [raw for key, raw in found.items() if fold(key).replace(" ", "_") in _KEYS]
        if len(answers) == 1:
            return answers[0]
        return found if not answers and _has_all_labels(found, schema) else MISSING
    if isinstance(found, list):
        return found if schema.task.several else MISSING
    return MISSING if found is None else found


def _has_all_labels(found: Mapping[str, Any], schema: Schema) -> bool:
    """Whether ``found`` has true or false for every label."""
    if not schema.task.several or not all(isinstance(present, bool) for present in found.values()):
        return False
    return {fold(name) for name in schema.names} <= {fold(key) for key in found}


def json_as_text(text: str) -> str:
    """``text`` with its last answer in JSON rewritten in the text form of the prompts: reasoning, a
    line of quotations for each label, the decision. Without such an answer it stays the same."""
    found = _last_deciding(text)
    if found is None:
        return text
    start, end, answer = found
    before, after = _OPENED.sub("", text[:start]), _CLOSED.sub("", text[end:])
    return before + "\n".join(_lines(answer)) + after


def quotations(text: str) -> list[tuple[str, list[str]]] | None:
    """Names and the quotations for each in the last answer in JSON; None without such an answer.

    A critic's quotations against a label are left out. Nothing is checked.
    """
    found = _last_deciding(text)
    if found is None:
        return None
    answer = found[2]
    entries = [*_mappings(answer.get("evidence")), *_mappings(answer.get("verdicts"))]
    return [
        (_line(entry.get("name")), [quote for quote in entry["quotes"] if isinstance(quote, str)])
        for entry in entries
        if isinstance(entry.get("quotes"), list) and entry.get("verdict") != "disagree"
    ]


def _last_deciding(text: str) -> tuple[int, int, Any] | None:
    if not 0 < text.count("{") <= _MOST_BRACES:
        return None
    last = None
    for start, end, found in _objects(text):
        if isinstance(found, dict) and not _DECISIONS.keys().isdisjoint(found):
            last = start, end, found
    return last


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    reasoning = found.get("reasoning")
    if isinstance(reasoning, str) and reasoning.strip():
        yield reasoning.strip()
    for verdict in _mappings(found.get("verdicts")):
        judged = f"{_line(verdict.get('verdict'))} - {_line(verdict.get('reason'))}"
        yield _bullet(verdict, judged, _quoted(verdict.get("quotes"), " "))
    for entry in _mappings(found.get("evidence")):
        yield _bullet(entry, _quoted(entry.get("quotes"), "; "))
    if quotes := _quoted(found.get("quotes"), "; "):
        yield f"- {quotes}"
    for key, words in _DECISIONS.items():
        if key in found:
            decided = found[key]
            names = decided if isinstance(decided, list) else [decided]
            yield f"{words}: {', '.join(map(_line, names)) or 'none'}"


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _bullet(entry: Mapping[str, Any], *parts: str) -> str:
    words = " ".join(part for part in parts if part)
    return f"- {_line(entry['name'])}: {words}" if entry.get("name") else f"- {words}"


def _quoted(found: Any, between: str) -> str:
    quotes = found if isinstance(found, list) else []
    return between.join(f'"{_line(quote)}"' for quote in quotes if isinstance(quote, str))


def _line(value: Any) -> str:
    words = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return " ".join(words.split())


def _objects(text: str) -> Iterator[tuple[int, int, Any]]:
    for match in _FENCED_LIST.finditer(text):
        try:
            yield match.start(), match.end(), DECODER.decode(match["list"])
        except (ValueError, RecursionError):
            continue
    start = text.find("{")
    while start >= 0:
        try:
            found, end = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _end_of_broken(text, start)
        else:
            yield start, end, found
        start = text.find("{", end)


def _end_of_broken(text: str, start: int) -> int:
    """Where to continue after the brace at ``start``, which begins no object.

    The content of a broken or unfinished object is no answer by itself.
    """
    if not _LOOKS_LIKE_JSON.match(text, start):
        return start + 1
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)
