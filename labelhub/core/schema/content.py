"""Read the value from the words of a decision, by exact spelling alone."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from labelhub.core.schema.definition import Schema, Value, ValueNotOffered, join_names
from labelhub.core.schema.menu import Menu, squash

MOST_OFF_MENU = 80

_BARE = " \t\r\n*_`\"'“”‘’«»|"
#: Deeper decoration stays, which keeps hostile answers cheap to read.
_MOST_FORMS = 16
_LONGEST_PIECE = 20_000
_LONGEST_NOTHING = 200
_BRACKETS = {"[": "]", "(": ")", "{": "}", "<": ">"}
_PLACEHOLDER = re.compile(r"[\s*_`\"]*<[^<>\n]*>[\s*_`\".]*")
_LEAD_IN = re.compile(
    r"^(?:the |my )?(?:present (?:aspects?|labels?)"
    r"|(?:aspects?|labels?)(?: that (?:is|are))? present(?: in (?:this|the) \w+)?"
    r"|(?:final |correct )?(?:label|answer)s?) (?:is|are)\b[ \t]*:?",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"none|\[\]|\{\}|none present|none apply|nothing present"
    r"|none of (?:them|the|these)(?: (?:listed|given|offered|possible))?(?: (?:aspects|labels))?"
    r"(?: (?:is|are|were) (?:present|mentioned))?(?: in (?:the|this) \w+)?"
    r"|(?:there are )?no (?:aspects|labels)(?: (?:is |are |were )?(?:present|mentioned))?"
    r"(?: in (?:the|this) \w+)?",
)
_BETWEEN = re.compile(r"[,|\n]|[ \t](?=#)")
_WEAK_BETWEEN = re.compile(r";|[ \t](?:and|&)[ \t]", re.IGNORECASE)
_LEADING_AND = re.compile(r"^[ \t]*(?:and|&)[ \t]+", re.IGNORECASE)


class NoAnswer(Exception):
    """The text holds no answer; the message says why."""


def read_content(content: str, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that the content of a decision spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or several names for one value;
            ``data["off_menu"]`` holds the words.
        NoAnswer: it is empty or the placeholder of the prompt.
    """
    if not content.strip():
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    return schema.task.read_content(schema, content, options)


def offered(raw: Any, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The canonical value of ``raw``.

    Raises:
        ValueNotOffered: ``data["off_menu"]`` holds the word or number; empty if ``raw`` is neither.
    """
    try:
        return schema.normalise(raw, options)
    except ValueNotOffered as problem:
        refused = raw[0] if isinstance(raw, list) and len(raw) == 1 else raw
        raise ValueNotOffered(problem.message, data={"off_menu": printable_line(refused)}) from None


def printable_line(raw: Any) -> str:
    """A word or number in a form to count and store: printable, at most 80 characters."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return ""
    shown = " ".join(str(raw)[: 4 * MOST_OFF_MENU].split())
    return "".join(char for char in shown if char.isprintable())[:MOST_OFF_MENU].strip()


def match_name(content: str, menu: Menu) -> str | None:
    """The name that ``content`` as a whole spells, else None."""
    return next((name for form in _forms(content) if (name := menu.find(form)) is not None), None)


def says_none(text: str) -> bool:
    """Whether ``text`` as a whole says that no aspect is present."""
    short = (form for form in _forms(text) if len(form) <= _LONGEST_NOTHING)
    return any(_NOTHING.fullmatch(squash(form)) for form in short)


def strip_decoration(content: str) -> str:
    """``content`` without quotes, emphasis, brackets, a full stop or a lead-in around it."""
    *_, last = ["", *_forms(content)]
    return last.strip()


def is_placeholder(content: str) -> bool:
    """Whether ``content`` repeats the placeholder of the prompt: words in angle brackets."""
    return _PLACEHOLDER.fullmatch(content) is not None


def off_menu_error(form: str, names: Sequence[str]) -> ValueNotOffered:
    """The error for ``form``, with the words in its data."""
    shown = printable_line(form)
    message = f"'{shown}' is not offered here; the choice is: {join_names(names)}."
    return ValueNotOffered(message, data={"off_menu": shown})


def match_names(content: str, menu: Menu) -> list[str]:
    """The names that ``content`` lists, or its first piece that is no name.

    Raises:
        NoAnswer: it lists nothing, or is the placeholder of the prompt.
    """
    whole = match_name(content, menu)
    if whole is not None:
        return [whole]
    if says_none(content):
        return []
    if is_placeholder(content):
        raise NoAnswer("The answer repeats the form it was asked for.")
    found: list[str] = []
    strange = ""
    for form in _forms(content):
        # A name may end in what is decoration elsewhere: the form with most decoration goes first.
        found, strange = _split_names(form, menu)
        if found and not strange:
            break
    if not found and not strange:
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    return [strip_decoration(strange)] if strange else found


def _split_names(form: str, menu: Menu) -> tuple[list[str], str]:
    """The names that ``form`` lists before its first piece that is no name; and that piece, ""
    if all are names."""
    found: list[str] = []
    marks = [match.span() for match in _BETWEEN.finditer(form)]
    starts = [0, *(end for _, end in marks)]
    ends = [*(start for start, _ in marks), len(form)]
    pieces = list(zip(starts, ends, strict=True))
    index = 0
    while index < len(pieces):
        size, known = _longest_known(form, pieces[index : index + menu.widest], menu)
        start, end = pieces[index]
        if not known and form[start:end].strip():
            return found, form[start:end]
        found += known
        index += size
    return found, ""


def _longest_known(
    form: str, pieces: Sequence[tuple[int, int]], menu: Menu
) -> tuple[int, list[str]]:
    """The names that the longest run of first ``pieces`` spells, and its length: a name with commas
    is several pieces."""
    start = pieces[0][0]
    for size in range(len(pieces), 0, -1):
        piece = form[start : pieces[size - 1][1]]
        if piece.strip() and (known := _joined_names(piece, menu)):
            return size, known
    return 1, []


def _joined_names(piece: str, menu: Menu) -> list[str]:
    """The name that ``piece`` is, else all names that it joins by "and" or a semicolon."""
    if len(piece) > _LONGEST_PIECE:
        return []
    name = match_name(piece, menu) or match_name(_LEADING_AND.sub("", piece, count=1), menu)
    if name is not None:
        return [name]
    parts = [match_name(part, menu) for part in _WEAK_BETWEEN.split(piece) if part.strip()]
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _forms(content: str) -> Iterator[str]:
    """``content`` with less and less decoration (see :func:`strip_decoration`)."""
    form = content
    for _ in range(_MOST_FORMS):
        if not form.strip():
            return
        yield form
        bare = _strip_once(form)
        if bare == form:
            bare = _LEAD_IN.sub("", form, count=1)
        if bare == form:
            return
        form = bare


def _strip_once(form: str) -> str:
    for bare in (form.strip(), form.strip(_BARE), form.rstrip(".!,;"), form.removeprefix("#")):
        if bare != form:
            return bare
    if len(form) > 2 and _BRACKETS.get(form[0]) == form[-1]:
        return form[1:-1]
    return form
