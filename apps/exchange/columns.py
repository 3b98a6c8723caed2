"""Finds the column of each field: the chosen one, else one with a common name."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from apps.exchange.readers.base import RowFault

Names: TypeAlias = tuple[str, ...]
#: Field → its names, the most specific first. Compared without case, blanks and underscores.
ALIASES: dict[str, Names] = {
    "id": ("id", "item_id", "external_id", "ext_id", "uid", "row_id"),
    "text": (
        "text", "document", "content", "review", "sentence", "message", "body", "comment", "tweet",
        "utterance", "review_text", "full_text", "premise",
    ),
    "context": ("context", "conversation", "history"),
    "question": ("question",),
    "options": ("options", "choices"),
    "gold": ("gold", "gold_label", "aspects", "label", "labels"),
    "labels": ("labels", "annotations"),
    "gold_history": ("gold_history",),
    "meta": ("meta", "metadata"),
}  # fmt: skip
#: The fields in the content of another tool's task. Its labels and decisions are elsewhere.
CONTENT = ("id", "text", "context", "question", "options", "meta")
#: Fields a person may choose a column for; the others are found by name.
CHOOSABLE = ("id", "text", "context", "question", "gold", "answer")
#: Columns of our own exports that are not metadata.
IGNORED = ("labelhub",)


def folded(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "").replace("-", "")


_BY_FIELD = {field: tuple(map(folded, names)) for field, names in ALIASES.items()}


def guess_columns(columns: Iterable[str], fields: Iterable[str] = ALIASES) -> dict[str, str]:
    """Field → column for the columns that have a name of one of ``fields``."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(folded(column), column)
    guessed = {}
    for field in fields:
        found = next((by_name[name] for name in _BY_FIELD[field] if name in by_name), None)
        if found is not None:
            guessed[field] = found
    return guessed


class Question:
    """The question in another tool's file that is the project's: the chosen one, else the first
    one, as long as no other follows."""

    def __init__(self, chosen: str = "") -> None:
        """``chosen`` is its name in the file: a control, a question or a column."""
        self.chosen = self.name = chosen

    def matches(self, name: str, where: str) -> bool:
        """Whether the answers to ``name`` are labels of this project.

        Raises:
            RowFault: none was chosen, and it is not the first.
        """
        self.name = self.name or name
        if name == self.name or self.chosen:
            return name == self.name
        raise RowFault(
            "'%(name)s' is another question than '%(name2)s', and a project asks one; choose "
            "which one to import (answer).",
            name=name[:80],
            name2=self.name[:80],
            field=where,
        )


class ColumnMap:
    """Field → column for rows that may differ in their columns; remembers each shape."""

    def __init__(self, chosen: Mapping[str, str] | None = None) -> None:
        """``chosen`` overrides the guess; an empty column means that the file has no such field."""
        self.chosen = dict(chosen or {})
        self.question = Question(self.chosen.pop("answer", ""))
        # Rows with ever new columns must not fill the memory.
        self._known = lru_cache(maxsize=1000)(self._resolve)

    def of(
        self, columns: Iterable[str], fields: Names = tuple(ALIASES)
    ) -> tuple[dict[str, str], Names]:
        """(field → column, the remaining columns) of one row; ``fields`` are those that are found
        by name unless a column was chosen."""
        return self._known(tuple(columns), fields)

    def _resolve(self, shape: Names, guessed: Names) -> tuple[dict[str, str], Names]:
        free = [column for column in shape if column not in self.chosen.values()]
        open_fields = [field for field in guessed if field not in self.chosen]
        fields = guess_columns(free, open_fields)
        fields |= {field: column for field, column in self.chosen.items() if column in shape}
        used = {*fields.values(), *IGNORED}
        return fields, tuple(column for column in shape if column not in used)
