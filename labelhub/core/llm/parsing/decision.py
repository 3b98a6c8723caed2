"""Finding the sentence or line in which a model states its answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labelhub.core.schema import Schema
from labelhub.core.schema.content import says_none

_THOUGHT = re.compile(r"[<\[](?P<end>/?)(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_FENCE = re.compile(r"<(?P<end>/?)text id=\"(?P<id>[0-9a-f]{8})\">")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\u0085]")
# Marks that are not seen and change no word at its edge. The joiners (U+200C, U+200D) belong to
# words and emoji, and the overrides (U+202D, U+202E) change what is seen: both stay.
_MARKS = re.compile("[\u200b\u200e\u200f\u061c\u2060\ufeff\u202a-\u202c\u2066-\u2069]+")


def without_thinking(text: str) -> str:
    """``text`` without what stands in think tags, also where one of the two tags is missing."""
    kept: list[str] = []
    end, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if tag["end"]:
            # A lone end tag ends a thought that began before the answer did.
            kept = kept if thinking else []
            end, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[end : tag.start()])
            thinking = True
    answer = "".join(kept) if thinking else "".join(kept) + text[end:]
    return answer.strip("\r\n \t") + ("\n" if text.endswith("\n") else "")


def readable(text: str) -> str:
    """``text`` as labels are read from it: one kind of line end, nothing echoed, no edge marks.

    A block between the prompts' delimiters is the material itself, said back; a decision in it is
    somebody else's.
    """
    return _MARKS.sub(_kept_within_a_word, without_echo(one_line_end(text)))


def one_line_end(text: str) -> str:
    """``text`` with every kind of line end as a line feed."""
    return _LINE_END.sub("\n", text)


def without_echo(text: str) -> str:
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


def _kept_within_a_word(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return match[0] if before.isalnum() and after.isalnum() else ""


# A quoted line (">", '"') is somebody else's decision and does not match.
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
# Only what begins a sentence, or follows a "so" or a "Conclusion:", states a label. "I doubt that
# the label is X", "if the label is X" and "Annotator B: the label is X" do not.
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
    """Where an answer is stated and in which words.

    ``complete`` tells that the model wrote on after it, so a cut-off answer cannot have cut it.
    ``final`` tells that it is a line "Final Decision: …", ``prose`` that it is a sentence, which
    may go on after the name. ``retracted`` tells that
    later words may take it back, or that it is no statement: then none stands.
    """

    start: int
    content: str
    complete: bool
    final: bool = False
    prose: bool = False
    retracted: bool = False


def last_decision(text: str, schema: Schema) -> StatedDecision | None:
    """The statement that counts, by rank first and then the last of its rank; None without one."""
    finals = list(_FINAL.finditer(text))
    if finals:
        return _final(text, finals[-1], schema)
    if schema.task.written:
        return None
    stated = max(_statements(text, schema), key=lambda found: found.start, default=None)
    return stated or _hashtags(text)


def _final(text: str, match: re.Match[str], schema: Schema) -> StatedDecision:
    rest = match["rest"] or ""
    if rest.strip() not in {"", "**", "__"}:
        content, end = rest, match.end()
        complete = end < len(text)
    else:
        content, end = _below(text, match.end())
        complete = end < len(text.rstrip())
    retracted = not schema.task.written and _TAKEN_BACK.search(text, end) is not None
    return StatedDecision(match.start(), content, complete, final=True, retracted=retracted)


def _below(text: str, start: int) -> tuple[str, int]:
    """The list, else the one line, that follows position ``start``; and where it ends."""
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


def _statements(text: str, schema: Schema) -> Iterator[StatedDecision]:
    for match in _PRESENT.finditer(text):
        yield StatedDecision(match.start(), match["rest"], match.end() < len(text))
    if schema.task.several:
        yield from _nothing(text)
    sentence = _last_sentence(text)
    if sentence is not None:
        yield sentence


def _nothing(text: str) -> Iterator[StatedDecision]:
    """The last line, where it says that no aspect is present.

    A bare "none" counts as the whole answer alone; below a heading it may speak of one aspect.
    """
    before, _, last = text.strip().rpartition("\n")
    if says_none(last) and (not before or _SAYS_OF_WHAT.search(last)):
        yield StatedDecision(len(text.rstrip()) - len(last), last, text.endswith("\n"))


def _last_sentence(text: str) -> StatedDecision | None:
    """The last "the label is …" outside of quotations; later words about it take it back."""
    stated = list(_stated(text))
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


def _stated(text: str) -> Iterator[tuple[int, int]]:
    """Where each "the label is" that is not within a quotation begins and ends."""
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


def _hashtags(text: str) -> StatedDecision | None:
    """The last line of nothing but hashtags, where at most notes on single hashtags follow it."""
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
