"""Reading a ranking: the offered answer that fits best and those that come next.

Forms, in the order in which they are tried:

1. JSON ``{"first": …, "second": …}`` or ``{"ranking": […]}``, whole (rung 1) or within (rung 2);
2. lines ``First choice: …`` and ``Second choice: …`` (rung 3);
3. for questions with one answer: a numbered list as the last block, or a decision line that names
   several with a comma or ``>`` between (rung 3);
4. a lone decision, by the ladder; it ranks one.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

from labelhub.core.llm.parsing.decision import last_decision
from labelhub.core.llm.parsing.ladder import climb, prepared
from labelhub.core.llm.parsing.structured import MISSING, last_in_json, read_json, whole_json
from labelhub.core.schema import Schema, Value, ValueNotOffered, fold, value_key
from labelhub.core.schema.content import NoAnswer, one_name, read_content, undressed
from labelhub.core.schema.menu import Menu, menu_of

Ranking: TypeAlias = tuple[Value, ...]

_CHOICE = re.compile(
    r"^[ \t*_#•|`-]*(?:\d+[.)][ \t]*[*_]*)?(?:(?:my|the)[ ])?(?P<rank>first|second)[ ]choice"
    r"[ \t*_]*[:：|](?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(r"[ \t]*[*_]*(?P<number>\d{1,3})[.)][ \t]*(?P<rest>\S.*)")
_RANKED = re.compile(r"([,>→])")
_MOST_RANKED = 50
_LONGEST = 4000


def read_ranks(
    said: str, schema: Schema, options: Sequence[str] = (), *, cut_off: bool = False
) -> tuple[Ranking, int]:
    """The answers in ``said`` from best to worst, each once and at least one; and their rung.

    Only the first decides: a later one that is not offered is left out.

    Raises:
        ValueNotOffered: the first is not offered; ``data["off_menu"]`` has it.
        NoAnswer: there is none, or none that is certain.
    """
    text = prepared(said, schema)
    raw, rung = _in_json(text)
    if raw is not MISSING:
        return _ranked(partial(read_json, each, schema, options) for each in raw), rung
    ranked = _choices(text, schema, options, cut_off=cut_off)
    if ranked is None and schema.task.one_of_several:
        ranked = _listed(text, schema, options, cut_off=cut_off)
    if ranked is not None:
        return ranked, 3
    value, rung = climb(said, schema, options, cut_off=cut_off)
    return (value,), rung


def _in_json(text: str) -> tuple[Any, int]:
    found = whole_json(text)
    if found is not MISSING:
        return _ranks_of(found), 1
    return last_in_json(text, _ranks_of), 2


def _ranks_of(found: Any) -> Any:
    """The list of ranks that a JSON object gives in one of the two forms, else ``MISSING``."""
    if not isinstance(found, dict):
        return MISSING
    keys = {fold(key).replace(" ", "_").removesuffix("_choice"): raw for key, raw in found.items()}
    if "ranking" in keys and "first" not in keys:
        ranks = keys["ranking"]
        return ranks if isinstance(ranks, list) and ranks else MISSING
    if "first" in keys and "ranking" not in keys:
        return [keys["first"], *([keys["second"]] if "second" in keys else [])]
    return MISSING


def _choices(text: str, schema: Schema, options: Sequence[str], *, cut_off: bool) -> Ranking | None:
    """The ranking in the last lines "First choice" and "Second choice"; None without the first."""
    last = {match["rank"].casefold(): match for match in _CHOICE.finditer(text)}
    if "first" not in last:
        return None
    lines = [last[rank] for rank in ("first", "second") if rank in last]
    finished = [line for line in lines if not cut_off or line.end() < len(text)]
    if lines[0] not in finished:
        raise NoAnswer("The answer was cut off in its last line.")
    ranked = _ranked(partial(read_content, line["rest"], schema, options) for line in finished)
    decision = last_decision(text, schema)
    if decision is not None and decision.final and decision.at > lines[0].start():
        decided = read_content(decision.content, schema, options)
        if decided != ranked[0]:
            raise NoAnswer("The first choice and the final decision are not the same.")
    return ranked


def _listed(text: str, schema: Schema, options: Sequence[str], *, cut_off: bool) -> Ranking | None:
    """The names of the numbered list that ends the text, else those of the decision line."""
    menu = menu_of(schema, options)
    names = _numbered(text, menu, cut_off=cut_off)
    decision = None if names else last_decision(text, schema)
    if decision is not None and decision.final and not decision.retracted:
        whole = cut_off and not decision.complete
        names = [] if whole else _in_a_row(undressed(decision.content[:_LONGEST]).strip(), menu)
    if not names:
        return None
    return _ranked(partial(read_content, name, schema, options) for name in names)


def _numbered(text: str, menu: Menu, *, cut_off: bool) -> list[str]:
    """The names that a list 1, 2, … at the end of the text begins with; others left out."""
    items: list[re.Match[str]] = []
    for line in reversed(text.rstrip().split("\n")):
        item = _NUMBERED.fullmatch(line)
        if item is None:
            break
        items.append(item)
    items.reverse()
    numbers = [int(item["number"]) for item in items]
    if len(items) < 2 or numbers != list(range(1, len(items) + 1)):
        return []
    finished = items[:-1] if cut_off and not text.endswith("\n") else items
    names = [one_name(item["rest"], menu) for item in finished]
    return [name for name in names if name] if names[0] else []


def _in_a_row(row: str, menu: Menu) -> list[str]:
    """The names in ``row``, the longest first where one holds a comma; none if it begins strange.

    A row that is one name as a whole is left to the ladder, and so is one that is no row.
    """
    pieces = _RANKED.split(row)
    if not 1 < len(pieces) <= 2 * _MOST_RANKED or one_name(row, menu) is not None:
        return []
    names: list[str] = []
    while pieces:
        name, taken = _longest_name(pieces, menu)
        if name is None and not names:
            return []
        names += [] if name is None else [name]
        pieces = pieces[taken:]
    return names


def _longest_name(pieces: Sequence[str], menu: Menu) -> tuple[str | None, int]:
    """The name that most of the first pieces spell together, and how many to go on after."""
    for taken in range(len(pieces), 0, -2):
        name = one_name("".join(pieces[:taken]), menu)
        if name is not None:
            return name, taken + 1
    return None, 2


def _ranked(reads: Iterable[partial[Value]]) -> Ranking:
    """What each read gives, without doubles; a later one that cannot be read is left out."""
    found: dict[str, Value] = {}
    for read in reads:
        try:
            value = read()
        except (ValueNotOffered, NoAnswer):
            if not found:
                raise
            continue
        found.setdefault(value_key(value), value)
    return tuple(found.values())
