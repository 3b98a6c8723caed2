"""Answers in JSON: the whole text, or an object within it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from labelhub.core.schema import Schema, Value, ValueNotOffered, fold
from labelhub.core.schema.content import NoAnswer, offered, read_content
from labelhub.core.schema.menu import number_words

#: Stands for "no answer here"; None is something JSON can say.
MISSING: Final = object()

_KEYS = frozenset({"label", "labels", "value", "answer", "decision", "final_decision"})
#: What the text form of the prompts calls each key that decides.
_DECISIONS: Final[Mapping[str, str]] = {
    "label": "Final Decision",
    "labels": "Final Decision",
    "first": "First choice",
    "second": "Second choice",
}
_FENCED_LIST = re.compile(r"```(?:json)?\s*(?P<list>\[[^`]*\])\s*```", re.IGNORECASE)
#: An answer with more opening braces than this is not one we asked for; the scan stays linear.
_MOST_BRACES = 200
_NEAR = 200
_OPENED, _CLOSED = re.compile(r"```\w*\s*\Z"), re.compile(r"\A\s*```")
_LOOKS_LIKE_JSON = re.compile(r"\{\s*[\"}]")
_BRACE = re.compile(r"[{}]")
_SPARE_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*+[}\]])", re.DOTALL)
# Said right before an object (up to two lines above, as a fence needs), or right after it.
_DISOWNED_BEFORE = re.compile(
    r"(?:\b(?:not|never|wrong|incorrect|instead of|rather than|unlike|disagree\w*|reject\w*"
    r"|example|e\.g|annotators?|critic|extractor|proposed|proposal)\b|n['’]t\b)"
    r"[^!?;}\n]*(?:\n[^.!?;}\n]*){0,2}\Z",
    re.IGNORECASE,
)
_DISOWNED_AFTER = re.compile(
    r"[^.!?;{\n]*(?:\b(?:not|never|wrong|incorrect|disagree|reject)\b|n['’]t\b)", re.IGNORECASE
)


def whole_answer(text: str, schema: Schema) -> Any:
    """What the JSON that ``text`` as a whole is answers; ``MISSING`` when it is not JSON.

    Raises:
        NoAnswer: it is JSON, but holds no answer or several.
    """
    found = whole_json(text)
    if schema.task.written and not isinstance(found, dict):
        # Free text is often a number or a quotation; only an object is meant as JSON.
        return MISSING
    if found is MISSING:
        return MISSING
    raw = _answer_in(found, schema)
    if raw is MISSING:
        raise NoAnswer("The answer is JSON, but without exactly one answer in it.")
    return raw


def whole_json(text: str) -> Any:
    """The JSON that ``text`` as a whole is, else ``MISSING``."""
    try:
        return _decoder().decode(text.strip())
    except (ValueError, RecursionError):
        return MISSING


def embedded_answer(text: str, schema: Schema, *, after: int) -> Any:
    """What the last JSON object or fenced list beyond ``after`` answers, or ``MISSING``.

    A comma too many before a closing bracket is overlooked where nothing else answers.

    Raises:
        NoAnswer: the words right before that object disown it, as "not" or "for example" do.
    """
    return last_in_json(text, lambda found: _answer_in(found, schema), after=after)


def last_in_json(text: str, answer: Callable[[Any], Any], *, after: int = -1) -> Any:
    """What ``answer`` finds in the last object or fenced list that it does not call ``MISSING``.

    Raises:
        NoAnswer: the words around that object disown it.
    """
    if text.count("{") > _MOST_BRACES:
        return MISSING
    found = _last_answer(text, answer, after)
    if found is MISSING and "," in text:
        found = _last_answer(_SPARE_COMMA.sub(_spare_comma, text), answer, after)
    return found


def _last_answer(text: str, answer: Callable[[Any], Any], after: int) -> Any:
    last, place, past = MISSING, after, after
    for start, end, found in _objects(text):
        raw = answer(found)
        # What is decided within an object, in its reasoning perhaps, comes before its end.
        if raw is not MISSING and end > past:
            last, place, past = raw, start, end
    if last is not MISSING and _disowned(text, place, past):
        raise NoAnswer("The JSON in the answer is not given as the answer.")
    return last


def _disowned(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - _NEAR, 0) : start], text[end : end + _NEAR]
    return bool(_DISOWNED_BEFORE.search(before) or _DISOWNED_AFTER.match(after))


def _spare_comma(match: re.Match[str]) -> str:
    return match[1] or " "


def read_json(raw: Any, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that an answer in JSON spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or is of the wrong kind.
        NoAnswer: it is empty.
    """
    if isinstance(raw, bool):
        raise ValueNotOffered(f"'{json.dumps(raw)}' is not a name from the list.")
    if isinstance(raw, list) and schema.task.several:
        return _list_of(raw, schema)
    if isinstance(raw, int | float) and not schema.task.written:
        raw = number_words(raw)
    if isinstance(raw, str):
        return read_content(raw, schema, options)
    return offered(raw, schema, options)


