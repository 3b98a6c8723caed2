"""Several labels: the value is the list of the names of the present labels, in schema order."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelhub.core.phrases import Phrase
from labelhub.core.schema.content import match_names, offered
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    SchemaError,
    Value,
    ValueNotOffered,
    fold,
    join_names,
    not_offered_error,
)
from labelhub.core.schema.menu import menu_of
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.tasks.base import NOMINAL, LabelType
from labelhub.core.texts import gettext_noop

#: Of these, label names may only have commas.
_BETWEEN_NAMES = re.compile(r"[,#|\n]")


class Multi(LabelType):
    """Any of the schema's labels, or none: each is present or not."""

    name = "multi"
    title = gettext_noop("Several labels")
    summary = gettext_noop("Each label is present or not.")
    example = "Food ✓ · Service ✓ · Price ✗"
    question = "Which of the aspects are present in the text?"
    question_to_people = "Which apply?"
    answer_instruction = Phrase("choose a label or “None of these”")
    several = True
    least_labels = 1
    coefficients = ("alpha_masi", "alpha_jaccard", *NOMINAL)
    learned_as = "multi"
    column = "classes"
    hub_words = "the set of labels that apply"

    def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
        """Names may have commas as long as a list of names reads in one way: no label begins like
        the part after a comma in a name."""
        begins: dict[str, str] = {}
        for label in labels:
            first, *rest = _parts(label.name)
            if rest and not all((first, *rest)):
                raise SchemaError(
                    Phrase(
                        "labels: a comma in '%(name)s' needs words on both sides.", name=label.name
                    )
                )
            begins.setdefault(first, label.name)
        for label in labels:
            first, *rest = _parts(label.name)
            other = next((begins[part] for part in rest if part in begins), None)
            if other is not None:
                raise SchemaError(
                    Phrase(
                        "labels: '%(name)s' looks like a list of labels, because '%(other)s' is "
                        "or begins like a part of it; rename one of them.",
                        name=label.name,
                        other=other,
                    )
                )
        return labels

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From a list of names, or an object with true or false for names."""
        present = {
            super(Multi, self).normalise(schema, name, options)
            for name in _present_names(raw, schema.names)
        }
        return [name for name in schema.names if name in present]

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """A set with one label for each label."""
        return [[name] for name in schema.names]

    def read_content(self, schema: Schema, content: str, options: Sequence[str]) -> Value:
        """From a list of names, or words for "none"."""
        return offered(match_names(content, menu_of(schema, options)), schema)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """From names between commas; JSON values stay as they are."""
        if isinstance(raw, str):
            names = split_names(raw, schema.names)
            if not names:
                raise ValueNotOffered(
                    Phrase("The cell names no label; write [] for none of the labels.")
                )
            return names
        if isinstance(raw, dict):
            return {
                name: bool(present) if present in (0, 1) else present
                for name, present in raw.items()
            }
        return raw

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """Without dropped names; if one name needs people, so does the whole set."""
        names = self.names_in(plan.old, value)
        targets = [plan.names.get(name, Fate.NEEDS_PEOPLE) for name in names]
        if Fate.NEEDS_PEOPLE in targets:
            return Fate.NEEDS_PEOPLE
        return [name for name in plan.new.names if name in targets]


def _present_names(raw: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(raw, Mapping):
        if not raw:
            raise ValueNotOffered(Phrase("The object is empty; write [] for none of the labels."))
        if not all(isinstance(is_there, bool) for is_there in raw.values()):
            raise ValueNotOffered(Phrase("Each label must be true or false."))
        folded = {fold(name) for name in names}
        strange = next((name for name in raw if fold(str(name)) not in folded), None)
        if strange is not None:
            raise not_offered_error(strange, names)
        present = [name for name, is_there in raw.items() if is_there]
        given = {fold(str(name)) for name in raw}
        missing = [name for name in names if fold(name) not in given]
        if missing and not present:  # an empty set needs a false for each label
            raise ValueNotOffered(
                Phrase("There is no true or false for: %(missing)s.", missing=join_names(missing))
            )
        return present
    if isinstance(raw, list | tuple):
        return list(raw)
    raise ValueNotOffered(
        Phrase("Several labels must be a list of names, or names with true or false.")
    )


def split_names(text: str, names: Iterable[str]) -> list[str]:
    """The entries of a list with commas, bars, hashes or line ends between them.

    Entries that spell one of ``names`` become that name, commas included; others stay.
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
    """The parts of a name between commas, folded."""
    return tuple(map(fold, name.split(",")))
