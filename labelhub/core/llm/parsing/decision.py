"""Finding the sentence or line in which a model states its answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labelhub.core.llm.parsing.names import says_nothing_present
from labelhub.core.schema import Schema, Task

# A quoted line (">", '"') is somebody else's decision and does not match.
_START = r"^[ \t*_#•-]*(?:\d+[.)][ \t]*[*_]*)?"
_FINAL = re.compile(
    _START + r"(?:(?:my|the)[ ])?final[ ](?:decision|answer)[ \t*_]*(?:[:：](?P<rest>[^\n]*)|)$",
    re.IGNORECASE | re.MULTILINE,
)
_PRESENT = re.compile(
    _START + r"(?:the[ ])?(?:present[ ]aspects|aspects(?:[ ]that[ ]are)?[ ]present"
    r"(?:[ ]in[ ](?:this|the)[ ]\w+)?)[ ]are[ \t*_]*:?(?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
# Only what begins a sentence, or follows a "so", states a label; "I doubt that the label is X" and
# "if the label is X" do not.
_SENTENCE = re.compile(
    r"(?:^[ \t*_•-]*|(?:[.!?;:]|\b(?:so|thus|therefore|hence),?)[ \t]+[*_]*)"
    r"(?:the|my)[ ](?:final[ ]|correct[ ]|best[ ]|right[ ])?label[ ]is\b(?=(?P<rest>[^\n]*))",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_SENTENCE = re.compile(r"\blabel (?:is|isn|was|cannot|can't|should)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_LINE = re.compile(r"^[^\n]*$", re.MULTILINE)
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d+[.)])[ \t]+(?P<rest>\S.*)")


@dataclass(frozen=True, slots=True)
class Decision:
    """Where an answer is stated and in which words.

    ``complete`` tells that the model wrote on after it, so a cut-off answer cannot have cut it.
    """

    at: int
    content: str
    complete: bool


def last_decision(text: str, schema: Schema) -> Decision | None:
    """The statement that counts, by rank first and then the last of its rank; None without one."""
    finals = list(_FINAL.finditer(text))
    if finals:
        return _final(text, finals[-1])
    if schema.task is Task.TEXT:
        return None
    stated = max(_statements(text, schema), key=lambda found: found.at, default=None)
    return stated or _hashtags(text)


def _final(text: str, match: re.Match[str]) -> Decision:
    rest = match["rest"] or ""
    if rest.strip() not in {"", "**", "__"}:
        return Decision(match.start(), rest, match.end() < len(text))
    content, end = _below(text, match.end())
    return Decision(match.start(), content, end < len(text.rstrip()))


def _below(text: str, at: int) -> tuple[str, int]:
    """The list, else the one line, that follows position ``at``; and where it ends."""
    names: list[str] = []
    end = at
    for line in _LINE.finditer(text, at + 1):
        bullet = _BULLET.fullmatch(line[0])
        if bullet:
            names.append(bullet["rest"])
        elif names and line[0].strip():
            break
        elif line[0].strip():
            return line[0], line.end()
        end = line.end()
    return "\n".join(names), end


def _statements(text: str, schema: Schema) -> Iterator[Decision]:
    for match in _PRESENT.finditer(text):
        yield Decision(match.start(), match["rest"], match.end() < len(text))
    if schema.task is Task.MULTI:
        for line in _LINE.finditer(text):
            if says_nothing_present(line[0]):
                yield Decision(line.start(), line[0], line.end() < len(text))
    sentence = _last_sentence(text)
    if sentence is not None:
        yield sentence


def _last_sentence(text: str) -> Decision | None:
    stated = list(_SENTENCE.finditer(text))
    mentioned = list(_ANY_SENTENCE.finditer(text))
    if not stated or not mentioned:
        return None
    last = stated[-1]
    if mentioned[-1].start() >= last.end():
        # Later words about the label may take the statement back, so none stands: as a whole, the
        # rest is no name.
        return Decision(last.start(), text[last.start() :].strip(), complete=True)
    rest = last["rest"].lstrip(" \t:")
    end = _SENTENCE_END.search(rest)
    content = rest[: end.start()] if end else rest
    return Decision(last.start(), content, last.end() < len(text))


def _hashtags(text: str) -> Decision | None:
    found = None
    for line in _LINE.finditer(text):
        pieces = [piece.strip() for piece in line[0].split(",") if piece.strip()]
        if pieces and all(re.match(r"#[^#\s]", piece) for piece in pieces):
            found = Decision(line.start(), line[0], line.end() < len(text))
    return found
