"""Find the sentence or line in which a model states its answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labelhub.core.schema import Schema
from labelhub.core.schema.content import says_none

_THOUGHT = re.compile(r"[<\[](?P<end>/?)(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_FENCE = re.compile(r"<(?P<end>/?)text id=\"(?P<id>[0-9a-f]{8})\">")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\u0085]")
# Invisible marks without a meaning at the edge of a word. The joiners (U+200C, U+200D) belong to
# words and emoji, and the overrides (U+202D, U+202E) change the visible text: both stay.
_MARKS = re.compile("[\u200b\u200e\u200f\u061c\u2060\ufeff\u202a-\u202c\u2066-\u2069]+")


def strip_thinking(text: str) -> str:
    """``text`` without the content of think tags, also if one of the two tags is missing."""
    kept: list[str] = []
    end, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if tag["end"]:
            # A lone end tag ends a thought that began before the text.
            kept = kept if thinking else []
            end, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[end : tag.start()])
            thinking = True
    answer = "".join(kept) if thinking else "".join(kept) + text[end:]
    return answer.strip("\r\n \t") + ("\n" if text.endswith("\n") else "")


def clean_reply(text: str) -> str:
    """``text`` with line feeds only, without echoed material and without marks at word edges.

    A block between the prompts' delimiters repeats the material; a decision in it is not the
    model's.
    """
    return _MARKS.sub(_keep_within_word, strip_echo(normalise_line_ends(text)))


def normalise_line_ends(text: str) -> str:
    """``text`` with every kind of line end as a line feed."""
    return _LINE_END.sub("\n", text)


def strip_echo(text: str) -> str:
    """``text`` without complete blocks ``<text id="…">…</text id="…">``."""
    kept: list[str] = []
    start, opened = 0, ""
    for tag in _FENCE.finditer(text):
        if not tag["end"] and not opened:
            kept.append(text[start : tag.start()])
            start, opened = tag.start(), tag["id"]
        elif tag["end"] and tag["id"] == opened:
            start, opened = tag.end(), ""
    return "".join(kept) + text[start:]


def _keep_within_word(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return match[0] if before.isalnum() and after.isalnum() else ""


# A quoted line (">", '"') is the decision of somebody else and does not match.
_START = r"^[ \t*_#•|`-]*(?:\d+[.)][ \t]*[*_]*)?"
_FINAL = re.compile(
    _START
    + r"(?:(?:my|the)[ ])?final[ ](?:decision|answer)[ \t*_]*(?:[:：|][ \t]*(?P<rest>[^\n]*)|)$",
    re.IGNORECASE | re.MULTILINE,
)
_PRESENT = re.compile(
    _START + r"(?:the[ ])?(?:present[ ]aspects|aspects(?:[ ]that[ ]are)?[ ]present"
    r"(?:[ ]in[ ](?:this|the)[ ]\w+)?)[ ]are[ \t*_]*:?(?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
# The words state a label only at the beginning of a sentence or after "so" or "Conclusion:". "I
# doubt that the label is X", "if the label is X" and "Annotator B: the label is X" state none.
_SENTENCE = re.compile(
    r"(?:^[ \t*_•-]*|(?:[.!?;]|\b(?:so|thus|therefore|hence),?"
    r"|\b(?:answer|conclusion|decision|result|summary|therefore|so|verdict)[*_]*:[*_]*)"
    r"[ \t]+[*_]*)"
    r"(?:the|my)[ ](?:final[ ]|correct[ ]|best[ ]|right[ ])?label[ ]is\b",
    re.IGNORECASE,
)
_ANY_SENTENCE = re.compile(r"\blabel (?:is|isn|was|cannot|can't|should)", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|(?:take|took) (?:that|it|this) back|i was wrong|that (?:is|was) wrong"
    r"|on second thou?ghts?|on reflection,|wait,|correction:|i (?:have )?changed? my mind)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=[\"”’'*_`)]*(?:\s|$))")
_LINE = re.compile(r"^[^\n]*$", re.MULTILINE)
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d+[.)])[ \t]+(?P<rest>\S.*)")
_TAG_LINE = re.compile(r"[ \t]*(?:[-*•+][ \t]*)?#[^#\s]")
_SAYS_OF_WHAT = re.compile(r"aspects|labels|none of", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedDecision:
    """The words of an answer and where they start.

    Attributes:
        complete: more text follows, so a cut-off reply cannot have cut the answer.
        final: it is a line "Final Decision: …".
        prose: it is a sentence, which may go on after the name.
        retracted: later words may take it back, or it is no statement: then there is no answer.
    """

    start: int
    content: str
    complete: bool
    final: bool = False
    prose: bool = False
    retracted: bool = False


def last_decision(text: str, schema: Schema) -> StatedDecision | None:
    """The decision of ``text``: a final line, else the last other statement; None without one."""
    finals = list(_FINAL.finditer(text))
    if finals:
        return _read_final(text, finals[-1], schema)
    if schema.task.written:
        return None
    stated = max(_find_statements(text, schema), key=lambda found: found.start, default=None)
    return stated or _find_hashtags(text)


def _read_final(text: str, match: re.Match[str], schema: Schema) -> StatedDecision:
    rest = match["rest"] or ""
    if rest.strip() not in {"", "**", "__"}:
        content, end = rest, match.end()
        complete = end < len(text)
    else:
        content, end = _lines_below(text, match.end())
        complete = end < len(text.rstrip())
    retracted = not schema.task.written and _TAKEN_BACK.search(text, end) is not None
    return StatedDecision(match.start(), content, complete, final=True, retracted=retracted)


def _lines_below(text: str, start: int) -> tuple[str, int]:
    """The list, else the line, that follows position ``start``; and where it ends."""
    names: list[str] = []
    end = start
    for line in _LINE.finditer(text, start + 1):
        bullet = _BULLET.fullmatch(line[0])
        if bullet:
            names.append(bullet["rest"])
        elif names and line[0].strip():
            break
        elif line[0].strip() and not line[0].lstrip().startswith("```"):
            return line[0], line.end()
        end = line.end()
    return "\n".join(names), end


def _find_statements(text: str, schema: Schema) -> Iterator[StatedDecision]:
    for match in _PRESENT.finditer(text):
        yield StatedDecision(match.start(), match["rest"], match.end() < len(text))
    if schema.task.several:
        before, _, last = text.strip().rpartition("\n")
        # A bare "none" counts only as the whole answer: below a heading it may mean one aspect.
        if says_none(last) and (not before or _SAYS_OF_WHAT.search(last)):
            yield StatedDecision(len(text.rstrip()) - len(last), last, text.endswith("\n"))
    sentence = _find_last_sentence(text)
    if sentence is not None:
        yield sentence


def _find_last_sentence(text: str) -> StatedDecision | None:
    """The last "the label is …" outside quotations; later words about it take it back."""
    stated = list(_find_sentences(text))
    if not stated:
        return None
    start, end = stated[-1]
    if _ANY_SENTENCE.search(text, end) or _TAKEN_BACK.search(text, end):
        return StatedDecision(start, "", complete=True, retracted=True)
    rest = text[end:].split("\n", 1)[0]
    stop = _SENTENCE_END.search(rest)
    content = (rest[: stop.end()] if stop else rest).lstrip(" \t:")
    asked = stop is not None and stop[0] == "?"
    return StatedDecision(start, content, end + len(rest) < len(text), prose=True, retracted=asked)


def _find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each "the label is" outside quotations."""
    for line in _LINE.finditer(text):
        straight, curly, read_to = False, False, 0
        for match in _SENTENCE.finditer(line[0]):
            between = line[0][read_to : match.end()]
            straight ^= between.count('"') % 2 == 1
            marks = [mark for mark in between if mark in "“”"]
            curly = marks[-1] == "“" if marks else curly
            read_to = match.end()
            if not straight and not curly:
                yield line.start() + match.start(), line.start() + read_to


def _find_hashtags(text: str) -> StatedDecision | None:
    """The last line of only hashtags, followed at most by notes on single hashtags."""
    end = len(text.rstrip())
    for line in reversed(text.rstrip().split("\n")):
        start = end - len(line)
        pieces = [piece.strip() for piece in line.split(",") if piece.strip()]
        if pieces and all(re.match(r"#[^#\s]", piece) for piece in pieces):
            return StatedDecision(start, line, end < len(text))
        if line.strip() and not _TAG_LINE.match(line):
            return None
        end = start - 1
    return None
