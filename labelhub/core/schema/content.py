"""From the words of a decision to a value, by exact spelling alone."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from labelhub.core.schema.definition import Schema, Value, ValueNotOffered, listed
from labelhub.core.schema.menu import Menu, squash

MOST_OFF_MENU = 80

_BARE = " \t\r\n*_`\"'“”‘’«»|"
#: Deeper decoration is not taken off; it keeps hostile answers cheap to read.
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
    """There is nothing in the text that could be an answer; the message says why."""


def read_content(content: str, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that a decision's content spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or more than one where one fits;
            ``data["off_menu"]`` has the words.
        NoAnswer: it is empty, or a placeholder of the form that was asked for.
    """
    if not content.strip():
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    return schema.task.read_content(schema, content, options)


def offered(raw: Any, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The canonical value of ``raw``; the error of one that is not offered says it in its data.

    Raises:
        ValueNotOffered: with ``data["off_menu"]``, empty where no word or number was said.
    """
    try:
        return schema.normalise(raw, options)
    except ValueNotOffered as problem:
        refused = raw[0] if isinstance(raw, list) and len(raw) == 1 else raw
        raise ValueNotOffered(problem.message, data={"off_menu": in_a_line(refused)}) from None


def in_a_line(raw: Any) -> str:
    """A word or number as it can be counted and stored: printable, at most 80 characters."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return ""
    shown = " ".join(str(raw)[: 4 * MOST_OFF_MENU].split())
    return "".join(char for char in shown if char.isprintable())[:MOST_OFF_MENU].strip()


def one_name(content: str, menu: Menu) -> str | None:
    """The one name that ``content`` as a whole spells, else None."""
    return next((name for form in _forms(content) if (name := menu.find(form)) is not None), None)


def says_nothing_present(text: str) -> bool:
    """Whether ``text`` as a whole says that no aspect is present."""
    short = (form for form in _forms(text) if len(form) <= _LONGEST_NOTHING)
    return any(_NOTHING.fullmatch(squash(form)) for form in short)


def undressed(content: str) -> str:
    """``content`` without any of the decoration that does not count."""
    *_, last = ["", *_forms(content)]
    return last


def is_placeholder(content: str) -> bool:
    """Whether ``content`` repeats the form that was asked for: words in angle brackets."""
    return _PLACEHOLDER.fullmatch(content) is not None


def off_menu(form: str, names: Sequence[str]) -> ValueNotOffered:
    """The refusal of ``form``, which it has in its data."""
    shown = in_a_line(form)
    message = f"'{shown}' is not offered here; the choice is: {listed(names)}."
    return ValueNotOffered(message, data={"off_menu": shown})


def several_names(content: str, menu: Menu) -> list[str]:
    """The names that ``content`` lists, or the first piece of it that is none.

    Raises:
        NoAnswer: it lists nothing, or is a placeholder of the form that was asked for.
    """
    whole = one_name(content, menu)
    if whole is not None:
        return [whole]
    if says_nothing_present(content):
        return []
    if is_placeholder(content):
        raise NoAnswer("The answer repeats the form it was asked for.")
    found, strange = _listed_names(content, menu)
    if not found and not strange:
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    return [undressed(strange[0]).strip()] if strange else found


def _listed_names(content: str, menu: Menu) -> tuple[list[str], list[str]]:
    """The names that ``content`` lists; else the first piece of it that is none, in a list."""
    found: list[str] = []
    strange: list[str] = []
    for form in _forms(content):
        # A name may end in what is decoration elsewhere: the least undressed form goes first.
        found, strange = _pieces(form, menu)
        if found and not strange:
            break
    return found, strange


def _pieces(form: str, menu: Menu) -> tuple[list[str], list[str]]:
    """The names that ``form`` lists, up to the first piece of it that is none; and that piece."""
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
            return found, [form[start:end]]
        found += known
        index += size
    return found, []


def _longest_known(
    form: str, pieces: Sequence[tuple[int, int]], menu: Menu
) -> tuple[int, list[str]]:
    """The names at the beginning of ``pieces``, and of how many of them: a name that has commas
    itself is several."""
    start = pieces[0][0]
    for size in range(len(pieces), 0, -1):
        piece = form[start : pieces[size - 1][1]]
        if piece.strip() and (known := _piece(piece, menu)):
            return size, known
    return 1, []


def _piece(piece: str, menu: Menu) -> list[str]:
    """The one name that ``piece`` is, else all those it joins by "and" or a semicolon."""
    if len(piece) > _LONGEST_PIECE:
        return []
    name = one_name(piece, menu) or one_name(_LEADING_AND.sub("", piece, count=1), menu)
    if name is not None:
        return [name]
    parts = [one_name(part, menu) for part in _WEAK_BETWEEN.split(piece) if part.strip()]
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _forms(content: str) -> Iterator[str]:
    """``content`` with ever less decoration: quotes, emphasis, brackets, a full stop, a lead-in."""
    form = content
    for _ in range(_MOST_FORMS):
        if not form.strip():
            return
        yield form
        bare = _peeled(form)
        if bare == form:
            bare = _LEAD_IN.sub("", form, count=1)
        if bare == form:
            return
        form = bare


def _peeled(form: str) -> str:
    for bare in (form.strip(), form.strip(_BARE), form.rstrip(".!,;"), form.removeprefix("#")):
        if bare != form:
            return bare
    if len(form) > 2 and _BRACKETS.get(form[0]) == form[-1]:
        return form[1:-1]
    return form
