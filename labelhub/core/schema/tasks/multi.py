"""Several labels: the value is the list of the present labels' names, in schema order."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelhub.core.schema.carrying import Fate, SchemaPlan
from labelhub.core.schema.content import offered, several_names
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    SchemaError,
    Value,
    ValueNotOffered,
    fold,
    listed,
    not_offered,
)
from labelhub.core.schema.menu import menu_of
from labelhub.core.schema.tasks.base import NOMINAL, LabelType

#: Label names have none of these but commas.
_BETWEEN_NAMES = re.compile(r"[,#|\n]")


class Multi(LabelType):
    """Any of the schema's labels, or none: each is present or not."""

    name = "multi"
    title = "Several labels"
    summary = "Each label is present or not."
    example = "Food ✓ · Service ✓ · Price ✗"
    question = "Which of the aspects are present in the text?"
    question_to_people = "Which apply?"
    wanted = "choose a label or “None of these”"
    several = True
    least_labels = 1
    coefficients = ("alpha_masi", "alpha_jaccard", *NOMINAL)
    learned_as = "multi"
    column = "classes"
    hub_words = "the set of labels that apply"

    def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
        """Names may have commas as long as a list of names reads in one way: what follows a comma
        within a name begins none."""
        begins: dict[str, str] = {}
        for label in labels:
            first, *rest = _parts(label.name)
            if rest and not all((first, *rest)):
                raise SchemaError(f"labels: a comma in '{label.name}' needs words on both sides.")
            begins.setdefault(first, label.name)
        for label in labels:
            first, *rest = _parts(label.name)
            other = next((begins[part] for part in rest if part in begins), None)
            if other is not None:
                raise SchemaError(
                    f"labels: '{label.name}' cannot be told from a list of labels, because "
                    f"'{other}' is or begins like a part of it; rename one of them."
                )
        return labels

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From a list of names, or an object that says true or false of names."""
        present = {
            super(Multi, self).normalise(schema, name, options)
            for name in _present_names(raw, schema.names)
        }
        return [name for name in schema.names if name in present]

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """A set of one for each label."""
        return [[name] for name in schema.names]

    def read_content(self, schema: Schema, content: str, options: Sequence[str]) -> Value:
        """From a list of names, or words that say that nothing is present."""
        return offered(several_names(content, menu_of(schema, options)), schema)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """From names between commas; what JSON holds is as JSON says."""
        if isinstance(raw, str):
            names = listed_names(raw, schema.names)
            if not names:
                raise ValueNotOffered("It names no label; the empty set is written as [].")
            return names
        if isinstance(raw, dict):
            return {
                name: bool(present) if present in (0, 1) else present
                for name, present in raw.items()
            }
        return raw

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """A name that is dropped leaves the others; one that needs people needs them for the whole
        set."""
        names = self.names_in(plan.old, value)
        targets = [plan.names.get(name, Fate.NEEDS_PEOPLE) for name in names]
        if Fate.NEEDS_PEOPLE in targets:
            return Fate.NEEDS_PEOPLE
        return [name for name in plan.new.names if name in targets]


def _present_names(raw: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(raw, Mapping):
        if not raw:
            raise ValueNotOffered("An empty object says nothing of any label; none of them is [].")
        if not all(isinstance(is_there, bool) for is_there in raw.values()):
            raise ValueNotOffered("Each label must be true or false.")
        folded = {fold(name) for name in names}
        strange = next((name for name in raw if fold(str(name)) not in folded), None)
        if strange is not None:
            raise not_offered(strange, names)
        present = [name for name, is_there in raw.items() if is_there]
        given = {fold(str(name)) for name in raw}
        missing = [name for name in names if fold(name) not in given]
        if missing and not present:  # nobody said that none of these is there
            raise ValueNotOffered(f"Nothing is said of: {listed(missing)}.")
        return present
    if isinstance(raw, list | tuple):
        return list(raw)
    raise ValueNotOffered("Several labels must be a list of names, or names with true or false.")


def listed_names(text: str, names: Iterable[str]) -> list[str]:
    """The entries of a list whose separators are commas, bars, hashes or line ends.

    An entry that spells one of ``names`` is that name, commas included; others are as they stand.
    """
    known = {_parts(name): name for name in names}
    most = max(map(len, known), default=1)
    pieces = [piece.strip() for piece in _BETWEEN_NAMES.split(text) if piece.strip()]
    folded = tuple(map(fold, pieces))
    found: list[str] = []
    start = 0
    while start < len(pieces):
        sizes = (size for size in range(most, 1, -1) if folded[start : start + size] in known)
        size = next(sizes, 1)
        found.append(known[folded[start : start + size]] if size > 1 else pieces[start])
        start += size
    return found


def _parts(name: str) -> tuple[str, ...]:
    """What the commas in a name part it into, folded."""
    return tuple(map(fold, name.split(",")))
