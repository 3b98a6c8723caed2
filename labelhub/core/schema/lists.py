"""Lists of label names in a line of text, where names may have commas themselves."""

import re
from collections.abc import Iterable

from labelhub.core.schema.definition import fold

#: Label names have none of these but commas.
_BETWEEN_NAMES = re.compile(r"[,#|\n]")


def name_parts(name: str) -> tuple[str, ...]:
    """What the commas in a name part it into, folded."""
    return tuple(map(fold, name.split(",")))


def listed_names(text: str, names: Iterable[str]) -> list[str]:
    """The entries of a list whose separators are commas, bars, hashes or line ends.

    An entry that spells one of ``names`` is that name, commas included; others are as they stand.
    """
    known = {name_parts(name): name for name in names}
    most = max(map(len, known), default=1)
    pieces = [piece.strip() for piece in _BETWEEN_NAMES.split(text) if piece.strip()]
    folded = tuple(map(fold, pieces))
    found: list[str] = []
    at = 0
    while at < len(pieces):
        sizes = (size for size in range(most, 1, -1) if folded[at : at + size] in known)
        size = next(sizes, 1)
        found.append(known[folded[at : at + size]] if size > 1 else pieces[at])
        at += size
    return found