def _list_of(raw: list[Any], schema: Schema) -> Value:
    names = [_name(entry, schema) for entry in raw]
    for name in names:
        offered([name], schema)
    return offered(names, schema)


def _name(raw: Any, schema: Schema) -> Any:
    if not isinstance(raw, str):
        return raw
    found = read_content(raw, schema)
    return found[0] if isinstance(found, list) and len(found) == 1 else raw


def _answer_in(found: Any, schema: Schema) -> Any:
    if isinstance(found, dict):
        answers = [raw for key, raw in found.items() if fold(key).replace(" ", "_") in _KEYS]
        if len(answers) == 1:
            return answers[0]
        return found if not answers and _is_table(found, schema) else MISSING
    if isinstance(found, list):
        return found if schema.task.several else MISSING
    return MISSING if found is None else found


def _is_table(found: Mapping[str, Any], schema: Schema) -> bool:
    """Whether ``found`` says true or false of every aspect."""
    if not schema.task.several or not all(isinstance(present, bool) for present in found.values()):
        return False
    return {fold(name) for name in schema.names} <= {fold(key) for key in found}


def in_words(text: str) -> str:
    """``text`` with its last answer in JSON as it would stand in the text form of the prompts:
    reasoning, a line for each label with what is quoted for it, the decision. Without such an
    answer it stays as it is."""
    found = _last_deciding(text)
    if found is None:
        return text
    start, end, answer = found
    before, after = _OPENED.sub("", text[:start]), _CLOSED.sub("", text[end:])
    return before + "\n".join(_lines(answer)) + after


def quotations(text: str) -> list[tuple[str, list[str]]] | None:
    """Names and what is quoted for each, by the last answer in JSON; None without such an answer.

    What a critic quotes against a label is left out. Nothing is checked.
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
    found = [found_object for found_object in _objects(text) if _decides(found_object[2])]
    return found[-1] if found else None


def _decides(found: Any) -> bool:
    return isinstance(found, dict) and not _DECISIONS.keys().isdisjoint(found)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    reasoning = found.get("reasoning")
    if isinstance(reasoning, str) and reasoning.strip():
        yield reasoning.strip()
    for verdict in _mappings(found.get("verdicts")):
        judged = f"{_line(verdict.get('verdict'))} - {_line(verdict.get('reason'))}"
        yield _about(verdict, judged, _quoted(verdict.get("quotes"), " "))
    for entry in _mappings(found.get("evidence")):
        yield _about(entry, _quoted(entry.get("quotes"), "; "))
    if quotes := _quoted(found.get("quotes"), "; "):
        yield f"- {quotes}"
    for key, words in _DECISIONS.items():
        if key in found:
            decided = found[key]
            names = decided if isinstance(decided, list) else [decided]
            yield f"{words}: {', '.join(map(_line, names)) or 'none'}"


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _about(entry: Mapping[str, Any], *parts: str) -> str:
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
            yield match.start(), match.end(), _decoder().decode(match["list"])
        except (ValueError, RecursionError):
            continue
    start = text.find("{")
    while start >= 0:
        try:
            found, end = _decoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _past_broken(text, start)
        else:
            yield start, end, found
        start = text.find("{", end)


def _past_broken(text: str, start: int) -> int:
    """Where to look on after the brace at ``start``, which begins no object.

    What stands within a broken or unfinished object is a part of it and no answer by itself.
    """
    if not _LOOKS_LIKE_JSON.match(text, start):
        return start + 1
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
