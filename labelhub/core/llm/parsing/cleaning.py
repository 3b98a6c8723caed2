"""Taking off what is no part of an answer: thinking, echoed material, invisible marks."""

import re

_THOUGHT = re.compile(r"[<\[](?P<end>/?)(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_FENCE = re.compile(r"<(?P<end>/?)text id=\"(?P<id>[0-9a-f]{8})\">")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\u0085]")
# Marks that are not seen and change no word at its edge. The joiners (U+200C, U+200D) belong to
# words and emoji, and the overrides (U+202D, U+202E) change what is seen: both stay.
_MARKS = re.compile("[\u200b\u200e\u200f\u061c\u2060\ufeff\u202a-\u202c\u2066-\u2069]+")


def without_thinking(text: str) -> str:
    """``text`` without what stands in think tags, also where one of the two tags is missing."""
    kept: list[str] = []
    at, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if tag["end"]:
            # A lone end tag ends a thought that began before the answer did.
            kept = kept if thinking else []
            at, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[at : tag.start()])
            thinking = True
    said = "".join(kept) if thinking else "".join(kept) + text[at:]
    return said.strip("\r\n \t") + ("\n" if text.endswith("\n") else "")


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
    at, opened = 0, ""
    for tag in _FENCE.finditer(text):
        if not tag["end"] and not opened:
            kept.append(text[at : tag.start()])
            at, opened = tag.start(), tag["id"]
        elif tag["end"] and tag["id"] == opened:
            at, opened = tag.end(), ""
    return "".join(kept) + text[at:]


def _kept_within_a_word(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return match[0] if before.isalnum() and after.isalnum() else ""
