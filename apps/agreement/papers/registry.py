"""All tables by their code."""

from apps.agreement.papers import (
    p000_t2,
    p000_t3,
    p000_t5,
    p000_t6,
    p001_f2,
    p001_f3,
    p001_f4,
    p001_t1,
    p002_f6,
    p002_f7,
    p002_f8,
    p002_t3,
    p002_t4,
)
from apps.agreement.papers.kinds import PaperTable
from labelhub.core.errors import InvalidInput

_MODULES = (
    p000_t2, p000_t3, p000_t5, p000_t6, p001_t1, p001_f2, p001_f3, p001_f4, p002_t3, p002_t4,
    p002_f6, p002_f7, p002_f8,
)  # fmt: skip
TABLES: dict[str, PaperTable] = {module.TABLE.code: module.TABLE for module in _MODULES}


def paper_table(code: str) -> PaperTable:
    """The table of that code.

    Raises:
        InvalidInput: there is none; the message lists those there are.
    """
    found = TABLES.get(code.strip().upper())
    if found is None:
        raise InvalidInput(f"table: '{code}' is not known; there are {', '.join(TABLES)}.")
    return found
