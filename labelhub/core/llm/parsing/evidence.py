"""Quotations that back a label. A phrase that is not in the text is no evidence."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from labelhub.core.llm.parsing.structured import quotations
from labelhub.core.schema.menu import squash

MOST_PHRASES = 10
_LONGEST_PHRASE = 1000

_QUOTED = re.compile(r"[\"“„«](?P<phrase>[^\"“”„«»]+)[\"”“»]")
_OUTER = re.compile(r"[\"“„«](?P<inner>.+)[\"”»]")
_BETWEEN = re.compile(r"[\"”»][ \t]*[,;][ \t]*(?:and[ \t]+)?[\"“„«]")
_DISAGREES = re.compile(r"[ \t*_]*disagree", re.IGNORECASE)
_ALIKE = {"'": "['’‘]", "’": "['’‘]", "‘": "['’‘]", '"': '["“”]', "“": '["“”]', "”": '["“”]'}


def read_evidence(answer: str, names: Sequence[str], source: str) -> dict[str, tuple[str, ...]]:
    """The phrases quoted for each name, as ``source`` spells them; names without any left out.

    Read are lines such as ``- Food: "phrase"; "phrase"``, or the quotations of an answer in JSON.
    What a critic quotes on a line that says ``disagree`` speaks against the label and is left out.
    """
    found: dict[str, tuple[str, ...]] = {}
    if not names or not source:
        return found
    line_of, by_key = _line_pattern(tuple(names))
    in_json = quotations(answer)
    quoted = _on_lines(answer, line_of, source) if in_json is None else in_json
    for named, phrases in quoted:
        name = by_key.get(squash(named))
        kept = found.get(name, ()) + keep_quotes(phrases, source) if name else ()
        if name and kept:
            found[name] = tuple(dict.fromkeys(kept))[:MOST_PHRASES]
    return found


def _on_lines(
    answer: str, line_of: re.Pattern[str], source: str
) -> Iterator[tuple[str, list[str]]]:
    for line in answer.splitlines():
        match = line_of.match(line)
        if match is not None and not _DISAGREES.match(match["rest"]):
            yield match["name"], quotes(match["rest"], source)


def keep_quotes(phrases: Iterable[str], source: str) -> tuple[str, ...]:
    """Those phrases that occur in ``source``, as it spells them, each once."""
    found = (find_quote(phrase, source) for phrase in phrases)
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def find_quote(phrase: str, source: str) -> str | None:
    """``phrase`` as ``source`` spells it; None when it does not occur there.

    Case, blanks, the style of quotation marks, and an ellipsis or full stop added at an end do not
    matter; everything else does.
    """
    phrase = phrase[:_LONGEST_PHRASE]
    for wanted in (phrase, phrase.strip(" \t.,;:…")):
        words = wanted.split()
        if not any(char.isalnum() for char in wanted):
            continue
        if wanted in source:
            return wanted
        pattern = r"\s+".join("".join(_ALIKE.get(c) or re.escape(c) for c in w) for w in words)
        match = re.search(pattern, source, re.IGNORECASE)
        if match:
            return match[0]
    return None


def quotes(line: str, source: str) -> list[str]:
    """What stands in double quotes on ``line``; marks within a phrase belong to it if it fits."""
    outer = _OUTER.search(line)
    if outer:
        whole = _BETWEEN.split(outer["inner"])
        if all(find_quote(phrase, source) for phrase in whole):
            return whole
    return [match["phrase"] for match in _QUOTED.finditer(line)]


@lru_cache(maxsize=64)
def _line_pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    longest_first = sorted(names, key=len, reverse=True)
    alternatives = "|".join(
        r"\s+".join(re.escape(word) for word in name.split()) for name in longest_first
    )
    pattern = re.compile(
        r"[ \t]*(?:[-*•+]|\d+[.)])?[ \t]*[*_`#]*(?:-?\d+(?:\.\d+)?:[ \t]*)?"
        rf"(?P<name>{alternatives})[*_`]*[ \t]*:(?P<rest>.*)",
        re.IGNORECASE,
    )
    return pattern, {squash(name): name for name in names}
