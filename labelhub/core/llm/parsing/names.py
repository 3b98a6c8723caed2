"""How answers are spelled: shown to a model one way, recognised again in a few exact ways."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from labelhub.core.schema import Schema, Task, Value, fold

_BARE = " \t\r\n*_`\"'“”‘’«»"
#: Deeper decoration is not taken off; it keeps hostile answers cheap to read.
_MOST_FORMS = 16
_BRACKETS = {"[": "]", "(": ")", "{": "}", "<": ">"}
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


def answer_ids(schema: Schema) -> dict[str, str]:
    """The number a model may answer with instead of each name; empty where there are none.

    Labels of ``single`` count from 0 (as paper 001 numbers them), scale points have their own
    number. Where a name itself looks like a number, numbers would be ambiguous and none is shown.
    """
    if schema.task not in {Task.SINGLE, Task.ORDINAL} or any(map(_numeric, schema.names)):
        return {}
    counted = enumerate(schema.labels)
    return {label.name: f"{at if label.point is None else label.point:g}" for at, label in counted}


def spellings(schema: Schema, options: Sequence[str] = ()) -> dict[str, str]:
    """Every exact spelling of an offered answer, squashed, to the name it stands for.

    A name always wins over another label's number.
    """
    if schema.task is Task.PER_ITEM:
        counts = Counter(squash(option) for option in options)
        # Options that differ in case or blanks alone cannot be told apart in an answer.
        return {squash(option): option for option in options if counts[squash(option)] == 1}
    found: dict[str, str] = {}
    for name, number in answer_ids(schema).items():
        for form in (number, f"{number}: {name}", f"{number}. {name}"):
            found[squash(form)] = name
    return found | {squash(name): name for name in schema.names}


def squash(text: str) -> str:
    """Folded, with every run of blanks as one space: how spellings are compared."""
    return " ".join(fold(text).split())


def says_nothing_present(text: str) -> bool:
    """Whether ``text`` as a whole says that no aspect is present."""
    return any(_NOTHING.fullmatch(squash(form)) for form in _forms(text))


def read_content(content: str, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that a decision's content spells.

    Raises:
        ValueNotOffered: it names something that is not offered, or more than one where one fits.
        NoAnswer: it is empty.
    """
    if not content.strip():
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    if schema.task is Task.TEXT:
        return schema.normalise(content.strip(" \t\r\n*"))
    names = spellings(schema, options)
    # A spelling unknown here goes on to the schema, which knows numbers and refuses in words.
    if schema.task is Task.MULTI:
        return schema.normalise(_several(content, names))
    name = _one(content, names)
    return schema.normalise(_undressed(content).strip() if name is None else name, options)


def _several(content: str, names: dict[str, str]) -> list[str]:
    """The names that ``content`` lists, or the first piece of it that is none."""
    whole = _one(content, names)
    if whole is not None:
        return [whole]
    if says_nothing_present(content):
        return []
    strange: list[str] = []
    for form in _forms(content):
        # A name may end in what is decoration elsewhere: the least undressed form goes first.
        found, strange = _pieces(form, names)
        if found and not strange:
            return found
    if not strange:
        raise NoAnswer("Nothing follows 'Final Decision:'.")
    return [_undressed(strange[0]).strip()]


def _pieces(form: str, names: dict[str, str]) -> tuple[list[str], list[str]]:
    """The names that ``form`` lists, and the pieces of it that are none."""
    found: list[str] = []
    strange: list[str] = []
    for piece in _BETWEEN.split(form):
        if piece.strip():
            known = _piece(piece, names)
            found += known
            strange += [] if known else [piece]
    return found, strange


def _piece(piece: str, names: dict[str, str]) -> list[str]:
    """The one name that ``piece`` is, else all those it joins by "and" or a semicolon."""
    name = _one(piece, names) or _one(_LEADING_AND.sub("", piece, count=1), names)
    if name is not None:
        return [name]
    parts = [_one(part, names) for part in _WEAK_BETWEEN.split(piece) if part.strip()]
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _one(content: str, names: dict[str, str]) -> str | None:
    return next((names[key] for form in _forms(content) if (key := squash(form)) in names), None)


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


def _undressed(content: str) -> str:
    *_, last = _forms(content)
    return last


def _numeric(name: str) -> bool:
    return name.strip().lstrip("+-").replace(".", "", 1).isdigit()
